"""Collects the content of a page before its references are resolved: what each head element and each link adds.

Links are `a` and `area` (also in SVG), `frame`, `iframe`, META refresh, and `link` of the kinds in `LINK_RELS` unless
its type is not that of a page. Not links: images, scripts, styles, forms (a search form is a trap), `object`, `embed`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from goodbot.exclusion import parse_rel

MAX_LINKS = 50_000
"""The limit of distinct references of one page, as many as a sitemap may hold; later ones are not read."""

MAX_FRAGMENTS = 5_000
"""The limit of fragments of one page's links: an alphabetical index has as many."""

MAX_ALTERNATES = 100
MAX_TITLE_CHARS = 1_000
MAX_ANCHOR_CHARS = 300
MAX_FRAGMENT_CHARS = 200
MAX_REL_CHARS = 1_000

_LINK_RELS = """
    alternate appendix author canonical chapter contents copyright first glossary help index last license next prev
    previous privacy-policy section start subsection terms-of-service toc top up
"""
LINK_RELS = frozenset(_LINK_RELS.split())
"""Kinds of `link` that lead to pages (HTML 4.01 §6.12, WHATWG HTML §4.6.7)."""

_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")
_NO_PAGE = frozenset({"stylesheet", "icon"})


class Place(NamedTuple):
    """A heading or term (`is_term`) with the anchor by which a fragment addresses it."""

    anchor: str
    text: str
    is_term: bool


class Reference(NamedTuple):
    """A link as written. For a META refresh `href` is its whole content."""

    href: str
    anchor: str
    rel: tuple[str, ...]


@dataclass(slots=True)
class Extract:
    """The content of a document, in document order; a field is None if the document does not state it. `shown` is the
    text without the parts that `data-nosnippet` keeps out of snippets, None if there are none. `unread` says why the
    document could not be read completely; it is empty if it was. `fragments` are those of the links to each href, with
    the texts of the links; `alternates` are pairs of language and href; `menus` are ranges of the displayed text."""

    title: str = ""
    text: str = ""
    shown: str | None = None
    headings: list[str] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)
    metas: list[tuple[str, str]] = field(default_factory=list)
    base: str | None = None
    canonical: str | None = None
    language: str | None = None
    content_language: str | None = None
    unread: str = ""
    terms: list[str] = field(default_factory=list)
    alternative_texts: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    fragments: dict[str, dict[str, str]] = field(default_factory=dict)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    menus: list[tuple[int, int]] = field(default_factory=list)


Get = Callable[[str], str | None]
"""Returns the value of an attribute of the current element, or None if it does not have it."""


class PageCollector:
    """Collects the head and the links of a page, element by element in document order."""

    def __init__(self) -> None:
        self.found = Extract()
        self.seen: dict[tuple[str, str | None], bool] = {}
        """The references kept, and whether each has an anchor."""

    def html(self, get: Get) -> None:
        if self.found.language is None:
            self.found.language = get("lang") or get("xml:lang")

    def base(self, get: Get) -> None:
        if self.found.base is None:
            self.found.base = get("href")

    def meta(self, get: Get) -> None:
        content = get("content") or ""
        if name := get("name"):
            self.found.metas.append((name, content))
        equivalent = (get("http-equiv") or "").strip().lower()
        if equivalent == "refresh" and len(self.found.links) < MAX_LINKS:
            self.found.links.append(Reference(content, "", ("refresh",)))
        elif equivalent == "content-language" and self.found.content_language is None:
            self.found.content_language = content

    def link(self, get: Get) -> None:
        stated, href = get("rel"), get("href")
        rel = _rel(stated)
        if href is None or LINK_RELS.isdisjoint(rel) or not _NO_PAGE.isdisjoint(rel):
            return
        if (get("type") or "").partition(";")[0].strip().lower() not in _PAGE_TYPES:
            return
        if self.found.canonical is None and parse_rel(rel).canonical:
            self.found.canonical = href
        if language := get("hreflang"):
            self.note_translation(rel, language, href)
        self.add((href.partition("#")[0], stated), "")

    def note_translation(self, rel: Collection[str], language: str, href: str) -> None:
        """Keeps the URL of a translation, if `rel` says that it is one."""
        if "alternate" in rel and len(self.found.alternates) < MAX_ALTERNATES:
            self.found.alternates.append((language, href))

    def area(self, get: Get) -> None:
        if (href := get("href")) is not None:
            self.add((href.partition("#")[0], get("rel")), folded(get("alt") or "", MAX_ANCHOR_CHARS))

    def frame(self, get: Get) -> None:
        if src := get("src"):
            self.add((src.partition("#")[0], None), folded(get("title") or "", MAX_ANCHOR_CHARS))

    def add(self, key: tuple[str, str | None], anchor: str) -> None:
        """Keeps a reference (its URL without fragment, its rel) the first time, and the first time it has an anchor."""
        before = self.seen.get(key)
        if before or (before is False and not anchor) or len(self.found.links) >= MAX_LINKS:
            return
        self.seen[key] = bool(anchor)
        href, rel = key
        self.found.links.append(Reference(href, anchor, _rel(rel) if rel else ()))


def folded(text: str, most: int) -> str:
    """Returns at most `most` characters, with white space and NUL folded to single spaces."""
    return " ".join(text.replace("\0", " ").split())[:most].rstrip()


def _rel(value: str | None) -> tuple[str, ...]:
    return tuple(value[:MAX_REL_CHARS].lower().split()) if value else ()
