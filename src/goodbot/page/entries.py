"""Reads the fields of sitemap and feed entries, and of the head of a feed, from their tags."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Final, Literal, NamedTuple

from goodbot.page.markup import MarkupTag, attributes_of, unescaped
from goodbot.url import MAX_URL_CHARS, Url, parse_url, resolve

PLAIN_CHARS: Final = MAX_URL_CHARS + 256
RICH_CHARS: Final = 65_536
"""The limits for an element with a URL, a date or a number, and for one with text."""

ListKind = Literal["sitemap", "sitemap index", "feed"]


@dataclass(frozen=True, slots=True, eq=False)
class ListFormat:
    """One format of file. `fields` maps the child elements of an entry to field names, `head` those of the feed
    itself, which are `head_depth` levels below the root. `loose` means that entries may be in another namespace than
    the root."""

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
"""Fields that may contain markup; the others end at the next tag. Their values are HTML, whatever the file has: text of
Atom (RFC 4287 §3.1.1.1) is escaped."""

_RELATIONS: Final = "http://www.iana.org/assignments/relation/"

FORMS: Final = {
    "urlset": ListFormat("sitemap", "url", _SITEMAP_FIELDS),
    "sitemapindex": ListFormat("sitemap index", "sitemap", _SITEMAP_FIELDS),
    "rss": ListFormat("feed", "item", _RSS_FIELDS, _RSS_HEAD, 2),
    "rdf": ListFormat("feed", "item", _RSS_FIELDS, _RSS_HEAD, 2, loose=True),
    "feed": ListFormat("feed", "entry", _ATOM_FIELDS, _ATOM_HEAD, 1),
}
"""The formats by root element, without its prefix."""


class EntryFields(NamedTuple):
    """The fields of one entry, or of the head of a feed. Its references are relative to `base`."""

    values: dict[str, str]
    base: Url | None
    is_head: bool = False


@dataclass(slots=True)
class _OpenElement:
    """An element being read: the prefix of its namespace, and the depth of the reader in it."""

    prefix: str
    base: Url | None
    is_head: bool = False
    depth: int = 0
    values: dict[str, str] = field(default_factory=dict)

    def put(self, slot: str, value: str) -> None:
        """Sets a field, unless it has a value already."""
        if value and not self.values.get(slot):
            self.values[slot] = value


class Entries:
    """Reads the entries below one root. `whole` is a pattern for entries that can be read in one step, if the format
    has any."""

    def __init__(self, form: ListFormat, root: MarkupTag, base: Url | None) -> None:
        self._form = form
        self._prefix = prefix_of(root.name)
        self._base = _based(base, root)
        self._head = _OpenElement(self._prefix, self._base, is_head=True) if form.head else None
        self._entry: _OpenElement | None = None
        self._slot = self._ends_at = ""
        self._parts: list[str] = []
        self._room = 0
        self._is_text = False
        self._leaf: re.Pattern[str] | None = None
        self.whole: re.Pattern[str] | None = None
        if not form.head:
            self._leaf, self.whole = _patterns(form, self._prefix)

    def read(self, tags: Iterator[MarkupTag]) -> Iterator[EntryFields]:
        """Yields each entry when it is complete, and the head before the first one."""
        for tag in tags:
            if self._slot:
                self._gather(tag)
            if tag.whole and self._leaf is not None:
                yield from self._finished()
                yield self._at_once(self._leaf.findall(tag.whole))
            elif local_name(tag.name) == self._form.entry and self._is_entry(tag):
                yield from self._finished()
                self._entry = None if tag.closing else _OpenElement(prefix_of(tag.name), _based(self._base, tag))
            elif tag.closing:
                self._leave()
            else:
                self._begin(tag)
        if self._slot:
            self._end_field()
        yield from self._finished()

    def _at_once(self, leaves: list[tuple[str, str]]) -> EntryFields:
        """Reads a sitemap entry that has only known fields: this takes a third of the time."""
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

    def _leave(self) -> None:
        place = self._entry or self._head
        if place is not None and place.depth:
            place.depth -= 1

    def _begin(self, tag: MarkupTag) -> None:
        """Starts an element in an entry or in the head of a feed."""
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
            self._is_text = slot in _RICH and self._form.entry == "entry" and _is_text(tag)

    def _slot_of(self, tag: MarkupTag, place: _OpenElement) -> str | None:
        """Returns the field of an element by its local name, or by its full name if it is in another namespace."""
        table = self._form.head if place.is_head else self._form.fields
        is_own = prefix_of(tag.name) == place.prefix or (place.is_head and self._form.loose)
        return table.get(local_name(tag.name) if is_own else tag.name.lower())

    def _gather(self, tag: MarkupTag) -> None:
        ends = self._slot not in _RICH or (tag.closing and tag.name == self._ends_at)
        markup = "" if ends else f"<{'/' * tag.closing}{local_name(tag.name)}{tag.attributes}>"
        if self._room > 0:
            text = tag.text[: self._room]
            self._parts += (escape(text, quote=False) if self._is_text else text, markup)
            self._room -= len(tag.text) + len(markup)
        if ends or local_name(tag.name) == self._form.entry:
            self._end_field()

    def _end_field(self) -> None:
        place = self._entry or self._head
        if place is not None:
            place.put(self._slot, "".join(self._parts).strip())
        self._slot = ""
        self._parts.clear()


@lru_cache(maxsize=16)
def _patterns(form: ListFormat, prefix: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns a pattern for one field, and one for an entry that has only such fields."""
    before = re.escape(prefix + ":" if prefix else "")
    leaf = f"<{before}({'|'.join(form.fields)})>([^<]{{0,{PLAIN_CHARS}}}+)</{before}\\1>"
    entry = before + form.entry
    return re.compile(leaf), re.compile(f"<{entry}>\\s*+(?:{leaf}\\s*+)*+</{entry}>")


def local_name(name: str) -> str:
    """Returns the name without its prefix, in lower case: XML names are case-sensitive, but authors forget that."""
    return name.rpartition(":")[2].lower()


def prefix_of(name: str) -> str:
    return name.rpartition(":")[0]


def resolved(base: Url | None, reference: str | None) -> Url | None:
    """Resolves a reference in a file. Returns None if it is not a URL, or is relative and `base` is unknown."""
    if not reference or len(reference) > MAX_URL_CHARS:
        return None
    return parse_url(reference) if base is None else resolve(base, reference)


def _based(base: Url | None, tag: MarkupTag) -> Url | None:
    """Returns the base of references below `tag` (`xml:base`)."""
    stated = attributes_of(tag).get("xml:base") if "base" in tag.attributes else None
    return resolved(base, stated) or base


def _is_text(tag: MarkupTag) -> bool:
    """Whether the element has text or XHTML, whose text is no markup (RFC 4287 §3.1.1); Atom 0.3 has media types."""
    return attributes_of(tag).get("type", "text").lower() not in ("html", "text/html")


def _alternate(tag: MarkupTag) -> str:
    """Returns the target of an alternate link, whose relation may be a URI. A link without `rel` is one (RFC 4287
    §4.2.7.2)."""
    attributes = attributes_of(tag)
    relation = attributes.get("rel", "alternate").removeprefix(_RELATIONS)
    return attributes.get("href", "") if relation == "alternate" else ""
