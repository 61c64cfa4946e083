"""Where the pages to announce are found."""

from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.announce_values import GONE, Change
from goodbot.announce.sources import crawl_changes, url_lines
from goodbot.errors import InputError
from goodbot.url import Url
from goodbot.values import LastVisit, State, UrlRecord

SITE = "https://a.example"


# ---- lists ----------------------------------------------------------------------------------------------------------


def test_a_list() -> None:
    text = f"\ufeff{SITE}/a\n\n# all\n  {SITE}/b#c  # last\n{SITE.upper()}/C".encode()
    assert [url.text for url in url_lines(BytesIO(text), "list")] == [f"{SITE}/a", f"{SITE}/b", f"{SITE}/C"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"/relative", "list, line 2: not a whole http or https URL: /relative"),
        (b"ftp://a.example/", "list, line 2: not a whole http or https URL"),
        (b"https://me:secret@a.example/x", "list, line 2: a URL with a user name .* write https://a.example/x$"),
        (b"https://a.example/ https://b.example/", "list, line 2: a line must be one URL"),
        (b"\xff", "list, line 2: not UTF-8"),
        (b"<urlset>", "list, line 2: .*; give sitemaps with --sitemap"),
        (b"x" * 1_000_000, "list, line 2: not a whole"),
    ],
)
def test_a_bad_line(line: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(url_lines(BytesIO(b"https://a.example/\n" + line + b"\n"), "list"))


@given(st.binary())
def test_no_list_raises_anything_else(content: bytes) -> None:
    with suppress(InputError):
        list(url_lines(BytesIO(content), "list"))


# ---- a crawl --------------------------------------------------------------------------------------------------------


def seen(*, indexed: bool = True, text: str | None = "t1") -> LastVisit:
    return LastVisit(at=0, due_at=1, interval_s=1, changed_at=0, indexed=indexed, text=text)


def record(path: str, state: State, last: LastVisit | None, status: int = 200, copy_of: str | None = None) -> UrlRecord:
    same_as = Url(SITE + copy_of) if copy_of else None
    return UrlRecord(Url(SITE + path), state, 0, status, digest="d1", seen=last, same_as=same_as)


RECORDS = [
    (record("/page", "visited", seen()), "text t1", "text t1"),
    (record("/not-modified", "visited", seen(), 304), "text t1", "text t1"),
    (record("/other", "visited", seen(text=None)), "text d1", "text d1"),
    (record("/noindex", "visited", seen(indexed=False)), GONE, "text t1"),
    (record("/moved", "visited", seen(indexed=False), 301), GONE, GONE),
    (record("/copy", "visited", seen(), copy_of="/page"), GONE, GONE),
    (record("/gone", "gone", None, 410), GONE, GONE),
    (record("/closed", "disallowed", None), GONE, GONE),
    (record("/new", "ready", None), None, None),
    (record("/failed", "failed", seen()), None, None),
    (record("/else", "out-of-scope", None), None, None),
]


@pytest.mark.parametrize(("given", "with_index", "without"), RECORDS, ids=[each[0].url.path for each in RECORDS])
def test_the_pages_of_a_crawl(given: UrlRecord, with_index: str | None, without: str | None) -> None:
    for is_indexed, mark in ((True, with_index), (False, without)):
        expected = [] if mark is None else [Change(given.url, mark)]
        assert [*crawl_changes([given], is_indexed=is_indexed)] == expected
