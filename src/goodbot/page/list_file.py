"""Reads responses that are sitemaps, sitemap indexes, feeds or lists of URLs.

The content decides, among responses whose type allows such a file: all XML and gzip types, and no type or a vague one
if the name says XML. Plain text is a list of URLs if its name ends in `.txt` or contains `sitemap`, and every line is a
URL.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from goodbot.page.coding import decode_pieces
from goodbot.page.entries import ListKind
from goodbot.page.extract import Extract
from goodbot.page.sitemap import MAX_ENTRIES, MAX_LIST_BYTES, ListReader, read_lines
from goodbot.page.text_blocks import text_blocks
from goodbot.page.well_formed import WellFormedness, XmlFlaw
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


BATCH_ENTRIES: Final = 1000
"""The number of entries read at a time: 10 ms of CPU, and half a megabyte."""


class ListFile:
    """A sitemap, an index or a feed being read. Its body is decompressed as it is read."""

    def __init__(
        self,
        kind: ListKind,
        entries: Iterator[ListedUrl],
        extract: Callable[[], Extract],
        flaw: Callable[[], XmlFlaw | None] = lambda: None,
    ) -> None:
        self.kind = kind
        self._entries = entries
        self._extract = extract
        self._flaw = flaw

    def pieces(self) -> Iterator[tuple[ListedUrl, ...]]:
        """Yields all entries, `BATCH_ENTRIES` at a time. It can be read once only."""
        while piece := tuple(islice(self._entries, BATCH_ENTRIES)):
            yield piece

    @property
    def extract(self) -> Extract:
        """The title, text and language of the file, complete after the last piece."""
        return self._extract()

    @property
    def flaw(self) -> XmlFlaw | None:
        """Why search engines may reject the file, if it was opened with `check`: it is not well-formed, or its data is
        damaged or ends early. Complete after the last piece."""
        return self._flaw()


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of a sitemap, an index or a feed; only a feed has title and text."""

    extract: Extract
    listed: tuple[ListedUrl, ...]


def read_listing(url: Url, response: Response, *, text: bool = True) -> Listing | None:
    """Reads the list in the response at `url`; returns None if it is something else. Never raises.

    Decompresses at most `MAX_LIST_BYTES` and reads at most `MAX_ENTRIES`. Without `text` a feed has none.
    """
    file = open_listing(url, response, text=text)
    if file is None:
        return None
    listed = tuple(chain.from_iterable(file.pieces()))
    return Listing(file.extract, listed)


def may_list(url: Url, response: Response) -> bool:
    """Whether type and name allow a list; does not examine the body."""
    stated, name = response.media_type, _name(url)
    return _may_be_xml(stated, name) or _may_be_lines(stated, name)


def open_listing(url: Url, response: Response, *, text: bool = True, check: bool = False) -> ListFile | None:
    """Works like `read_listing`, in pieces. It reads the beginning of XML now, but a list with one URL a line
    completely, because one bad line makes it an ordinary text. With `check` it also looks for a flaw of XML."""
    stated, name = response.media_type, _name(url)
    if _may_be_xml(stated, name):
        return _markup(url, response, text=text, check=check)
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


def _markup(url: Url, response: Response, *, text: bool, check: bool) -> ListFile | None:
    reader = ListReader(url, text=text)
    problems: list[str] = []
    pieces = decode_pieces(response, MAX_LIST_BYTES, problems.append)
    blocks = text_blocks(pieces, response.header("content-type"))
    checking = WellFormedness()
    entries = reader.read(checking.passing(blocks) if check else blocks)
    first = list(islice(entries, 1))  # reads the root element

    def extract() -> Extract:
        unread = "; ".join(filter(None, (reader.error, *problems[:1])))
        return Extract(title=reader.title, text=reader.text, language=reader.language, unread=unread)

    def flaw() -> XmlFlaw | None:
        if check and response.truncated == "length":  # the rest was not stored
            return None
        return XmlFlaw(problems[0]) if check and problems else checking.flaw

    return None if reader.kind is None else ListFile(reader.kind, chain(first, entries), extract, flaw)


def _lines(response: Response) -> ListFile | None:
    listed: list[ListedUrl] = []
    room = MAX_LIST_BYTES
    problems: list[str] = []
    pieces = decode_pieces(response, MAX_LIST_BYTES, problems.append)
    for url in read_lines(text_blocks(pieces, response.header("content-type"))):
        if url is None:
            return None
        room -= len(url.text)
        if len(listed) == MAX_ENTRIES or room < 0:
            problems = [f"it lists more than {MAX_ENTRIES} URLs"]
            break
        listed.append(ListedUrl(url))
    return ListFile("sitemap", iter(listed), lambda: Extract(unread="".join(problems[:1]))) if listed else None
