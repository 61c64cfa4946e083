"""Which kind of document a response is, and what holds for each of them."""

import gzip

import pytest

from goodbot.page import Body, read_page
from goodbot.page.document import DOCUMENT_BYTES, DocumentKind, read_extract
from goodbot.url import Url
from goodbot.values import Page, Response
from page.documents import made_pdf

PDF = made_pdf(["A heron."], title="Heron", links=["/reeds"])
LIMIT = 1 << 20


def response(kind: str, body: bytes, *headers: tuple[str, str]) -> Response:
    return Response(200, (("Content-Type", kind), *headers), body)


def read(kind: str, body: bytes, *headers: tuple[str, str], path: str = "/x") -> Page:
    return read_page(Url(f"http://example.org{path}"), response(kind, body, *headers), "goodbot", LIMIT)


@pytest.mark.parametrize(
    ("stated", "body", "path", "kind"),
    [
        ("text/html", b"# x", "/x.md", "html"),
        ("application/xhtml+xml", b"<p>x", "/x", "html"),
        ("text/plain", b"# x", "/x", "text"),
        ("text/plain", b"# x", "/x.md", "markdown"),
        ("text/plain; charset=utf-8", b"# x", "/README.MD?raw=1", "markdown"),
        ("text/plain", b"# x", "/x.markdown", "markdown"),
        ("text/plain", b"# x", "/x?name=y.md", "text"),
        ("text/plain", b"%PDF-1.7", "/x", "text"),
        ("text/markdown", b"# x", "/x", "markdown"),
        ("text/x-markdown", b"# x", "/x", "markdown"),
        ("Application/PDF", b"%PDF-1.7", "/x", "pdf"),
        ("application/pdf", b"<html>", "/x", "pdf"),
        ("application/octet-stream", b"%PDF-1.7", "/x", "pdf"),
        ("application/octet-stream", b"<html>", "/x.pdf", "other"),
        ("", b"%PDF-1.7", "/x", "pdf"),
        ("", b"<html>", "/x", "html"),
        ("", b"text", "/x.txt", "other"),
        ("text/csv", b"a,b", "/x", "other"),
        ("application/json", b"{}", "/x", "other"),
        ("application/rtf", b"{\\rtf1}", "/x", "other"),
        ("application/msword", b"%PDF-1.7", "/x", "other"),
        ("image/png", b"<html>", "/x", "other"),
    ],
)
def test_the_kind_of_a_document(stated: str, body: bytes, path: str, kind: DocumentKind) -> None:
    url = Url(f"http://example.org{path}")
    assert read_extract(Body(response(stated, body), LIMIT), url=url)[0] == kind


def test_what_is_not_read_says_what_its_headers_say() -> None:
    page = read("text/csv", b"a,http://example.org/y", ("X-Robots-Tag", "noindex"), ("Link", "</c>; rel=canonical"))
    assert (page.text, page.links, page.directives.index) == ("", (), False)
    assert page.canonical == Url("http://example.org/c")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/pdf", PDF),
        ("text/plain", b"A heron. http://example.org/reeds"),
        ("text/markdown", b"A heron. [x](/reeds)"),
    ],
)
def test_directives_and_links_hold_in_every_kind(kind: str, body: bytes) -> None:
    page = read(kind, body, ("X-Robots-Tag", "noarchive, nosnippet"), ("Content-Language", "en"), path="/a/b")
    assert (page.directives.archive, page.directives.snippet, page.language) == (False, False, "en")
    assert [link.url.text for link in page.links] == ["http://example.org/reeds"]
    assert page.text.startswith("A heron.")


def test_a_packed_pdf_has_its_own_limit_and_html_keeps_its_own() -> None:
    filler = made_pdf(["A heron."]) + b"%" + b" " * (2 * LIMIT)
    packed = gzip.compress(filler)
    assert read("application/pdf", packed, ("Content-Encoding", "gzip")).text == "A heron."
    html = gzip.compress(b"x" * (2 * LIMIT))
    assert len(read("text/html", html, ("Content-Encoding", "gzip")).text) == LIMIT


def test_a_pdf_longer_than_its_limit_is_read_as_far_as_it_goes() -> None:
    body = PDF + b"%" + b" " * 1_000
    url = Url("http://example.org/x")
    page = read_page(url, response("application/pdf", body), "goodbot", LIMIT, document_bytes=len(PDF))
    assert (page.text, page.unread) == ("A heron.", f"cut at {len(PDF)} bytes")
    bomb = gzip.compress(bytes(2 * DOCUMENT_BYTES))
    assert "cut at" in read("application/pdf", bomb, ("Content-Encoding", "gzip")).unread
