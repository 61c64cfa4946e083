"""Copies of a robots.txt on disk: nothing is lost, and nothing that lies there makes reading fail."""

import json
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion import LIMIT_BYTES
from goodbot.url import parse_url
from goodbot.watch.history.accesses import accesses, is_html
from goodbot.watch.history.copies import INDEX, History, RobotsCopy, open_histories
from goodbot.watch.history.line_file import MAX_LINE_BYTES
from goodbot.watch.history.site_names import site_name, site_origin

URL = "https://www.example.org/robots.txt"
CLOSED = b"User-agent: *\nDisallow: /closed\n"


def copy_at(at: float, body: bytes = CLOSED, status: int | None = 200, failure: str | None = None) -> RobotsCopy:
    return RobotsCopy(URL, at, status, failure, (("Content-Type", "text/plain"),), body, (URL,))


# ---- names ----------------------------------------------------------------------------------------------------------

NAMES = [
    ("https://www.example.org/", "www.example.org"),
    ("http://www.example.org/x", "http,www.example.org"),
    ("http://www.example.org:8080/", "http,www.example.org,8080"),
    ("https://www.example.org:8443/", "https,www.example.org,8443"),
    ("https://[2001:db8::1]/", "[2001-db8--1]"),
    ("http://[::1]:80/", "http,[--1]"),
    ("https://a-b.example/", "a-b.example"),
    ("https://bücher.example/", "xn--bcher-kva.example"),
    ("http://a,b/", "http,a%2Cb"),
]


@pytest.mark.parametrize(("text", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_folder_name_can_be_read_back(text: str, name: str) -> None:
    url = parse_url(text)
    assert url is not None
    assert (site_name(url), site_origin(name)) == (name, url.origin)


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "https,www.example.org", "x" * 300, "http,", "ftp,a", "[x]"])
def test_other_names_are_no_sites(name: str) -> None:
    assert site_origin(name) is None


@given(st.text(max_size=60))
def test_any_name_and_any_host_are_safe(text: str) -> None:
    site_origin(text)
    url = parse_url(f"https://{text}/")
    if url is not None and len(url.host) < 80:
        name = site_name(url)
        assert not set(name) & set('/\\:*?"<>|\0')
        assert name not in {".", ".."}
        assert site_origin(name) == url.origin


def test_a_host_that_is_too_long_is_bad_input() -> None:
    url = parse_url(f"https://{'a' * 300}.example/")
    assert url is not None
    with pytest.raises(InputError, match="too long"):
        site_name(url)


# ---- adding and reading ---------------------------------------------------------------------------------------------


def test_copies_come_back(tmp_path: Path) -> None:
    history = History(tmp_path / "site")
    added = [copy_at(1.5), copy_at(2.0), copy_at(3.0, b""), copy_at(4.0, b"", None, "connect"), copy_at(5.0)]
    assert [history.add(copy) for copy in added] == [True, False, True, True, True]
    assert (history.copies(), history.damage) == (added, [])
    assert len([*(tmp_path / "site").glob("*.txt")]) == 1


def test_a_long_body_is_cut_but_the_cut_is_noticed(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(copy_at(1.0, b"#" * (LIMIT_BYTES - 10) + b"\nDisallow: /" * 100))
    (access,) = accesses(history.copies())
    assert access.cut_bytes > 0


def test_wrong_dates_are_sorted_and_reported(tmp_path: Path) -> None:
    history = History(tmp_path, now=lambda: 1000.0)
    for at in (100.0, 50.0, 1e9):
        history.add(copy_at(at))
    assert [copy.at for copy in history.copies()] == [50.0, 100.0, 1e9]
    assert [copy.at for copy in history.added()] == [100.0, 50.0, 1e9]
    assert [sentence.partition(": ")[2] for sentence in history.damage] == [
        "its date is earlier than that of the copy before",
        "its date is in the future",
    ]


GOOD = json.dumps({"at": 1, "url": URL, "status": 404, "failure": None, "headers": [], "digest": None, "redirects": []})
DAMAGE = [
    ("torn", GOOD[:30].encode(), 0),
    ("torn at the start", b'{"a', 0),
    ("no line end", GOOD.encode(), 0),
    ("empty lines", b"\n\n", 0),
    ("binary", b"\xff\x00\xfe\n", 1),
    ("foreign without end", b"hello", 1),
    ("deep", b"[" * 100_000 + b"\n", 1),
    ("endless", b"x" * (MAX_LINE_BYTES + 5) + b"\n", 1),
    ("infinite", GOOD.replace('"at": 1', '"at": Infinity').encode() + b"\n", 1),
    ("far date", GOOD.replace('"at": 1', '"at": 1e300').encode() + b"\n", 1),
    ("huge date", GOOD.replace('"at": 1', f'"at": {"9" * 400}').encode() + b"\n", 1),
    ("status", GOOD.replace("404", "true").encode() + b"\n", 1),
    ("path", GOOD.replace('"digest": null', '"digest": "../../etc/passwd"').encode() + b"\n", 1),
    ("no body", GOOD.replace('"digest": null', f'"digest": "{"0" * 64}"').encode() + b"\n", 1),
    ("headers", GOOD.replace('"headers": []', '"headers": [["a"]]').encode() + b"\n", 1),
]


@pytest.mark.parametrize(("bytes_", "reports"), [case[1:] for case in DAMAGE], ids=[case[0] for case in DAMAGE])
def test_damage_is_reported_and_later_copies_are_read(bytes_: bytes, reports: int, tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(copy_at(0.5))
    with (tmp_path / INDEX).open("ab") as file:
        file.write(bytes_)
    found = len(history.copies())
    assert len(history.damage) == reports
    history.add(copy_at(3.0))
    assert len(history.copies()) == found + 1
    assert len(history.damage) == reports


def test_a_changed_body_is_damage(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(copy_at(1.0))
    (body,) = tmp_path.glob("*.txt")
    body.write_bytes(b"User-agent: *\n")
    assert history.copies() == []
    assert "missing or changed" in history.damage[0]
    history.add(copy_at(2.0))  # writes the body again
    assert [copy.body for copy in history.copies()] == [CLOSED, CLOSED]


@given(st.binary(max_size=300), st.binary(max_size=100))
def test_any_bytes_can_lie_in_the_folder(index: bytes, body: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / INDEX).write_bytes(index)
        (folder / f"{'0' * 64}.txt").write_bytes(body)
        History(folder).copies()
        History(folder).add(copy_at(1.0, body))
        (copy,) = History(folder).copies()[-1:]
        assert copy.body == body
        accesses([copy])


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    def add(first: int) -> None:
        history = History(tmp_path)
        for at in range(first, first + 20):
            history.add(copy_at(float(at), b"# %d" % (at % 3)))

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [copy.at for copy in History(tmp_path).copies()] == [float(at) for at in (*range(20), *range(100, 120))]


# ---- folders --------------------------------------------------------------------------------------------------------


def test_histories_are_found_by_site_and_other_files_ignored(tmp_path: Path) -> None:
    History(tmp_path / "www.example.org").add(copy_at(1.0))
    (tmp_path / "notes").mkdir()
    (tmp_path / "README").write_text("x")
    assert [*open_histories(tmp_path)] == ["www.example.org"]
    (one,) = open_histories(tmp_path / "www.example.org").items()
    assert (one[0], len(one[1].copies())) == ("www.example.org", 1)


def test_a_folder_must_exist(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("file", "none"):
        with pytest.raises(InputError, match="not a folder"):
            open_histories(tmp_path / name)


# ---- what copies mean -----------------------------------------------------------------------------------------------

HTML = b"<!doctype html><title>x</title>\n<p>Disallow: /\n"
WALL = (("cf-mitigated", "challenge"),)


def test_outages_keep_the_last_good_copy() -> None:
    day = 86_400.0
    copies = [
        copy_at(day),
        copy_at(2 * day, b"", 503),
        copy_at(3 * day, b"", None, "timeout"),
        RobotsCopy(URL, 4 * day, 403, None, WALL, b"", ()),
        copy_at(5 * day, b"", 404),
        copy_at(6 * day, b"", None, "connection refused (127.0.0.1:9)"),
        copy_at(7 * day, HTML),
    ]
    found = accesses(copies)
    assert [access.in_force for access in found] == ["rules", "rules", "rules", "rules", "open", "closed", "rules"]
    assert [access.verdict("/closed", "a").allowed for access in found] == [False] * 4 + [True, False, True]
    assert found[3].wall == "Cloudflare"
    assert "connection refused" in found[5].reason


@pytest.mark.parametrize(
    ("body", "expected"),
    [(HTML, True), (b"\xef\xbb\xbf <html>", True), (CLOSED, False), (b"", False), (b"<html>\n" + CLOSED, False)],
)
def test_html_in_place_of_robots_txt(body: bytes, expected: bool) -> None:
    assert is_html(body) is expected
