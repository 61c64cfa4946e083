"""Finds the tags for robots in a page, with their places in the source."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from turbohtml import Token, TokenType, tokenize

from goodbot.exclusion import parse_rel
from goodbot.page.encoding import decode_text

MAX_PAGE_CHARS = 5_000_000
"""How many characters of a page are read."""

MAX_TAGS = 10_000

_HEAD_TAGS = frozenset(
    [
        "html",
        "head",
        "title",
        "meta",
        "link",
        "script",
        "style",
        "base",
        "basefont",
        "bgsound",
        "noframes",
        "noscript",
        "template",
    ]
)
"""The tags that may be in the head (WHATWG HTML §13.2.6.4.4): any other start tag, and any text, ends it."""

_RAW = frozenset({"title", "script", "style", "noscript", "noframes"})
"""The tags whose content the tokenizer returns as one piece of text."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PageTag:
    """A META tag with a name, or a LINK tag with rel=canonical (then `name` is `canonical`). Lines and columns count
    from 1."""

    name: str
    content: str
    line: int
    column: int
    end_column: int
    in_head: bool

    @property
    def is_canonical(self) -> bool:
        return self.name == "canonical"


def page_text(body: bytes, headers: Headers) -> str:
    """Decodes a page by its header, its META or its bytes; returns at most `MAX_PAGE_CHARS` characters."""
    stated = next((value for name, value in headers if name.lower() == "content-type"), None)
    return decode_text(body, stated)[0][:MAX_PAGE_CHARS]


@lru_cache(maxsize=4)
def read_tags(html: str) -> tuple[PageTag, ...]:
    """Returns the tags in the order of the page, also those in `noscript`, but not those in a template, which robots do
    not read. Linear; never raises."""
    scan = _TagScan()
    scan.read(html.replace("\0", "\ufffd"))
    return tuple(scan.tags)


class _TagScan:
    """The state of one pass over the tokens."""

    def __init__(self) -> None:
        self.tags: list[PageTag] = []
        self.in_body = False
        self._templates = 0
        self._raw: str | None = None
        self._inside_fallback = False

    def read(self, html: str, line: int = 1, column: int = 0) -> None:
        """Reads `html`, which begins at this place of the page (columns from 0)."""

        def place(token: Token) -> tuple[int, int]:
            return token.line + line - 1, token.col + (column if token.line == 1 else 0) + 1

        for token in tokenize(html, capture_source=True):
            if token.type == TokenType.START_TAG:
                self._start(token, place)
            elif token.type == TokenType.END_TAG:
                self._end(token.tag or "")
            elif token.type == TokenType.TEXT:
                self._text(token)

    def _start(self, token: Token, place: Callable[[Token], tuple[int, int]]) -> None:
        tag = token.tag or ""
        if self._templates:
            self._templates += tag == "template"
            return
        if tag == "template":
            self._templates = int(token.attr("shadowrootmode") is None)
        elif tag not in _HEAD_TAGS:
            self.in_body = True
        elif tag in _RAW:
            self._raw = tag
        elif tag in ("meta", "link"):
            self._keep(token, *place(token))

    def _keep(self, token: Token, line: int, column: int) -> None:
        if token.tag == "meta":
            name, content = (token.attr("name") or "").strip().lower(), token.attr("content") or ""
        else:
            rel = tuple((token.attr("rel") or "")[:1000].lower().split())
            name, content = ("canonical" if parse_rel(rel).canonical else ""), (token.attr("href") or "").strip()
        if name and len(self.tags) < MAX_TAGS:
            length = len((token.source or "").splitlines()[0])
            self.tags.append(PageTag(name, content, line, column, column + length, not self.in_body))

    def _end(self, tag: str) -> None:
        if self._templates:
            self._templates -= tag == "template"
        elif tag == self._raw:
            self._raw = None

    def _text(self, token: Token) -> None:
        data = token.data or ""
        if self._templates:
            return
        if self._raw is None:
            self.in_body = self.in_body or not data.isspace()
        elif self._raw == "noscript" and not self._inside_fallback:
            raw, self._raw, self._inside_fallback = self._raw, None, True
            self.read(data, token.line, token.col)
            self._raw, self._inside_fallback, self._templates = raw, False, 0
