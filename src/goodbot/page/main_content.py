"""Reads the main content of a document, as text, Markdown and HTML: the article, without menus.

Pages, PDFs, plain text, data such as JSON, and Markdown files are read; feeds and sitemaps are listed. The libraries
that find and convert the content are imported with the first page.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from goodbot.errors import quoted
from goodbot.human import human_bytes
from goodbot.page.body import Body
from goodbot.page.coding import unknown_coding
from goodbot.page.document import DOCUMENT_BYTES, READ_BYTES, page_of_list, read_extract
from goodbot.page.encoding import decode_text
from goodbot.page.extract import Extract
from goodbot.page.list_file import open_listing
from goodbot.page.page_building import page_of
from goodbot.page.rendered import Rendered, read_rendered
from goodbot.url import Url, resolve
from goodbot.values import Page, Response

_MAYBE_SCRIPTS = "; its scripts may write it (render it: --render, or render=True)"

_DATA = re.compile(
    r"(?:application|text)/(?:[a-z0-9.-]+\+)?(json|xml|yaml)\Z|(?:application|text)/(?:x-)?"
    r"(csv|tab-separated-values|javascript|ecmascript|css|toml|yaml|ndjson|jsonl|json-seq)\Z"
)
"""Matches media types of data and code that people can read; the group is the name of the language."""

ContentKind = Literal["html", "text", "markdown", "pdf", "feed", "sitemap", "other"]


@dataclass(frozen=True, slots=True)
class MainContent:
    """The main content of a document in three forms, and what the document says about itself.

    `title` is empty, and `author`, `date` (ISO 8601, of publication) and `language` (BCP 47) are None, if the document
    does not state them. `html` has absolute links, and neither scripts, styles nor event handlers. No text has control
    characters other than line break and tab, nor characters that hide text or change its order. `unread` says what
    could not be read, or that the page's scripts had not finished, or that there is no text; it is empty if everything
    was read.
    `page` is the document as a crawl reads it, `metas` are the (name, content) pairs of its META tags.
    """

    page: Page
    kind: ContentKind = "other"
    title: str = ""
    author: str | None = None
    date: str | None = None
    language: str | None = None
    text: str = ""
    markdown: str = ""
    html: str = ""
    unread: str = ""
    metas: tuple[tuple[str, str], ...] = ()


def read_main_content(
    url: Url,
    response: Response,
    token: str,
    *,
    whole: bool = False,
    rendered: Rendered | None = None,
    limit_bytes: int = READ_BYTES,
    document_bytes: int = DOCUMENT_BYTES,
) -> MainContent:
    """Reads the response at `url` for the robot named `token`. Never raises; linear; reads at most `limit_bytes` of the
    decoded body, `document_bytes` of a PDF.

    `whole`: everything on a page, menus and footers too. `rendered`: the page as a browser has rendered it.
    """
    found = _read(url, response, token, whole, rendered, limit_bytes, document_bytes)
    if rendered is not None and rendered.unfinished:
        found = replace(found, unread="; ".join(filter(None, (found.unread, rendered.unfinished))))
    if found.text or found.markdown.strip() or found.unread:
        return found
    is_page = found.kind == "html" and rendered is None
    return replace(found, unread=f"it has no text{_MAYBE_SCRIPTS if is_page else ''}")


def _read(
    url: Url,
    response: Response,
    token: str,
    whole: bool,
    rendered: Rendered | None,
    limit_bytes: int,
    document_bytes: int,
) -> MainContent:
    if (coding := unknown_coding(response)) is not None:
        unread = f"goodbot does not know its content coding {quoted(coding)}"
        return MainContent(page_of(url, response, token, Extract(), "utf-8"), unread=unread)
    body = Body(response, limit_bytes)
    listing = open_listing(url, response)
    if listing is not None:
        entries = tuple(entry for piece in listing.pieces() for entry in piece)
        page = page_of_list(url, response, token, listing.extract, entries)
        return _of_list(page, is_feed=listing.kind == "feed")
    if rendered is not None and rendered.html is not None:
        page = read_rendered(url, body, rendered, token)
        found, html = read_extract(body, url=url, text=False)[1], rendered.html[:limit_bytes]
        cut = _cut(limit_bytes) if len(rendered.html) > limit_bytes else body.unread
        return _of_page(page, found, html, cut, whole=whole)
    kind, found, encoding = read_extract(body, url=url, document_bytes=document_bytes)
    page = page_of(url, response, token, found, encoding)
    cut = _cut(limit_bytes) if kind != "pdf" and len(body.content) >= limit_bytes else ""
    if kind == "html":
        return _of_page(page, found, body.text, cut, whole=whole)
    return _of_text(page, kind, found, body, cut)


def _cut(limit_bytes: int) -> str:
    return f"only the first {human_bytes(limit_bytes)} were read"


def _of_page(page: Page, found: Extract, html: str, cut: str, *, whole: bool) -> MainContent:
    from goodbot.page.main_html import read_main_html  # noqa: PLC0415  (loads the libraries for main content)

    base = (resolve(page.url, found.base) if found.base is not None else None) or page.url
    main = read_main_html(html, base.text, page.title, page.text, whole=whole)
    return MainContent(
        page,
        "html",
        _printable(main.title),
        _printable(main.author or "") or None,
        main.date,
        page.language,
        _printable(main.text),
        _printable(main.markdown),
        _printable(main.html),
        "; ".join(filter(None, (page.unread, main.unread, cut))),
        tuple(found.metas),
    )


def _of_text(
    page: Page, kind: Literal["text", "markdown", "pdf", "other"], found: Extract, body: Body, cut: str
) -> MainContent:
    from goodbot.page.main_html import convert_markdown  # noqa: PLC0415  (see `_of_page`)
    from goodbot.page.markdown_writing import markdown_of_lines  # noqa: PLC0415

    if kind == "other" and (data := _DATA.match(body.response.media_type)):
        text = decode_text(body.content, body.response.header("content-type"), html=False)[0].strip()
        return _fenced(page, text, data[1] or data[2], "; ".join(filter(None, (body.unread, cut))))
    if kind == "other":
        what = body.response.media_type or "documents without a media type"
        return MainContent(page, kind, unread=f"goodbot does not read {what}" if body.content else "it is empty")
    if kind == "text":
        return _fenced(page, page.text, "text", cut)
    if kind == "markdown":
        markdown, html = convert_markdown(body.text, page.url.text)
    else:
        markdown = markdown_of_lines(page.text, page.headings)
        html = convert_markdown(markdown, page.url.text)[1]
    read = _converted(page, kind, page.text, markdown, html, tuple(found.metas))
    return replace(read, unread="; ".join(filter(None, (_pdf_trouble(read) if kind == "pdf" else read.unread, cut))))


def _fenced(page: Page, text: str, language: str, cut: str) -> MainContent:
    """Returns a text that is shown as it is, in a code block."""
    from goodbot.page.main_html import convert_markdown  # noqa: PLC0415  (see `_of_page`)
    from goodbot.page.markdown_writing import fenced  # noqa: PLC0415

    markdown = fenced(text, language)
    read = _converted(page, "text", text, markdown, convert_markdown(markdown, page.url.text)[1])
    return replace(read, unread="; ".join(filter(None, (read.unread, cut))))


def _pdf_trouble(read: MainContent) -> str:
    return f"the PDF is {read.unread}" if read.unread.startswith(("damaged", "encrypted")) else read.unread


def _of_list(page: Page, *, is_feed: bool) -> MainContent:
    from goodbot.page.main_html import convert_markdown  # noqa: PLC0415  (see `_of_page`)
    from goodbot.page.markdown_writing import markdown_of_entries  # noqa: PLC0415

    text = page.text if is_feed else "\n".join(entry.url.text for entry in page.listed)
    markdown = markdown_of_entries(page.listed, page.title)
    html = convert_markdown(markdown, page.url.text)[1]
    return _converted(page, "feed" if is_feed else "sitemap", text, markdown, html)


def _converted(
    page: Page, kind: ContentKind, text: str, markdown: str, html: str, metas: tuple[tuple[str, str], ...] = ()
) -> MainContent:
    return MainContent(
        page,
        kind,
        _printable(page.title),
        language=page.language,
        text=_printable(text),
        markdown=_printable(markdown),
        html=_printable(html),
        unread=page.unread,
        metas=metas,
    )


_REMOVED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")


def _printable(text: str) -> str:
    """Removes control characters, which could steer a terminal; lone surrogates; characters that change the order of
    text (bidirectional overrides and isolates); and tag characters, which nobody sees, but models read."""
    return _REMOVED.sub("", text)
