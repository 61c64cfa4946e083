"""A response that is a sitemap, a sitemap index, a feed or a list of URLs → what it lists.

Told by its content, within the types such files are sent with: everything called XML or gzip, and what has no type or a
vague one if its name says XML. Plain text is a list of URLs if its name ends in `.txt` or has `sitemap` in it, and
every line is a URL.
"""

from dataclasses import dataclass
from typing import Final

from goodbot.page.coding import decode_pieces
from goodbot.page.found import Extract
from goodbot.page.pieces import text_blocks
from goodbot.page.sitemap import BYTES_MOST, ENTRIES_MOST, ListReader, read_lines
from goodbot.url import Url
from goodbot.values import Listed, Response

_XML_TYPES: Final = frozenset({"text/xml", "application/xml", "application/x-rss+xml"})
_NO_LIST: Final = frozenset({"application/xhtml+xml", "image/svg+xml", "application/mathml+xml"})
_PACKED_TYPES: Final = frozenset(
    {"application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped"}
)
_VAGUE_TYPES: Final = frozenset(
    {"", "*/*", "unknown/unknown", "application/unknown", "application/octet-stream", "text/plain", "text/html"}
)
_XML_NAMES: Final = (".xml", ".rss", ".atom", ".rdf")


@dataclass(frozen=True, slots=True)
class Listing:
    """What a sitemap, an index or a feed says; only a feed has title and text."""

    extract: Extract
    listed: tuple[Listed, ...]


def read_listing(url: Url, response: Response, *, text: bool = True) -> Listing | None:
    """What the response at `url` lists; None if it is something else. Never raises.

    At most `BYTES_MOST` are unpacked and `ENTRIES_MOST` entries read. Without `text` a feed has none.
    """
    stated = response.media_type
    name = url.path.lower().removesuffix(".gz")
    if _may_be_xml(stated, name):
        return _markup(url, response, text=text)
    may_be_lines = name.endswith(".txt") or "sitemap" in name
    return _lines(response) if may_be_lines and (stated == "text/plain" or stated in _PACKED_TYPES) else None


def _may_be_xml(stated: str, name: str) -> bool:
    if stated in _XML_TYPES or (stated.endswith("+xml") and stated not in _NO_LIST):
        return True
    if stated in _PACKED_TYPES:
        return not name.endswith(".txt")
    return stated in _VAGUE_TYPES and name.endswith(_XML_NAMES)


def _markup(url: Url, response: Response, *, text: bool) -> Listing | None:
    reader = ListReader(url, text=text)
    trouble: list[str] = []
    pieces = decode_pieces(response, BYTES_MOST, trouble.append)
    listed = tuple(reader.read(text_blocks(pieces, response.header("content-type"))))
    if reader.kind is None:
        return None
    unread = "; ".join(filter(None, (reader.error, *trouble[:1])))
    found = Extract(title=reader.title, text=reader.text, language=reader.language, unread=unread)
    return Listing(found, listed)


def _lines(response: Response) -> Listing | None:
    listed: list[Listed] = []
    room = BYTES_MOST
    trouble: list[str] = []
    pieces = decode_pieces(response, BYTES_MOST, trouble.append)
    for url in read_lines(text_blocks(pieces, response.header("content-type"))):
        if url is None:
            return None
        room -= len(url.text)
        if len(listed) == ENTRIES_MOST or room < 0:
            return Listing(Extract(unread=f"it lists more than {ENTRIES_MOST} URLs"), tuple(listed))
        listed.append(Listed(url))
    return Listing(Extract(unread="".join(trouble[:1])), tuple(listed)) if listed else None
