"""Copies of pages over HTTP."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

from goodbot.errors import DamagedError
from goodbot.url import Url
from goodbot.visitor_values import CachedCopy, NoCopy
from goodbot.web import Site
from goodbot.web.visitors.cached_page import MAX_TEXT_CHARS, READ_AT_ONCE, READS_WAITING
from goodbot.web.visitors.safe_document import COPY_POLICY
from web.library import Visitor
from web.visitor_desks import HOST, HTML, Desk, copy, url, visited


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with visited() as visitor:
        yield visitor


PAGES = [
    (
        "copy",
        f"/cached?url={HOST}",
        200,
        [
            "This is a copy of",
            "as it was on 2026-11-18 11:06:40 UTC",
            f'href="https://{HOST}/" rel="noreferrer"',
            'src="/cached/document?url=https%3A%2F%2Fhere.example%2F"',
            'title="Copy of A &lt;i&gt;page&lt;/i&gt;"',
            'sandbox="allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"',
            'href="/about"',
            'href="/removal?url=https%3A%2F%2Fhere.example%2F"',
        ],
    ),
    ("text", f"/cached?url={HOST}/text.pdf", 200, ["Only its text is shown.", "Line one\n&lt;b&gt;line&lt;/b&gt; two"]),
    (
        "no copy",
        f"/cached?url={HOST}/none",
        404,
        ["the page asks not to be archived", f'href="https://{HOST}/none"', 'href="/why?url='],
    ),
    ("no URL", "/cached", 400, ["give the URL of a page"]),
    ("not a URL", "/cached?url=javascript:alert(1)", 400, ["is not an http or https URL"]),
    ("markup", "/cached?url=%22%3E%3Cscript%3Ealert(1)", 400, ["&lt;script&gt;"]),
]


@pytest.mark.parametrize(("path", "status", "texts"), [case[1:] for case in PAGES], ids=[case[0] for case in PAGES])
def test_pages(visitor: Visitor, path: str, status: int, texts: list[str]) -> None:
    answer = visitor.ask(path)
    assert answer.status == status
    assert [text for text in texts if text not in answer.text] == []
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "<script>alert" not in answer.text
    assert 'href="javascript' not in answer.text
    assert ("<iframe" in answer.text) == ("copy" in path or path.endswith(HOST))


def test_the_document(visitor: Visitor) -> None:
    answer = visitor.ask(f"/cached/document?url={HOST}")
    assert answer.status == 200
    assert answer.text.endswith(HTML)
    assert f'<base href="https://{HOST}/" target=_top>' in answer.text
    assert answer.headers["Content-Security-Policy"] == f"{COPY_POLICY}; frame-ancestors 'self'"
    assert answer.headers.get_all("Content-Security-Policy") == [f"{COPY_POLICY}; frame-ancestors 'self'"]
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-DNS-Prefetch-Control"] == "off"
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Set-Cookie"] is None


def test_the_document_opened_alone_leads_to_the_page_around_it(visitor: Visitor) -> None:
    """There it is marked as a copy; in a frame it is not."""
    path = f"/cached/document?url=https://{HOST}/%3Fa%3D1"
    answer = visitor.ask(f"{path}&hl=ru", Sec_Fetch_Dest="document")
    assert (answer.status, answer.headers["Location"]) == (303, f"/cached?url=https%3A%2F%2F{HOST}%2F%3Fa%3D1&hl=ru")
    assert answer.headers["Cache-Control"] == "no-store"
    assert visitor.ask(f"/cached/document?url={HOST}", Sec_Fetch_Dest="iframe").status == 200
    with visited(site=Site(public_url="https://example.org/find/")) as prefixed:
        assert prefixed.ask(f"/find{path}", Sec_Fetch_Dest="document").headers["Location"].startswith("/find/cached?")


def test_the_document_of_a_text(visitor: Visitor) -> None:
    answer = visitor.ask(f"/cached/document?url={HOST}/text.pdf")
    assert (answer.status, answer.text) == (200, "Line one\n<b>line</b> two")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Security-Policy"].startswith(COPY_POLICY)


@pytest.mark.parametrize(("query", "status"), [("", 400), ("?url=ftp://x", 400), (f"?url={HOST}/none", 404)])
def test_no_document(visitor: Visitor, query: str, status: int) -> None:
    answer = visitor.ask("/cached/document" + query)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_long_text_is_cut() -> None:
    desk = Desk(archived={url("/").text: copy("/", html=None, text="x" * (MAX_TEXT_CHARS + 1))})
    with visited(desk) as visitor:
        html = visitor.ask(f"/cached?url={HOST}").text
    assert "x" * MAX_TEXT_CHARS in html
    assert "x" * (MAX_TEXT_CHARS + 1) not in html
    assert "The rest is left out here." in html


def test_odd_pages() -> None:
    desk = Desk(archived={url("/").text: copy("/", html="\ud800<base href=//evil.example/>", title="\u202e\x00" * 300)})
    with visited(desk) as visitor:
        page, document = visitor.ask(f"/cached?url={HOST}"), visitor.ask(f"/cached/document?url={HOST}")
    assert (page.status, document.status) == (200, 200)
    assert "\u202e" not in page.text


class Slow(Desk):
    """Reads no copy until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = threading.Semaphore(0)
        self.go_on = threading.Event()

    def copy_of(self, asked: Url) -> CachedCopy | NoCopy:
        self.reading.release()
        self.go_on.wait()
        return super().copy_of(asked)


def test_few_copies_are_read_at_once() -> None:
    desk, count = Slow(), READS_WAITING + 1
    with visited(desk) as visitor, ThreadPoolExecutor(count) as many:
        asked = [many.submit(visitor.ask, f"/cached?url={HOST}") for _ in range(count)]
        try:
            first = next(as_completed(asked)).result()
            for _ in range(READ_AT_ONCE):
                desk.reading.acquire()
            assert not desk.reading.acquire(blocking=False)
            assert visitor.ask("/search?q=robot").status == 200
        finally:
            desk.go_on.set()
        assert (first.status, first.headers["Retry-After"], "reading copies" in first.text) == (429, "10", True)
        assert sorted(each.result().status for each in asked) == [200] * READS_WAITING + [429]


def test_a_damaged_crawl(caplog: pytest.LogCaptureFixture) -> None:
    with visited(Desk(trouble=DamagedError("/srv/crawl/warc is damaged"))) as visitor:
        answers = [visitor.ask(f"{path}?url={HOST}") for path in ("/cached", "/cached/document")]
    assert [answer.status for answer in answers] == [503, 503]
    assert all("/srv" not in answer.text for answer in answers)
    assert "/srv/crawl" in caplog.text


def test_under_a_prefix_in_russian() -> None:
    with visited(site=Site(public_url="https://example.org/find/")) as visitor:
        html = visitor.ask(f"/find/cached?url={HOST}&hl=ru").text
        none = visitor.ask(f"/find/cached?url={HOST}/nowhere&hl=ru").text
        assert visitor.ask(f"/find/cached/document?url={HOST}").status == 200
    assert 'src="/find/cached/document?url=https%3A%2F%2Fhere.example%2F&amp;hl=ru"' in html
    assert "Это копия страницы" in html
    assert 'Причина: <bdi dir="ltr"><span>страница просит не хранить её копию</span></bdi>' in none
