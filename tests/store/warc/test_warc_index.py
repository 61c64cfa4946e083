"""Tests the CDXJ beside each WARC file: its keys, its lines, and that it always agrees with the file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from goodbot.store.warc import cdxj
from goodbot.store.warc.cdxj import IndexFile, sort_key
from goodbot.url import parse_url
from goodbot.values import Response
from store.warc.archive_samples import (
    capture,
    index_of,
    leave_as_killed,
    member_ends,
    numbered,
    only_file,
    reader,
    warc_files,
    writer,
)

KEYS = [
    ("host reversed", "http://a.example.org/", "org,example,a)/"),
    ("no www", "https://www.example.org/x", "org,example)/x"),
    ("no www with a number", "https://www12.example.org/x", "org,example)/x"),
    ("www alone is a name", "http://www/x", "www)/x"),
    ("no dot at the end", "http://example.org./x", "org,example)/x"),
    ("scheme and default port do not count", "https://example.org:443/", "org,example)/"),
    ("another port does", "http://example.org:8080/a", "org,example:8080)/a"),
    ("address", "http://127.0.0.10:8800/a", "10,0,0,127:8800)/a"),
    ("address of version 6", "http://[2001:db8::1]/a", "2001:db8::1)/a"),
    ("address of version 6 and port", "http://[::1]:8020/a", "::1:8020)/a"),
    ("lower case", "http://example.org/Path/PAGE?Q=A", "org,example)/path/page?q=a"),
    ("last slash", "http://example.org/a/", "org,example)/a"),
    ("arguments sorted", "http://example.org/?b=2&a-x=3&a=1", "org,example)/?a=1&a-x=3&b=2"),
    ("no arguments", "http://example.org/a?", "org,example)/a"),
    ("escapes that need none", "http://example.org/%7Ea%2Fb%2562", "org,example)/~a/bb"),
    ("escapes that need one", "http://example.org/a%20b%23%25", "org,example)/a%20b%23%25"),
    ("other alphabets", "http://example.org/%D0%9F", "org,example)/%d0%9f"),
    ("punycode", "http://пример.рф/", "xn--p1ai,xn--e1afmkfd)/"),
]


@pytest.mark.parametrize(("name", "text", "expected"), KEYS)
def test_keys(name: str, text: str, expected: str) -> None:
    url = parse_url(text)
    assert url is not None
    assert sort_key(url) == expected, name


@given(st.text().map(lambda text: parse_url("http://example.org/" + text)))
def test_any_key_is_one_word_of_ascii(url: Any) -> None:
    key = sort_key(url)
    assert key.isascii()
    assert key.isprintable()
    assert " " not in key


def lines_of(warc: Path) -> list[tuple[str, str, dict[str, str]]]:
    """KEY, TIMESTAMP, fields of each line; asserts that they are sorted as `LC_ALL=C sort` does it."""
    lines = index_of(warc).read_bytes().splitlines()
    assert lines == sorted(lines)
    split = [line.decode().split(" ", 2) for line in lines]
    return [(key, seconds, json.loads(fields)) for key, seconds, fields in split]


def check_index(warc: Path) -> None:
    """Each line leads warcio to the record it tells of, and no response or revisit record is without one."""
    lines = lines_of(warc)
    with warc.open("rb") as file:
        for key, seconds, fields in lines:
            assert fields["filename"] == warc.name
            file.seek(int(fields["offset"]))
            iterator = ArchiveIterator(file)
            record = next(iter(iterator))
            url = parse_url(fields["url"])
            assert url is not None
            assert (key, fields["url"]) == (sort_key(url), record.rec_headers["WARC-Target-URI"])
            assert seconds == "".join(filter(str.isdigit, record.rec_headers["WARC-Date"]))[:14]
            assert record.http_headers.get_statuscode() == fields["status"]
            digest = record.rec_headers["WARC-Payload-Digest"]
            assert fields.get("digest") == (digest and digest.removeprefix("sha1:"))
            iterator.read_to_end()
            assert iterator.get_record_length() == int(fields["length"])
        file.seek(0)
        iterator = ArchiveIterator(file)
        places = [str(iterator.get_record_offset()) for r in iterator if r.rec_type in ("response", "revisit")]
    assert sorted(fields["offset"] for _, _, fields in lines) == sorted(places)


def some_captures(folder: Path) -> Path:
    archive = writer(folder)
    page = (("Content-Type", "Text/HTML; charset=utf-8"),)
    for number in (3, 1, 2):
        archive.put(capture(Response(200, page, b"%d" % number), f"http://www.example.org/{number}"))
    archive.put(capture(Response(404, (), b"")))
    archive.put(capture(Response(200, (("Content-Type", 'a"b\\\t\u00e9'),), b"x"), "http://example.org/q?\\"))
    archive.put(capture(Response(200, page, b"secret")), headers_only=True)
    for host in "ab":
        archive.put(
            capture(Response(200, page, os.urandom(3000) if host == "?" else b"same" * 9000), f"http://{host}/")
        )
    archive.put(numbered(7))
    archive.close()
    return only_file(folder)


def test_lines(tmp_path: Path) -> None:
    warc = some_captures(tmp_path)
    check_index(warc)
    first = next(line for line in lines_of(warc) if line[0] == "org,example)/1")
    assert first[1] == "20260528202640"
    assert list(first[2]) == ["url", "mime", "status", "digest", "length", "offset", "filename"]
    assert (first[2]["mime"], first[2]["status"]) == ("text/html", "200")


def test_the_index_is_made_again_if_it_is_missing(tmp_path: Path) -> None:
    warc = some_captures(tmp_path)
    expected = index_of(warc).read_bytes()
    index_of(warc).unlink()
    assert len(list(reader(tmp_path).captures())) == 9
    assert not index_of(warc).exists()
    writer(tmp_path).close()
    assert index_of(warc).read_bytes() == expected


def test_an_index_older_than_its_file_is_made_again(tmp_path: Path) -> None:
    warc = some_captures(tmp_path)
    index_of(warc).write_text("of old")
    os.utime(index_of(warc), (1, 1))
    writer(tmp_path).close()
    check_index(warc)


def test_after_a_cut_the_index_agrees(tmp_path: Path) -> None:
    warc = some_captures(tmp_path)
    content = warc.read_bytes()
    for length in (content.index(b"\x1f\x8b", 20) - 1, *member_ends(content)[::3], len(content) // 2, len(content) - 1):
        leave_as_killed(warc, content[:length])
        writer(tmp_path).close()
        if warc.exists():
            check_index(warc)


def test_each_file_has_its_index_once_it_is_left(tmp_path: Path) -> None:
    archive = writer(tmp_path, size_limit_bytes=50_000)
    for number in range(10):
        archive.put(numbered(number))
    *left, last = warc_files(tmp_path)
    assert len(left) > 1
    for path in left:
        check_index(path)
    assert not index_of(last).exists()
    archive.close()
    check_index(last)
    assert len(list(tmp_path.iterdir())) == 2 * len(left) + 2


def test_more_lines_than_are_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdxj, "_RUN_LINES", 7)
    index = IndexFile(tmp_path / "x.warc.gz")
    entries = [f"{number * 37 % 101:03} entry" for number in range(100)]
    for place, entry in enumerate(entries):
        index.add(entry, place, 1)
    index.save()
    index.close()
    lines = (tmp_path / "x.cdxj").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == sorted(entries)
    assert [path.name for path in tmp_path.iterdir()] == ["x.cdxj"]
