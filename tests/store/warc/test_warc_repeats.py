"""Tests a repeated payload: it becomes a revisit record, and the page is read back whole."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from hypothesis import given
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_output import Payloads
from goodbot.values import RecordRef, Response
from store.warc.archive_samples import capture, leave_as_killed, member_ends, only_file, reader, warc_files, writer
from store.warc.test_warc_archive import ANY_RESPONSE
from store.warc.test_warc_index import check_index, lines_of

BODY = random.Random(1).randbytes(5000)
FIRST = Response(200, (("Content-Type", "text/html"), ("Content-Length", "5000"), ("X-N", "1")), BODY, reason="OK")
AGAIN = Response(
    200, (("X-N", "2"), ("Transfer-Encoding", "chunked")), BODY, version="HTTP/2", reason="", truncated="disconnect"
)


@pytest.fixture
def twice(tmp_path: Path) -> tuple[Path, RecordRef, RecordRef]:
    archive = writer(tmp_path)
    first = archive.put(capture(FIRST, "http://example.org/first"))
    again = archive.put(capture(AGAIN, "http://example.com/again"))
    archive.close()
    return only_file(tmp_path), first, again


Twice = tuple[Path, RecordRef, RecordRef]


def test_both_are_read_back_as_they_were(twice: Twice) -> None:
    warc, *records = twice
    assert warc.stat().st_size < 1.5 * len(BODY)
    archive = reader(warc.parent)
    for read in (list(archive.captures()), [archive.read(record) for record in records]):
        assert [item.response for item in read] == [FIRST, AGAIN]
        assert [item.url.text for item in read] == ["http://example.org/first", "http://example.com/again"]
        assert [item.record for item in read] == records


def test_warcio_and_fastwarc_see_a_revisit(twice: Twice) -> None:
    warc, first, again = twice
    with warc.open("rb") as file:
        iterator = ArchiveIterator(file, check_digests="raise")
        kinds = [(record.rec_type, record.raw_stream.read())[0] for record in iterator]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request"]
    with warc.open("rb") as file:
        types = WarcRecordType.any_type
        assert len(list(FastIterator(file, record_types=types, verify_digests=True, parse_http=False))) == 5
        file.seek(again.offset)
        record = next(iter(ArchiveIterator(file)))
        file.seek(first.offset)
        original = next(iter(ArchiveIterator(file)))
    fields = record.rec_headers
    assert fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert fields["WARC-Refers-To-Target-URI"] == original.rec_headers["WARC-Target-URI"]
    assert fields["WARC-Refers-To-Date"] == original.rec_headers["WARC-Date"]
    assert fields["WARC-Payload-Digest"] == original.rec_headers["WARC-Payload-Digest"]
    assert (fields["WARC-Refers-To-Filename"], int(fields["WARC-Refers-To-File-Offset"])) == (warc.name, first.offset)
    assert fields["WARC-Target-URI"] == "http://example.com/again"
    assert record.http_headers.get_header("X-N") == "2"
    assert fields["WARC-Truncated"] == "disconnect"


def test_the_index_says_so_too_and_so_does_one_made_again(twice: Twice) -> None:
    warc, first, again = twice
    check_index(warc)
    lines = lines_of(warc)
    assert [(fields["mime"], int(fields["offset"])) for _, _, fields in lines] == [
        ("warc/revisit", again.offset),
        ("text/html", first.offset),
    ]
    leave_as_killed(warc, warc.read_bytes())
    writer(warc.parent).close()
    assert lines_of(warc) == lines


@pytest.mark.parametrize(
    ("name", "response", "headers_only"),
    [
        ("short", Response(200, (), b"short"), False),
        ("withheld", FIRST, True),
        ("packs to little", Response(200, (), b"a" * 5000), False),
    ],
)
def test_stored_again_where_a_revisit_would_save_little(
    tmp_path: Path, name: str, response: Response, headers_only: bool
) -> None:
    archive = writer(tmp_path)
    for _ in range(2):
        archive.put(capture(response), headers_only=headers_only)
    archive.close()
    with only_file(tmp_path).open("rb") as file:
        assert "revisit" not in [record.rec_type for record in ArchiveIterator(file)], name


def test_a_file_never_refers_to_another(tmp_path: Path) -> None:
    archive = writer(tmp_path, size_limit_bytes=1)
    records = [archive.put(capture(FIRST)) for _ in range(3)]
    archive.close()
    archive = writer(tmp_path)
    records.append(archive.put(capture(FIRST)))
    warc_files(tmp_path)[0].unlink()
    assert [archive.read(record).response for record in records[1:]] == [FIRST] * 3
    archive.close()


def test_a_revisit_of_what_is_not_there_is_damage(twice: Twice) -> None:
    """Cut out of its file, its original is gone; led to a request or to itself, it is no original."""
    warc, first, again = twice
    content = warc.read_bytes()
    end = next(end for end in member_ends(content) if end > again.offset)
    revisit = isal_zlib.decompress(content[again.offset : end], 31)
    offset = b"File-Offset: %d\r" % first.offset
    changes = {
        "itself": (offset, b"File-Offset: %d\r" % again.offset),
        "a request": (offset, b"File-Offset: %d\r" % member_ends(content)[1]),
        "between records": (offset, b"File-Offset: %d\r" % (first.offset + 1)),
        "behind the end": (offset, b"File-Offset: 999999999999\r"),
        "another payload": (b"Payload-Digest: sha1:", b"Payload-Digest: sha1:A"),
        "another file": (b"Filename: goodbot-", b"Filename: ../goodbot-"),
    }
    for name, (old, new) in changes.items():
        assert old in revisit
        changed = isal_zlib.compress(revisit.replace(old, new), 1, 31)
        leave_as_killed(warc, content[: again.offset] + changed + content[end:])
        with pytest.raises(DamagedError, match=warc.name):
            reader(warc.parent).read(again)
        gaps: list[DamagedRange] = []
        assert [item.record for item in reader(warc.parent).captures(gaps.append)] == [first]
        assert [(gap.file, gap.start) for gap in gaps] == [(warc.name, again.offset)], name
        assert reader(warc.parent).read(first).response == FIRST, name


def test_a_revisit_of_another_writer_is_left_out(twice: Twice) -> None:
    """It names its original by URL and date only, which would have to be looked for."""
    warc, _, again = twice
    content = warc.read_bytes()
    end = next(end for end in member_ends(content) if end > again.offset)
    record = isal_zlib.decompress(content[again.offset : end], 31)
    lines = [line for line in record.split(b"\r\n") if not line.startswith(b"WARC-Refers-To-File")]
    leave_as_killed(warc, content[: again.offset] + isal_zlib.compress(b"\r\n".join(lines), 1, 31) + content[end:])
    assert [item.response for item in reader(warc.parent).captures()] == [FIRST]


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarcArchive]:
    archive = writer(tmp_path_factory.mktemp("growing"))
    archive.put(capture(FIRST))
    yield archive
    archive.close()


@given(response=ANY_RESPONSE.map(lambda response: replace(response, body=BODY)))
def test_any_repeated_response_is_read_back_as_it_was(growing: WarcArchive, response: Response) -> None:
    assert growing.read(growing.put(capture(response))).response == response


def test_payloads_are_remembered_within_a_bound() -> None:
    payloads = Payloads()
    payloads.remember("first", "1")
    for number in range(200_000):
        payloads.remember(str(number), "x")
        if number < 100_000:
            assert payloads.find("first") == "1"
    assert payloads.find("first") is None
    assert payloads.find("199999") == "x"
    assert len(payloads) <= 16_384
