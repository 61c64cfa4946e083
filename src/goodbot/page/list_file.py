"""A response that is a sitemap, a sitemap index, a feed or a list of URLs → what it lists.

Told by its content, within the types such files are sent with: everything called XML or gzip, and what has no type or a
vague one if its name says XML. Plain text is a list of URLs if its name ends in `.txt` or has `sitemap` in it, and
every line is a URL.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from goodbot.page.coding import decode_pieces
from goodbot.page.entries import ListKind
from goodbot.page.found import Extract
from goodbot.page.pieces import text_blocks
from goodbot.page.sitemap import BYTES_MOST, ENTRIES_MOST, ListReader, read_lines
from goodbot.url import Url
from goodbot.values import ListedUrl, Response

_XML_TYPES: Final = frozenset({"text/xml", "application/xml", "application/x-rss+xml"})
_NO_LIST: Final = frozenset({"application/xhtml+xml", "image/svg+xml", "application/mathml+xml"})
_PACKED_TYPES: Final = frozenset(
    {"application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped"}
)
_VAGUE_TYPES: Final = frozenset(
    {"", "*/*", "unknown/unknown", "application/unknown", "application/octet-stream", "text/plain", "text/html"}
)
_XML_NAMES: Final = (".xml", ".rss", ".atom", ".rdf")


PIECE: Final = 1000
"""Entries read at a time: 10 ms of CPU, and half a megabyte."""


class ListFile:
    """A sitemap, an index or a feed that is being read; its body is unpacked as it is read."""

    def __init__(self, kind: ListKind, entries: Iterator[ListedUrl], extract: Callable[[], Extract]) -> None:
        self.kind = kind
        self._entries = entries
        self._extract = extract

    def pieces(self) -> Iterator[tuple[ListedUrl, ...]]:
        """Everything it lists, `PIECE` entries at a time. Once only."""
        while piece := tuple(islice(self._entries, PIECE)):
            yield piece

    @property
    def extract(self) -> Extract:
        """What else it says, complete after the last piece."""
        return self._extract()


@dataclass(frozen=True, slots=True)
class Listing:
    """What a sitemap, an index or a feed says; only a feed has title and text."""

    extract: Extract
    listed: tuple[ListedUrl, ...]


def read_listing(url: Url, response: Response, *, text: bool = True) -> Listing | None:
    """What the response at `url` lists; None if it is something else. Never raises.

    At most `BYTES_MOST` are unpacked and `ENTRIES_MOST` entries read. Without `text` a feed has none.
    """
    file = open_listing(url, response, text=text)
    if file is None:
        return None
    listed = tuple(chain.from_iterable(file.pieces()))
    return Listing(file.extract, listed)


def may_list(url: Url, response: Response) -> bool:
    """Whether type and name allow a list: the body is not looked at."""
    stated, name = response.media_type, _name(url)
    return _may_be_xml(stated, name) or _may_be_lines(stated, name)


def open_listing(url: Url, response: Response, *, text: bool = True) -> ListFile | None:
    """The same as `read_listing`, in pieces. Of XML the beginning is read now; a list of URLs, one a line, whole, as
    one bad line makes it a text."""
    stated, name = response.media_type, _name(url)
    if _may_be_xml(stated, name):
        return _markup(url, response, text=text)
    return _lines(response) if _may_be_lines(stated, name) else None


def _name(url: Url) -> str:
    return url.path.lower().removesuffix(".gz")


def _may_be_lines(stated: str, name: str) -> bool:
    return (name.endswith(".txt") or "sitemap" in name) and (stated == "text/plain" or stated in _PACKED_TYPES)


def _may_be_xml(stated: str, name: str) -> bool:
    if stated in _XML_TYPES or (stated.endswith("+xml") and stated not in _NO_LIST):
        return True
    if stated in _PACKED_TYPES:
        return not name.endswith(".txt")
    return stated in _VAGUE_TYPES and name.endswith(_XML_NAMES)


def _markup(url: Url, response: Response, *, text: bool) -> ListFile | None:
    reader = ListReader(url, text=text)
    trouble: list[str] = []
    pieces = decode_pieces(response, BYTES_MOST, trouble.append)
    entries = reader.read(text_blocks(pieces, response.header("content-type")))
    first = list(islice(entries, 1))  # by then the root element is known

    def extract() -> Extract:
        unread = "; ".join(filter(None, (reader.error, *trouble[:1])))
        return Extract(title=reader.title, text=reader.text, language=reader.language, unread=unread)

    return None if reader.kind is None else ListFile(reader.kind, chain(first, entries), extract)


def _lines(response: Response) -> ListFile | None:
    listed: list[ListedUrl] = []
    room = BYTES_MOST
    trouble: list[str] = []
    pieces = decode_pieces(response, BYTES_MOST, trouble.append)
    for url in read_lines(text_blocks(pieces, response.header("content-type"))):
        if url is None:
            return None
        room -= len(url.text)
        if len(listed) == ENTRIES_MOST or room < 0:
            trouble = [f"it lists more than {ENTRIES_MOST} URLs"]
            break
        listed.append(ListedUrl(url))
    return ListFile("sitemap", iter(listed), lambda: Extract(unread="".join(trouble[:1]))) if listed else None
