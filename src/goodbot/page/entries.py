"""What stands in the entries of a sitemap, an index or a feed, and in the head of a feed: tags → texts by what they
say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from goodbot.page.markup import MarkupTag, attributes_of, unescaped
from goodbot.url import MAX_URL_CHARS, Url, parse_url, resolve

PLAIN_CHARS: Final = MAX_URL_CHARS + 256
RICH_CHARS: Final = 65_536
"""Kept of one element: of one with a URL, a date or a number, and of one with a text."""

ListKind = Literal["sitemap", "sitemap index", "feed"]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One kind of file. `fields` are the children of an entry that are read, `head` those of the feed itself, which
    stand `head_depth` below the root. `loose`: entries are in another namespace than the root."""

    kind: ListKind
    entry: str
    fields: dict[str, str]
    head: dict[str, str] = field(default_factory=dict)
    head_depth: int = 0
    loose: bool = False


_SITEMAP_FIELDS = {"loc": "url", "lastmod": "modified", "changefreq": "interval", "priority": "priority"}
_RSS_FIELDS = {
    "link": "url",
    "guid": "guid",
    "title": "title",
    "description": "summary",
    "content:encoded": "content",
    "pubdate": "modified",
    "dc:date": "modified",
}
_RSS_HEAD = {
    "link": "url",
    "title": "title",
    "description": "summary",
    "language": "language",
    "dc:language": "language",
}
_ATOM_FIELDS = {
    "link": "atom link",
    "title": "title",
    "summary": "summary",
    "content": "content",
    "updated": "modified",
    "modified": "modified",
    "published": "published",
    "issued": "published",
}
_ATOM_HEAD = {"link": "atom link", "title": "title", "subtitle": "summary", "tagline": "summary"}
_RICH = frozenset({"title", "summary", "content"})
"""May have markup in them; the others end at the next tag."""

FORMS: Final = {
    "urlset": Form("sitemap", "url", _SITEMAP_FIELDS),
    "sitemapindex": Form("sitemap index", "sitemap", _SITEMAP_FIELDS),
    "rss": Form("feed", "item", _RSS_FIELDS, _RSS_HEAD, 2),
    "rdf": Form("feed", "item", _RSS_FIELDS, _RSS_HEAD, 2, loose=True),
    "feed": Form("feed", "entry", _ATOM_FIELDS, _ATOM_HEAD, 1),
}
"""By the root element, without its prefix."""


class EntryFields(NamedTuple):
    """What one entry says, or the head of a feed. `base` is what its references are relative to."""

    values: dict[str, str]
    base: Url | None
    is_head: bool = False


@dataclass(slots=True)
class _Place:
    """An element being read: the prefix of its namespace, and how deep in it the reader is."""

    prefix: str
    base: Url | None
    is_head: bool = False
    depth: int = 0
    values: dict[str, str] = field(default_factory=dict)

    def put(self, slot: str, value: str) -> None:
        """The first that says something counts."""
        if value and not self.values.get(slot):
            self.values[slot] = value


class Entries:
    """Reads what is below one root. `whole` is the pattern of entries that are best read at once, if there are such."""

    def __init__(self, form: Form, root: MarkupTag, base: Url | None) -> None:
        self._form = form
        self._prefix = prefix_of(root.name)
        self._base = _based(base, root)
        self._head = _Place(self._prefix, self._base, is_head=True) if form.head else None
        self._entry: _Place | None = None
        self._slot = self._ends_at = ""
        self._parts: list[str] = []
        self._room = 0
        self._leaf: re.Pattern[str] | None = None
        self.whole: re.Pattern[str] | None = None
        if not form.head:
            self._leaf, self.whole = _patterns(form, self._prefix)

    def read(self, tags: Iterator[MarkupTag]) -> Iterator[EntryFields]:
        """Each entry when it is complete; the head before the first of them."""
        for tag in tags:
            if self._slot:
                self._gather(tag)
            if tag.whole and self._leaf is not None:
                yield from self._finished()
                yield self._at_once(self._leaf.findall(tag.whole))
            elif local_name(tag.name) == self._form.entry and self._is_entry(tag):
                yield from self._finished()
                self._entry = None if tag.closing else _Place(prefix_of(tag.name), _based(self._base, tag))
            elif tag.closing:
                self._rise()
            else:
                self._begin(tag)
        if self._slot:
            self._end_field()
        yield from self._finished()

    def _at_once(self, leaves: list[tuple[str, str]]) -> EntryFields:
        """An entry of a sitemap that has nothing in it but what is read of it: in a third of the time."""
        table = self._form.fields
        values = {table[name]: unescaped(value).strip() for name, value in reversed(leaves) if value}
        return EntryFields(values, self._base)

    def _is_entry(self, tag: MarkupTag) -> bool:
        prefix = prefix_of(tag.name)
        if tag.closing:
            return self._entry is not None and prefix == self._entry.prefix
        return self._form.loose or prefix == self._prefix

    def _finished(self) -> Iterator[EntryFields]:
        for place in (self._head, self._entry):
            if place is not None:
                yield EntryFields(place.values, place.base, place.is_head)
        self._head = self._entry = None

    def _rise(self) -> None:
        place = self._entry or self._head
        if place is not None and place.depth:
            place.depth -= 1

    def _begin(self, tag: MarkupTag) -> None:
        """An element in an entry or in the head of a feed."""
        place = self._entry or self._head
        if place is None:
            return
        place.depth += not tag.is_empty
        depth = place.depth + tag.is_empty
        if self._slot or depth != (self._form.head_depth if place.is_head else 1):
            return
        slot = self._slot_of(tag, place)
        if slot == "atom link":
            place.put("url", _alternate(tag))
        elif slot == "guid" and attributes_of(tag).get("ispermalink", "").lower() == "false":
            return
        elif slot and not tag.is_empty:
            self._slot, self._ends_at = slot, tag.name
            self._room = RICH_CHARS if slot in _RICH else PLAIN_CHARS

    def _slot_of(self, tag: MarkupTag, place: _Place) -> str | None:
        """What the element says, by its name; by its whole name if it is of another namespace."""
        table = self._form.head if place.is_head else self._form.fields
        is_own = prefix_of(tag.name) == place.prefix or (place.is_head and self._form.loose)
        return table.get(local_name(tag.name) if is_own else tag.name.lower())

    def _gather(self, tag: MarkupTag) -> None:
        if self._room > 0:
            self._parts.append(tag.text[: self._room])
            self._room -= len(tag.text) + 1
        ends = tag.closing and tag.name == self._ends_at
        if ends or self._slot not in _RICH or local_name(tag.name) == self._form.entry:
            self._end_field()

    def _end_field(self) -> None:
        place = self._entry or self._head
        if place is not None:
            place.put(self._slot, " ".join(self._parts).strip())
        self._slot = ""
        self._parts.clear()


@lru_cache(maxsize=16)
def _patterns(form: Form, prefix: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is read of an entry, and an entry that has nothing else."""
    before = re.escape(prefix + ":" if prefix else "")
    leaf = f"<{before}({'|'.join(form.fields)})>([^<]{{0,{PLAIN_CHARS}}}+)</{before}\\1>"
    entry = before + form.entry
    return re.compile(leaf), re.compile(f"<{entry}>\\s*+(?:{leaf}\\s*+)*+</{entry}>")


def local_name(name: str) -> str:
    """Without its prefix, in lower case: the names of XML have a case, who writes them forgets it."""
    return name.rpartition(":")[2].lower()


def prefix_of(name: str) -> str:
    return name.rpartition(":")[0]


def resolved(base: Url | None, reference: str | None) -> Url | None:
    """The URL a file names; None if it is none, or is relative and `base` is not known."""
    if not reference or len(reference) > MAX_URL_CHARS:
        return None
    return parse_url(reference) if base is None else resolve(base, reference)


def _based(base: Url | None, tag: MarkupTag) -> Url | None:
    """What references below `tag` are relative to (`xml:base`)."""
    stated = attributes_of(tag).get("xml:base") if "base" in tag.attributes else None
    return resolved(base, stated) or base


def _alternate(tag: MarkupTag) -> str:
    """RFC 4287 §4.2.7.2: without `rel` a link is an alternate."""
    attributes = attributes_of(tag)
    return attributes.get("href", "") if attributes.get("rel", "alternate") == "alternate" else ""
