"""Defines the page that the Python API returns: a response whose content is read on first use."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from goodbot.exclusion import Directives
from goodbot.page.coding import decode_content
from goodbot.page.document import READ_BYTES, read_page
from goodbot.page.encoding import decode_text
from goodbot.page.html import looks_like_html
from goodbot.page.select import Element, Tree
from goodbot.url import Url
from goodbot.values import Headers, Link, ListedUrl, Page, Response

CONTENT_BYTES: Final = 10 * 1024 * 1024
"""The limit for decoded bytes in `content`."""

_HTML = ("text/html", "application/xhtml+xml")
_SNIFFED_BYTES: Final = 2048


@dataclass(frozen=True)
class WebPage:
    """The response of a server at `url`, and its content as read by the robot named `token`.

    Each property is computed on first use, and once; none raises, whatever the bytes. `fetched_at` is in Unix seconds.
    """

    url: str
    response: Response = field(repr=False)
    fetched_at: float = 0.0
    token: str = field(default="", repr=False)

    # ---- the response ----

    @property
    def status(self) -> int:
        """The status code."""
        return self.response.status

    @property
    def headers(self) -> Headers:
        """The header fields in the order received; `response.header(name)` returns one."""
        return self.response.headers

    @property
    def body(self) -> bytes:
        """The body as received, with its content coding."""
        return self.response.body

    @cached_property
    def content(self) -> bytes:
        """The body decoded, at most `CONTENT_BYTES` of it."""
        return decode_content(self.response, CONTENT_BYTES).body

    @cached_property
    def source(self) -> str:
        """The decoded body as text; for a page, its markup."""
        return decode_text(self.content, self.response.header("content-type"), html=self._is_html)[0]

    # ---- the content ----

    @cached_property
    def page(self) -> Page:
        """Everything that is read from the response, as one value."""
        return read_page(Url(self.url), self.response, self.token, READ_BYTES)

    @property
    def title(self) -> str:
        """The title, or an empty string."""
        return self.page.title

    @property
    def text(self) -> str:
        """The readable text, one line for each block."""
        return self.page.text

    @property
    def headings(self) -> tuple[str, ...]:
        """The texts of h1 to h3, without their levels; see `select` for those."""
        return self.page.headings

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, absolute, each once; `link.follow` says whether its author lets robots follow it."""
        return self.page.links

    @property
    def listed(self) -> tuple[ListedUrl, ...]:
        """The URLs that a sitemap or a feed lists."""
        return self.page.listed

    @property
    def directives(self) -> Directives:
        """What the author lets robots do with the page: `index`, `follow`, `archive`…"""
        return self.page.directives

    @property
    def language(self) -> str | None:
        """As stated (BCP 47)."""
        return self.page.language

    @property
    def canonical(self) -> str | None:
        """The URL that the author prefers, if one is stated."""
        return None if self.page.canonical is None else self.page.canonical.text

    def select(self, css: str) -> list[Element]:
        """Returns the elements that match a CSS selector, in order. There are none in documents other than HTML, or if
        `unselectable` says why. Raises InputError for an invalid selector."""
        return self._tree.select(css)

    @property
    def unselectable(self) -> str | None:
        """Why `select` finds nothing in this page for any selector (its tree might be too large), or None."""
        return self._tree.refused

    @cached_property
    def _tree(self) -> Tree:
        if not self._is_html:
            return Tree(None)
        body = decode_content(self.response, READ_BYTES).body
        return Tree(decode_text(body, self.response.header("content-type"))[0])

    @cached_property
    def _is_html(self) -> bool:
        kind = self.response.media_type
        return kind in _HTML or (
            kind in ("", "*/*") and looks_like_html(decode_content(self.response, _SNIFFED_BYTES).body)
        )
