"""The tokens of an HTML page → what it says, nothing resolved yet. One pass, linear whatever the markup.

Links are `a` and `area` (also in SVG), `frame`, `iframe`, META refresh, and `link` of the kinds in `LINK_RELS` unless
its type says it is no page. Not links: images, scripts, styles, forms (a search form is a trap), `object`, `embed`.
Left out: comments, `template` (but for declared shadow roots: they are shown), text of `script`, `style`, `iframe`.
Text that is `hidden` stays in: scripts reveal it. A robot that runs no scripts is whom `noscript` speaks to, so it is
read; so is `noframes`. The text of `main` comes first: what stands before it is mostly the site's menu.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from turbohtml import Token, TokenType, tokenize

MAX_LINKS = 50_000
"""Distinct references of one page, as many as a sitemap may hold; those behind are not read."""

MAX_HEADINGS = 500
MAX_TITLE_CHARS = 1_000
MAX_ANCHOR_CHARS = 300
MAX_HEADING_CHARS = 500
_MAX_PARTS = 100
"""Pieces of text looked at for one anchor or heading: markup inside can make many."""

_LINK_RELS = """
    alternate appendix author canonical chapter contents copyright first glossary help index last license next prev
    previous privacy-policy section start subsection terms-of-service toc top up
"""
LINK_RELS = frozenset(_LINK_RELS.split())
"""Kinds of `link` that lead to pages (HTML 4.01 §6.12, WHATWG HTML §4.6.7)."""

_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")
_NO_PAGE = frozenset({"stylesheet", "icon"})

_TEXT, _START, _END = TokenType.TEXT, TokenType.START_TAG, TokenType.END_TAG
"""Looked up once: an enum costs 0.1 µs each time, thousands of times a page."""

_BREAK = "\0"
"""Between blocks until the text is folded; no text holds one, as NUL is taken out first."""

_BLOCK_TAGS = """
    address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h4 h5 h6 header hgroup hr legend li listing menu nav ol optgroup option p plaintext pre
    search section select summary table tbody textarea tfoot thead tr ul xmp
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())


class Reference(NamedTuple):
    """A link as written. For a META refresh `href` is its whole content."""

    href: str
    anchor: str
    rel: tuple[str, ...]


@dataclass(slots=True)
class Extract:
    """What was found, in document order; None where nothing was said."""

    title: str = ""
    text: str = ""
    headings: list[str] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)
    metas: list[tuple[str, str]] = field(default_factory=list)
    base: str | None = None
    canonical: str | None = None
    language: str | None = None
    content_language: str | None = None


def extract(html: str) -> Extract:
    """Everything a page says."""
    reader = _Reader()
    reader.read(html.replace("\0", ""))
    return reader.finish()


def folded(text: str, most: int) -> str:
    """White space folded to single blanks, NUL among it; at most `most` characters."""
    return " ".join(text.replace("\0", " ").split())[:most].rstrip()


class _Reader:
    """The state of the pass."""

    def __init__(self) -> None:
        self.found = Extract()
        self.parts: list[str] = []
        self.sink = self.parts
        self.raw: str | None = None
        self.inside_fallback = False
        self.templates = 0
        self.svg = 0
        self.title: str | None = None
        self.heading_at: int | None = None
        self.main_at: int | None = None
        self.main_end: int | None = None
        self.anchor: tuple[str, str | None] | None = None
        self.anchor_at = 0
        self.anchor_alt = ""
        self.seen: dict[tuple[str, str | None], bool] = {}

    def read(self, html: str) -> None:
        """All tokens of `html`."""
        parts = self.parts
        for token in tokenize(html):
            kind = token.type
            if kind is _TEXT:
                self.sink.append(token.data or "")
            elif kind is _START:
                tag = token.tag
                if self.templates:
                    self.templates += tag == "template" and not token.self_closing
                elif tag in _BLOCKS:
                    parts.append(_BREAK)
                elif tag in _STARTS:
                    _STARTS[tag](self, token)
            elif kind is _END:
                tag = token.tag
                if tag in _BLOCKS:
                    self.sink.append(_BREAK)
                elif tag in _ENDS:
                    _ENDS[tag](self, token)

    def finish(self) -> Extract:
        """Everything found. The input has ended: what was left open ends here."""
        if self.raw is not None:
            self._end_raw()
        self.templates = 0
        self.end_anchor()
        self.end_heading()
        self.found.title = folded(self.title or "", MAX_TITLE_CHARS)
        start, end = self.main_at or 0, self.main_end or len(self.parts)
        ordered = (*self.parts[start:end], *self.parts[:start], *self.parts[end:])
        blocks = " ".join("".join(ordered).split()).split(_BREAK)
        self.found.text = "\n".join(filter(None, map(str.strip, blocks)))
        return self.found

    # ---- text ----

    def space(self, token: Token) -> None:
        self.sink.append(" ")

    def start_heading(self, token: Token) -> None:
        self.end_heading()
        self.parts.append(_BREAK)
        self.heading_at = len(self.parts)

    def end_heading(self, token: Token | None = None) -> None:
        if self.templates:
            return
        self.parts.append(_BREAK)
        if self.heading_at is not None and len(self.found.headings) < MAX_HEADINGS:
            text = folded("".join(self.parts[self.heading_at : self.heading_at + _MAX_PARTS]), MAX_HEADING_CHARS)
            if text:
                self.found.headings.append(text)
        self.heading_at = None

    def start_main(self, token: Token) -> None:
        if self.main_at is None and self.sink is self.parts:
            self.main_at = len(self.parts)
        self.sink.append(_BREAK)

    def end_main(self, token: Token) -> None:
        self.sink.append(_BREAK)
        if self.main_at is not None and self.main_end is None and self.sink is self.parts:
            self.main_end = len(self.parts)

    def start_raw(self, token: Token) -> None:
        self.raw = token.tag
        self.sink = []

    def end_raw(self, token: Token) -> None:
        if token.tag == self.raw:
            self._end_raw()

    def _end_raw(self) -> None:
        tag, text = self.raw, "".join(self.sink)
        self.raw = None
        self.sink = self.parts
        if tag == "title" and self.title is None and not self.svg:
            self.title = text
        elif tag in ("noscript", "noframes") and not self.inside_fallback:
            self._read_fallback(text)

    def _read_fallback(self, html: str) -> None:
        """Markup the tokenizer took as text. Once: the same inside stays text, or nesting would cost a pass each."""
        svg, self.inside_fallback = self.svg, True
        self.read(html)
        if self.raw is not None:
            self._end_raw()
        self.templates, self.svg, self.inside_fallback = 0, svg, False
        self.sink = self.parts

    def start_svg(self, token: Token) -> None:
        self.svg += not token.self_closing

    def end_svg(self, token: Token) -> None:
        self.svg -= self.svg > 0 and not self.templates

    def start_template(self, token: Token) -> None:
        if token.attr("shadowrootmode") is None and not token.self_closing:
            self.templates = 1
            self.sink = []

    def end_template(self, token: Token) -> None:
        if self.templates:
            self.templates -= 1
            if not self.templates:
                self.sink = self.parts

    # ---- head ----

    def start_html(self, token: Token) -> None:
        if self.found.language is None:
            self.found.language = token.attr("lang") or token.attr("xml:lang")

    def start_base(self, token: Token) -> None:
        if self.found.base is None:
            self.found.base = token.attr("href")

    def start_meta(self, token: Token) -> None:
        content = token.attr("content") or ""
        if name := token.attr("name"):
            self.found.metas.append((name, content))
        equivalent = (token.attr("http-equiv") or "").strip().lower()
        if equivalent == "refresh" and len(self.found.links) < MAX_LINKS:
            self.found.links.append(Reference(content, "", ("refresh",)))
        elif equivalent == "content-language" and self.found.content_language is None:
            self.found.content_language = content

    def start_link(self, token: Token) -> None:
        stated, href = token.attr("rel"), token.attr("href")
        rel = _rel(stated)
        kind = (token.attr("type") or "").partition(";")[0].strip().lower()
        if href is None or kind not in _PAGE_TYPES or LINK_RELS.isdisjoint(rel) or not _NO_PAGE.isdisjoint(rel):
            return
        if "canonical" in rel and self.found.canonical is None:
            self.found.canonical = href
        self._add(href, stated, "")

    # ---- links ----

    def start_a(self, token: Token) -> None:
        if self.anchor is not None:
            self.end_anchor()
        href = token.attr("href")
        if href is None:
            href = token.attr("xlink:href")
        if href is not None:
            self.anchor = (href.partition("#")[0], token.attr("rel"))
            self.anchor_at = len(self.parts)
            self.anchor_alt = ""

    def end_anchor(self, token: Token | None = None) -> None:
        if self.anchor is None or self.templates:
            return
        if not self.seen.get(self.anchor):
            text = "".join(self.parts[self.anchor_at : self.anchor_at + _MAX_PARTS])
            self._add(*self.anchor, folded(text, MAX_ANCHOR_CHARS) or folded(self.anchor_alt, MAX_ANCHOR_CHARS))
        self.anchor = None

    def start_img(self, token: Token) -> None:
        self.parts.append(" ")
        if self.anchor and not self.anchor_alt:
            self.anchor_alt = token.attr("alt") or ""

    def start_area(self, token: Token) -> None:
        if (href := token.attr("href")) is not None:
            self._add(href, token.attr("rel"), folded(token.attr("alt") or "", MAX_ANCHOR_CHARS))

    def start_frame(self, token: Token) -> None:
        if src := token.attr("src"):
            self._add(src, None, folded(token.attr("title") or "", MAX_ANCHOR_CHARS))

    def start_iframe(self, token: Token) -> None:
        self.start_frame(token)
        self.start_raw(token)

    def _add(self, href: str, rel: str | None, anchor: str) -> None:
        """Keeps the first of a reference, and the first that has an anchor."""
        href = href.partition("#")[0]
        key = (href, rel)
        before = self.seen.get(key)
        if before or (before is False and not anchor) or len(self.found.links) >= MAX_LINKS:
            return
        self.seen[key] = bool(anchor)
        self.found.links.append(Reference(href, anchor, _rel(rel)))


def _rel(value: str | None) -> tuple[str, ...]:
    return tuple(value.lower().split()) if value else ()


_Handler = Callable[[_Reader, Token], None]
_RAW = ("title", "script", "style", "iframe", "noembed", "noframes", "noscript")
"""Elements the tokenizer takes as one piece of text."""

_STARTS: dict[str | None, _Handler] = {
    **dict.fromkeys(("td", "th", "input", "video", "audio", "object", "rp"), _Reader.space),
    **dict.fromkeys(("h1", "h2", "h3"), _Reader.start_heading),
    **dict.fromkeys(_RAW, _Reader.start_raw),
    "a": _Reader.start_a,
    "area": _Reader.start_area,
    "base": _Reader.start_base,
    "frame": _Reader.start_frame,
    "html": _Reader.start_html,
    "iframe": _Reader.start_iframe,
    "img": _Reader.start_img,
    "link": _Reader.start_link,
    "main": _Reader.start_main,
    "meta": _Reader.start_meta,
    "svg": _Reader.start_svg,
    "template": _Reader.start_template,
}
_ENDS: dict[str | None, _Handler] = {
    **dict.fromkeys(("td", "th", "video", "audio", "object", "rp"), _Reader.space),
    **dict.fromkeys(("h1", "h2", "h3"), _Reader.end_heading),
    **dict.fromkeys(_RAW, _Reader.end_raw),
    "a": _Reader.end_anchor,
    "main": _Reader.end_main,
    "svg": _Reader.end_svg,
    "template": _Reader.end_template,
}
