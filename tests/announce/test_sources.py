"""Where the pages to announce are found."""

import gzip
from contextlib import suppress
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.announce_values import GONE, Change
from goodbot.announce.sitemap_fetching import SitemapFetcher
from goodbot.announce.sources import (
    crawl_changes,
    listed_changes,
    sitemap_in_answer,
    sitemap_in_file,
    url_lines,
)
from goodbot.errors import InputError, RunError
from goodbot.one_shot import service_request
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, LastVisit, Response, State, UrlRecord

SITE = "https://a.example"
XML = (("Content-Type", "application/xml"),)


def urlset(*entries: str, root: str = "urlset", item: str = "url") -> bytes:
    return f"<{root}>{''.join(f'<{item}>{entry}</{item}>' for entry in entries)}</{root}>".encode()


PAGES = urlset(
    f"<loc>{SITE}/a</loc><lastmod>2026-11-01</lastmod>", f"<loc>{SITE}/b</loc>", "<loc>ftp://a.example/</loc>"
)
CHANGES = [Change(Url(f"{SITE}/a"), "lastmod 1793491200"), Change(Url(f"{SITE}/b"))]


# ---- lists ----------------------------------------------------------------------------------------------------------


def test_a_list() -> None:
    text = f"\ufeff{SITE}/a\n\n# all\n  {SITE}/b#c  # last\n{SITE.upper()}/C".encode()
    assert [url.text for url in url_lines(BytesIO(text), "list")] == [f"{SITE}/a", f"{SITE}/b", f"{SITE}/C"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"/relative", "list, line 2: not a whole http or https URL: /relative"),
        (b"ftp://a.example/", "list, line 2: not a whole http or https URL"),
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


# ---- sitemaps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [PAGES, gzip.compress(PAGES)], ids=["plain", "gzip"])
def test_a_sitemap_in_a_file(content: bytes) -> None:
    sitemap = sitemap_in_file(BytesIO(content))
    assert sitemap is not None
    assert (sitemap.kind, [*listed_changes(sitemap.entries)], sitemap.unread) == ("sitemap", CHANGES, "")


@pytest.mark.parametrize("content", [b"", b"<!doctype html><p>not here", b"plain", b"\0" * 100, gzip.compress(b"x")])
def test_what_is_no_sitemap(content: bytes) -> None:
    assert sitemap_in_file(BytesIO(content)) is None
    assert sitemap_in_answer(Url(f"{SITE}/sitemap.xml"), Response(200, XML, content)) is None


def test_a_bomb_is_read_up_to_a_limit() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000 + PAGES, 1)
    sitemap = sitemap_in_file(BytesIO(bomb))
    assert sitemap is not None
    assert [*sitemap.entries] == []
    assert "52428800 bytes" in sitemap.unread


def test_a_torn_sitemap_says_so() -> None:
    sitemap = sitemap_in_file(BytesIO(gzip.compress(PAGES * 10)[:-20]))
    assert sitemap is not None
    assert [*listed_changes(sitemap.entries)][:2] == CHANGES
    assert sitemap.unread


@given(st.binary() | st.binary().map(gzip.compress) | st.binary().map(lambda body: PAGES + body))
def test_no_sitemap_raises(content: bytes) -> None:
    for sitemap in (
        sitemap_in_file(BytesIO(content)),
        sitemap_in_answer(Url(f"{SITE}/s.xml"), Response(200, XML, content)),
    ):
        assert sitemap is None or len([*listed_changes(sitemap.entries)]) < 50
        assert sitemap is None or sitemap.unread is not None


def index_of(*texts: str) -> Response:
    return Response(200, XML, urlset(*(f"<loc>{text}</loc>" for text in texts), root="sitemapindex", item="sitemap"))


def moved(text: str) -> Response:
    return Response(301, (("Location", text),), b"")


OK = Response(200, XML, PAGES)
HTML = Response(200, (("Content-Type", "text/html"),), b"<!doctype html><p>x")
FETCHED: list[tuple[str, dict[str, Response | Failure], int | str]] = [
    ("a sitemap", {"/s.xml": OK}, 1),
    ("gzip", {"/s.xml": Response(200, XML, gzip.compress(PAGES))}, 1),
    ("an index", {"/s.xml": index_of(f"{SITE}/1.xml", f"{SITE}/2.xml"), "/1.xml": OK, "/2.xml": OK}, 2),
    ("a private address in an index", {"/s.xml": index_of("http://127.0.0.1/1.xml", f"{SITE}/2.xml"), "/2.xml": OK}, 1),
    ("a redirect", {"/s.xml": moved("/1.xml"), "/1.xml": OK}, 1),
    ("redirects without end", {"/s.xml": moved("/s.xml")}, "redirects too often"),
    ("an index in an index", {"/s.xml": index_of(f"{SITE}/1.xml"), "/1.xml": index_of(f"{SITE}/s.xml")}, "one level"),
    ("a page", {"/s.xml": HTML}, r"is not a sitemap \(text/html\)"),
    ("missing", {}, "answers with status 404"),
    ("no answer", {"/s.xml": Failure("timeout", "no answer in 30 s")}, "cannot fetch .*no answer in 30 s"),
    ("a part missing", {"/s.xml": index_of(f"{SITE}/1.xml")}, "1.xml answers with status 404"),
]


@pytest.mark.parametrize(("answers", "expected"), [case[1:] for case in FETCHED], ids=[case[0] for case in FETCHED])
async def test_sitemaps_on_servers(answers: dict[str, Response | Failure], expected: int | str) -> None:
    clock, notes, counts = FakeClock(), list[str](), list[tuple[int, int]]()
    web = FakeWeb({SITE + path: result for path, result in answers.items()}, clock, peer="93.184.216.34")
    fetcher, found = (
        SitemapFetcher(web, clock, service_request, notes.append, lambda *count: counts.append(count)),
        list[Change](),
    )

    async def fetch() -> None:
        async for _, sitemap in fetcher.sitemaps(Url(f"{SITE}/s.xml")):
            found.extend(listed_changes(sitemap.entries))

    if isinstance(expected, str):
        with pytest.raises((InputError, RunError), match=expected):
            await fetch()
        return
    await fetch()
    assert (found, notes) == (CHANGES * expected, [])
    assert counts == [(number, len(counts)) for number in range(1, len(counts) + 1)]
    times = web.times
    assert all(later - earlier >= 1 for earlier, later in pairwise(times))
    assert [request.public_only for request in web.requests[1:]] == [
        isinstance(answers["/s.xml"], Response) and answers["/s.xml"].status == 301 for _ in web.requests[1:]
    ]


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
