"""Reads a response into a `Page`, by its kind of document. Documents of an unknown kind are kept but not read."""

from dataclasses import replace
from typing import Literal

from goodbot.page.body import Body
from goodbot.page.coding import decode_content
from goodbot.page.extract import Extract
from goodbot.page.html import looks_like_html, read_html
from goodbot.page.list_file import read_listing
from goodbot.page.markdown import read_markdown
from goodbot.page.page_building import page_of
from goodbot.page.pdf import read_pdf
from goodbot.page.plain import read_plain
from goodbot.url import Url
from goodbot.values import ListedUrl, Page, Response

READ_BYTES = 2 * 1024 * 1024
"""The default limit for the decoded bytes of a page."""
DOCUMENT_BYTES = 10 * 1024 * 1024
"""The default limit for a PDF, which cannot be read without its end."""

DocumentKind = Literal["html", "text", "markdown", "pdf", "other"]

_KINDS: dict[str, DocumentKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
}
_UNKNOWN_TYPES = ("", "*/*", "unknown/unknown", "application/unknown")
"""Media types that count as none (WHATWG MIME Sniffing §7)."""

_SNIFFED_BYTES = 2048
_MARKDOWN_NAMES = (".md", ".markdown")


def read_page(
    url: Url,
    response: Response,
    token: str,
    limit_bytes: int,
    *,
    text: bool = True,
    document_bytes: int = DOCUMENT_BYTES,
) -> Page:
    """Reads the response at `url` for the robot named `token`. Never raises.

    Reads at most `limit_bytes` of the decoded body, or `document_bytes` of a PDF. For an unknown kind it returns an
    empty page with what the headers say: directives, canonical URL, language, the target of Refresh. Without `text`
    (nothing is indexed) the page has no text and no headings, and its links may lack anchors and be out of order.
    """
    return read_body(url, Body(response, limit_bytes), token, text=text, document_bytes=document_bytes)


def read_body(url: Url, body: Body, token: str, *, text: bool = True, document_bytes: int = DOCUMENT_BYTES) -> Page:
    """Reads a response as `read_page` does. `body` keeps the decoded text for callers that need it later."""
    listing = read_listing(url, body.response, text=text)
    if listing is not None:
        return page_of_list(url, body.response, token, listing.extract, listing.listed)
    _, found, encoding = read_extract(body, url=url, text=text, document_bytes=document_bytes)
    return page_of(url, body.response, token, found, encoding)


def page_of_list(url: Url, response: Response, token: str, found: Extract, listed: tuple[ListedUrl, ...]) -> Page:
    """Returns the page of a sitemap or feed from what was read of it."""
    return replace(page_of(url, response, token, found, "utf-8"), links=(), listed=listed)


def read_extract(
    body: Body, *, url: Url | None = None, text: bool = True, document_bytes: int = DOCUMENT_BYTES
) -> tuple[DocumentKind, Extract, str]:
    """Returns the kind of the body, its content with unresolved references, and its encoding. Never raises.

    The content of an unknown kind is empty. Limits and `text` work as in `read_page`. `body` keeps the decoded text for
    callers that need it later.
    """
    kind = _kind(body.response, url)
    if kind == "other":
        return kind, Extract(), "utf-8"
    if kind == "pdf":
        return kind, read_pdf(decode_content(body.response, document_bytes), text=text), "utf-8"
    found = _READERS[kind](body.text, text=text)
    found.unread = "; ".join(filter(None, (found.unread, body.unread)))
    return kind, found, body.encoding


def is_read_in_process(url: Url, response: Response) -> bool:
    """Whether reading the response starts a process, which may take seconds."""
    return _kind(response, url) == "pdf"


_READERS = {"html": read_html, "text": read_plain, "markdown": read_markdown}


def _kind(response: Response, url: Url | None) -> DocumentKind:
    stated = response.media_type
    kind = _KINDS.get(stated, "other")
    if kind == "text" and url is not None and _path(url).endswith(_MARKDOWN_NAMES):
        return "markdown"
    if stated in _UNKNOWN_TYPES or stated == "application/octet-stream":
        return _sniff(decode_content(response, _SNIFFED_BYTES).body, stated)
    return kind


def _sniff(beginning: bytes, stated: str) -> DocumentKind:
    if beginning.startswith(b"%PDF-"):
        return "pdf"
    return "html" if stated in _UNKNOWN_TYPES and looks_like_html(beginning) else "other"


def _path(url: Url) -> str:
    return url.text.partition("?")[0].lower()
