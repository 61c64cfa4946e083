"""A page as programs of other people hold it: an answer, read when they ask what it says."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from goodbot.exclusion import Directives
from goodbot.page.coding import decode_content
from goodbot.page.document import read_page
from goodbot.page.encoding import decode_text
from goodbot.page.html import looks_like_html
from goodbot.page.select import Element, Tree
from goodbot.url import Url
from goodbot.values import Headers, Link, ListedUrl, Page, Response

READ_BYTES: Final = 2 * 1024 * 1024
"""Decoded bytes of a page that are read, as a crawl does it."""
CONTENT_BYTES: Final = 10 * 1024 * 1024
"""Decoded bytes that are given out."""

_HTML = ("text/html", "application/xhtml+xml")
_SNIFFED_BYTES: Final = 2048


@dataclass(frozen=True)
class WebPage:
    """What a server answered at `url`, and what it says to the robot named `token`.

    Nothing is read before it is asked for, and then once; none of it raises, whatever the bytes. `fetched_at` is in
    Unix seconds.
    """

    url: str
    response: Response = field(repr=False)
    fetched_at: float = 0.0
    token: str = field(default="", repr=False)

    # ---- the answer ----

    @property
    def status(self) -> int:
        """The status code."""
        return self.response.status

    @property
    def headers(self) -> Headers:
        """The header fields in the order received; `response.header(name)` finds one."""
        return self.response.headers

    @property
    def body(self) -> bytes:
        """As received: the content coding is kept."""
        return self.response.body

    @cached_property
    def content(self) -> bytes:
        """The body decoded, at most `CONTENT_BYTES` of it."""
        return decode_content(self.response, CONTENT_BYTES).body

    @cached_property
    def source(self) -> str:
        """The body decoded and as text: the markup, of a page."""
        return decode_text(self.content, self.response.header("content-type"), html=self._is_html)[0]

    # ---- what it says ----

    @cached_property
    def page(self) -> Page:
        """All that is read of it, as one value."""
        return read_page(Url(self.url), self.response, self.token, READ_BYTES)

    @property
    def title(self) -> str:
        """The title, or empty."""
        return self.page.title

    @property
    def text(self) -> str:
        """What there is to read, a line for each block."""
        return self.page.text

    @property
    def headings(self) -> tuple[str, ...]:
        """h1 to h6 are not told apart; see `select`."""
        return self.page.headings

    @property
    def links(self) -> tuple[Link, ...]:
        """Absolute, each once; `link.follow` says whether who set it lets robots follow."""
        return self.page.links

    @property
    def listed(self) -> tuple[ListedUrl, ...]:
        """What a sitemap or a feed names."""
        return self.page.listed

    @property
    def directives(self) -> Directives:
        """What its author lets robots do with it: `index`, `follow`, `archive`…"""
        return self.page.directives

    @property
    def language(self) -> str | None:
        """As stated (BCP 47)."""
        return self.page.language

    @property
    def canonical(self) -> str | None:
        """The address its author prefers, if one is stated."""
        return None if self.page.canonical is None else self.page.canonical.text

    def select(self, css: str) -> list[Element]:
        """The elements that match a CSS selector, in order. None in what is no HTML, and none where `unselectable` says
        why. Raises InputError for what is no selector."""
        return self._tree.select(css)

    @property
    def unselectable(self) -> str | None:
        """Why `select` finds nothing in this page, whatever the selector: its tree would have no bounds. Else None."""
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
