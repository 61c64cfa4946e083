"""The pages over HTTP, as a browser without scripts gets them."""

import re
from html import unescape
from urllib.parse import quote

import pytest

from goodbot.errors import DamagedError, RunError
from goodbot.web.server.security_headers import HEADERS
from goodbot.web.server.static_files import static_path
from web.library import SPECIMENS, Library, Visitor, page, served

SCRIPTS = [f'<script src="{static_path("search.js")}" defer>']


def text_of(html: str) -> str:
    """Returns the text of a page: tags removed, spaces collapsed."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


PAGES = [
    ("front", "/", 200, "135 pages indexed"),
    ("empty query", "/search?q=%20", 200, "Type a word or two to search for."),
    ("no query", "/search", 200, "Type a word or two to search for."),
    ("results", "/search?q=robot", 200, "134 pages found"),
    ("one result", "/search?q=chapter+77", 200, "1 page found"),
    ("time", "/search?q=robot", 200, "under 1 ms, page 1 of 14"),
    ("second page", "/search?q=robot&page=2", 200, "page 2 of 14"),
    ("nothing", "/search?q=zeppelin", 200, "No results for zeppelin"),
    ("advice", "/search?q=zeppelin", 200, "None of the 135 indexed pages matches this query."),
    ("nothing, page 5", "/search?q=zeppelin&page=5", 200, "No results for zeppelin"),
    ("no word", "/search?q=%21%21", 400, "The query contains no word to search for."),
    ("bad page", "/search?q=robot&page=x", 400, "The page must be a whole number from 1 to 100."),
    ("too deep", "/search?q=robot&page=101", 400, "The page must be a whole number from 1 to 100."),
    ("unknown", "/nowhere/at/all", 404, "Page not found"),
    ("unknown file", "/static/nothing.css", 404, "Page not found"),
    ("outside", "/static/..%2f..%2fapp.py", 404, "Page not found"),
]


@pytest.mark.parametrize(("path", "status", "words"), [case[1:] for case in PAGES], ids=[case[0] for case in PAGES])
def test_pages(visitor: Visitor, path: str, status: int, words: str) -> None:
    answer = visitor.ask(path)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert words in text_of(answer.text)
    assert 'role="search"' in answer.text


def test_a_hit(visitor: Visitor) -> None:
    html = visitor.ask("/search?q=naming+rules").text
    assert 'href="https://robots.example/guide/exclusion.html" rel="noreferrer">The robots exclusion protocol' in html
    assert "groups of <mark>rules</mark>, each <mark>naming</mark> the robots" in html


def test_text_of_pages_stays_text(visitor: Visitor) -> None:
    for query in ("friends", '"><script>alert(1)</script> robot', "</title><img src=x onerror=alert(1)>"):
        html = visitor.ask("/search?q=" + quote(query)).text
        assert re.findall("<script[^>]*>", html) == SCRIPTS
        assert "<b " not in html
        assert "<img src=x" not in html
        assert 'href="javascript' not in html
    assert "&lt;script&gt;alert(&#39;robot&#39;)&lt;/script&gt;" in visitor.ask("/search?q=friends").text


def test_control_characters_are_replaced(visitor: Visitor) -> None:
    html = visitor.ask("/search?q=" + quote("robot\0\x1b\x9b\ufdd0\uffff\t\u00a0")).text
    assert "robot\ufffd\ufffd\ufffd\ufffd\ufffd" in html
    assert not re.search("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0\uffff]", html)


def test_the_query_stays_in_its_field(visitor: Visitor) -> None:
    assert 'value="&#34;quiet&#34; &amp; robots &lt;3"' in visitor.ask("/search?q=" + quote('"quiet" & robots <3')).text
    assert 'href="/search?q=robot+chapter&amp;page=2"' in visitor.ask("/search?q=robot+chapter").text


def test_beyond_the_last_page_is_the_last_page(visitor: Visitor) -> None:
    answer = visitor.ask("/search?q=robot&page=99")
    assert (answer.status, answer.headers["Location"]) == (303, "/search?q=robot&page=14")


def test_deep_paging_ends_with_a_message() -> None:
    with served(Library(page(number, "robot", "") for number in range(1, 1012))) as visitor:
        assert "last page of results that can be shown" not in visitor.ask("/search?q=robot&page=99").text
        html = visitor.ask("/search?q=robot&page=100").text
    assert "1,011 pages found" in text_of(html)
    assert "last page of results that can be shown" in html
    assert 'rel="next"' not in html


@pytest.mark.parametrize(
    ("path", "words"), [("/", "No page is indexed yet."), ("/search?q=robot", "No page is indexed yet.")]
)
def test_an_empty_index(path: str, words: str) -> None:
    with served(Library([])) as visitor:
        assert words in text_of(visitor.ask(path).text)


@pytest.mark.parametrize("path", ["/", "/search?q=robot", "/search?q="])
@pytest.mark.parametrize("trouble", [DamagedError("/srv/index/meta.json is no index"), RunError("disk gone")])
def test_an_index_that_fails_is_503_and_logged(trouble: Exception, path: str, caplog: pytest.LogCaptureFixture) -> None:
    library = Library(SPECIMENS)
    with served(library) as visitor:
        library.trouble = trouble
        answer = visitor.ask(path)
        assert answer.status == 503
        assert "Search is unavailable" in answer.text
        assert str(trouble) not in answer.text
        assert str(trouble) in caplog.text
        library.trouble = None
        assert visitor.ask(path).status == 200


def test_a_fault_of_ours_is_500_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    library = Library(SPECIMENS)
    library.trouble = ZeroDivisionError("secret")
    with served(library) as visitor:
        answer = visitor.ask("/search?q=robot")
    assert answer.status == 500
    assert "Server error" in answer.text
    assert "secret" not in answer.text
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("path", ["/favicon.ico", "/static/icon.svg"])
def test_the_icon(visitor: Visitor, path: str) -> None:
    assert visitor.ask(path).headers["Content-Type"].startswith("image/svg+xml")


@pytest.mark.parametrize("path", ["/", "/search?q=robot", "/search?q=zeppelin", "/help", "/about", "/nowhere"])
def test_pages_have_nothing_inline_and_nothing_of_other_servers(visitor: Visitor, path: str) -> None:
    html = visitor.ask(path).text
    assert re.findall("<script[^>]*>", html) == SCRIPTS
    assert not re.search(r"<style| style=| on\w+=\"", html)
    assert all(source.startswith("/static/") for source in re.findall(r'(?:src|rel="stylesheet" href)="([^"]*)"', html))
