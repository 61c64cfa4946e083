"""Finds where the links of a page, its canonical URL, META robots, html element and title are in its source.

One pass over the tokens, linear for any markup. The content of `noscript` and `noframes` is read, that of `template` is
not, as in a crawl. Lines and columns count from 1, in characters of the decoded page.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from turbohtml import Token, TokenType, tokenize

from goodbot.exclusion import parse_rel
from goodbot.page.extract import LINK_RELS, MAX_ANCHOR_CHARS, folded
from goodbot.page.page_building import refresh_target
from goodbot.url import Url, resolve_all

MAX_LINKS: Final = 50_000
"""The limit of links of one page, the same as in a crawl."""

_MAX_PARTS: Final = 100
"""Pieces of text read for one link: markup inside can make many."""

_LINK_PARTS: Final = frozenset({"link", "translation"})
_ENDING: Final = frozenset({"html", "title", "meta", "link"})
"""Tags after which the parts other than links may be complete."""

_RAW: Final = frozenset({"noscript", "noframes"})
_ROBOTS: Final = frozenset({"robots", "googlebot", "bingbot", "goodbot"})
_HREFS: Final = {"a": ("href", "xlink:href"), "area": ("href",), "frame": ("src",), "iframe": ("src",)}


class Place(NamedTuple):
    """The place of a tag."""

    line: int
    column: int


class LinkPlace(NamedTuple):
    """One occurrence of a link in a page: its URL, the place of its tag and its text."""

    url: str
    place: Place
    text: str


@dataclass(slots=True)
class PagePlaces:
    """The places in one page; None for what it does not have."""

    links: list[LinkPlace] = field(default_factory=list)
    canonical: Place | None = None
    robots: Place | None = None
    html: Place | None = None
    title: Place | None = None


def find_places(html: str, url: Url, wanted: Collection[str] = ("link",)) -> PagePlaces:
    """Returns the places in the page at `url`; if only other parts than links are `wanted`, it stops when it has found
    them. Never raises."""
    scan = _Scan(frozenset() if _LINK_PARTS.intersection(wanted) else frozenset(wanted))
    scan.read(html.replace("\0", "\ufffd"))
    scan.end_link()
    return scan.finish(url)


class _Found(NamedTuple):
    href: str
    place: Place
    text: str


class _Scan:
    """The state of one pass."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.places = PagePlaces()
        self._wanted = wanted
        self._found: list[_Found] = []
        self._base: str | None = None
        self._templates = 0
        self._raw: str | None = None
        self._inside_fallback = False
        self._link: tuple[str, Place] | None = None
        self._parts: list[str] = []

    def read(self, html: str, line: int = 1, column: int = 0) -> None:
        """Reads `html`, which begins at this place of the page (columns from 0)."""

        def place(token: Token) -> Place:
            return Place(token.line + line - 1, token.col + (column if token.line == 1 else 0) + 1)

        for token in tokenize(html):
            if token.type == TokenType.START_TAG:
                self._start(token, token.tag or "", place)
                if token.tag in _ENDING and self._wanted and self._has_all():
                    return
            elif token.type == TokenType.END_TAG:
                self._end(token.tag or "")
            elif token.type == TokenType.TEXT:
                self._text(token, place)

    def _has_all(self) -> bool:
        return all(getattr(self.places, part, None) is not None for part in self._wanted)

    def finish(self, url: Url) -> PagePlaces:
        """Resolves the links that were found."""
        bases = resolve_all(url, [self._base])
        targets = resolve_all(bases[0] or url, [found.href for found in self._found])
        self.places.links = [
            LinkPlace(target.text, found.place, found.text)
            for found, target in zip(self._found, targets, strict=True)
            if target is not None
        ]
        return self.places

    def _start(self, token: Token, tag: str, place: Callable[[Token], Place]) -> None:
        if self._templates:
            self._templates += tag == "template"
        elif tag == "template":
            self._templates = int(token.attr("shadowrootmode") is None)
        elif tag in _RAW:
            self._raw = tag
        elif tag in _AT:
            _AT[tag](self, token, place(token))

    def _at_frame(self, token: Token, place: Place) -> None:
        tag = token.tag or ""
        self._add(_href(token, tag), place, token.attr("alt" if tag == "area" else "title") or "")

    def _at_base(self, token: Token, place: Place) -> None:
        if self._base is None:
            self._base = token.attr("href")

    def _at_html(self, token: Token, place: Place) -> None:
        self.places.html = self.places.html or place

    def _at_title(self, token: Token, place: Place) -> None:
        self.places.title = self.places.title or place

    def _at_img(self, token: Token, place: Place) -> None:
        if self._link is not None and len(self._parts) < _MAX_PARTS:
            self._parts.append(token.attr("alt") or "")

    def _at_a(self, token: Token, place: Place) -> None:
        self.end_link()
        href = _href(token, "a")
        self._link = None if href is None else (href, place)

    def end_link(self) -> None:
        """Ends the open link, if there is one."""
        if self._link is not None:
            href, place = self._link
            self._add(href, place, "".join(self._parts[:_MAX_PARTS]))
        self._link = None
        self._parts.clear()

    def _add(self, href: str | None, place: Place, text: str) -> None:
        if href is not None and len(self._found) < MAX_LINKS:
            self._found.append(_Found(href.partition("#")[0], place, folded(text, MAX_ANCHOR_CHARS)))

    def _at_link(self, token: Token, place: Place) -> None:
        rel = tuple((token.attr("rel") or "")[:1000].lower().split())
        href = token.attr("href")
        if href is None or LINK_RELS.isdisjoint(rel):
            return
        if parse_rel(rel).canonical:
            self.places.canonical = self.places.canonical or place
        else:
            self._add(href, place, "")

    def _at_meta(self, token: Token, place: Place) -> None:
        name = (token.attr("name") or "").strip().lower()
        if name in _ROBOTS and self.places.robots is None and _forbids(token.attr("content") or ""):
            self.places.robots = place
        if (token.attr("http-equiv") or "").strip().lower() == "refresh":
            self._add(refresh_target(token.attr("content") or ""), place, "")

    def _end(self, tag: str) -> None:
        if self._templates:
            self._templates -= tag == "template"
        elif tag == "a":
            self.end_link()
        elif tag == self._raw:
            self._raw = None

    def _text(self, token: Token, place: Callable[[Token], Place]) -> None:
        data = token.data or ""
        if self._templates:
            return
        if self._raw is None:
            if self._link is not None and len(self._parts) < _MAX_PARTS:
                self._parts.append(data)
        elif not self._inside_fallback:
            raw, self._raw, self._inside_fallback = self._raw, None, True
            where = place(token)
            self.read(data, where.line, where.column - 1)
            self._raw, self._inside_fallback, self._templates = raw, False, 0


_AT: Final[dict[str, Callable[[_Scan, Token, Place], None]]] = {
    "a": _Scan._at_a,
    "area": _Scan._at_frame,
    "frame": _Scan._at_frame,
    "iframe": _Scan._at_frame,
    "base": _Scan._at_base,
    "html": _Scan._at_html,
    "img": _Scan._at_img,
    "link": _Scan._at_link,
    "meta": _Scan._at_meta,
    "title": _Scan._at_title,
}


def _href(token: Token, tag: str) -> str | None:
    values = (token.attr(name) for name in _HREFS[tag])
    return next((value for value in values if value is not None), None)


def _forbids(content: str) -> bool:
    words = content[:1000].lower().replace(",", " ").split()
    return "noindex" in words or "none" in words


def places_of(places: PagePlaces, part: str, target: str) -> Iterator[LinkPlace]:
    """Yields the places of a part of the page, or of the links to `target`."""
    if part in _LINK_PARTS:
        yield from (link for link in places.links if link.url == target)
        return
    place: Place | None = getattr(places, part)
    if place is not None:
        yield LinkPlace(target, place, "")
