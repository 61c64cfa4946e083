"""Writes one page of search results as an Atom feed (RFC 4287, RFC 5005 §3, OpenSearch 1.1 §4.2). Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from goodbot.search_values import Hit
from goodbot.url import Url, parse_url
from goodbot.web.pages.view import MAX_TITLE_CHARS, clipped
from goodbot.web.pages.xml_text import add, xml_bytes, xml_text

MEDIA_TYPE: Final = "application/atom+xml"
_NAMESPACES: Final = {
    "xmlns": "http://www.w3.org/2005/Atom",
    "xmlns:opensearch": "http://a9.com/-/spec/opensearch/1.1/",
}
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}")
_LANGUAGE: Final = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8}){0,8}")
_NOT_IN_URI: Final = re.compile(r"""[][|^`{}\\<>" ]""")


@dataclass(frozen=True, slots=True)
class Feed:
    """One page of a search. `id` is a URL that is the same on all its pages; `links` are URLs by their relation (RFC
    8288): `self`, `alternate`, `next` and others. `total` counts all hits, `offset` those before this page. `as_of` is
    when the search itself last changed, in Unix seconds."""

    id: str
    title: str
    author: str
    query: str
    links: Mapping[str, str]
    total: int
    offset: int
    per_page: int
    hits: tuple[Hit, ...]
    as_of: float


def feed_xml(feed: Feed) -> bytes:
    """Returns the document. It was updated when the newest of its pages was. A feed without a hit, and a page without a
    date, were updated when the search was."""
    root = ET.Element("feed", _NAMESPACES)
    add(root, "id", feed.id)
    add(root, "title", feed.title)
    add(root, "updated", max((_updated(hit, feed.as_of) for hit in feed.hits), default=_time_of(feed.as_of)))
    add(add(root, "author"), "name", feed.author)
    add(root, "generator", "goodbot")
    for relation, url in feed.links.items():
        kind = "text/html" if relation == "alternate" else MEDIA_TYPE
        add(root, "link", rel=relation, href=url, type=kind)
    add(root, "opensearch:totalResults", str(feed.total))
    add(root, "opensearch:startIndex", str(feed.offset + 1))
    add(root, "opensearch:itemsPerPage", str(feed.per_page))
    add(root, "opensearch:Query", role="request", searchTerms=feed.query, startIndex=str(feed.offset + 1))
    for hit in feed.hits:
        _add_entry(root, hit, feed.as_of)
    return xml_bytes(root)


def _add_entry(root: ET.Element, hit: Hit, as_of: float) -> None:
    """Adds a hit. An entry without a link must have content (RFC 4287 §4.1.2)."""
    entry = add(root, "entry")
    if _LANGUAGE.fullmatch(hit.language):
        entry.set("xml:lang", hit.language)
    parsed = parse_url(hit.url)
    url = _uri(parsed) if parsed is not None else ""
    add(entry, "id", url if url and hit.id == hit.url else f"urn:uuid:{uuid5(NAMESPACE_URL, xml_text(hit.id))}")
    add(entry, "title", clipped(hit.title.strip(), MAX_TITLE_CHARS) or hit.url or hit.id)
    add(entry, "updated", _updated(hit, as_of))
    if url:
        kind = {"type": hit.media_type} if _MEDIA_TYPE.fullmatch(hit.media_type) else {}
        add(entry, "link", rel="alternate", href=url, **kind)
    if hit.snippet or not url:
        add(entry, "summary" if url else "content", hit.snippet, type="text")


def _uri(url: Url) -> str:
    """Returns a URL without the characters that browsers leave in a query although no URI may have them (RFC 3986
    §2)."""
    return url.origin + _NOT_IN_URI.sub(lambda match: f"%{ord(match[0]):02X}", url.text.removeprefix(url.origin))


def _updated(hit: Hit, as_of: float) -> str:
    """Returns when the page changed: as its server says, else when it was fetched; if neither is known, `as_of`."""
    return next((text for at in (hit.modified_at, hit.fetched_at) if at and (text := _time_of(at))), _time_of(as_of))


def _time_of(at: float) -> str:
    """Returns a time as RFC 3339 has it; empty if it is before 1970 or beyond the year 9999."""
    try:
        return datetime.fromtimestamp(int(at), UTC).isoformat().replace("+00:00", "Z") if at > 0 else ""
    except (OverflowError, OSError, ValueError):
        return ""
