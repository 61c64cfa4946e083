"""Detects the kind of a file and reads the URLs in it, for the seeds of a crawl."""

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, Literal

from goodbot.exclusion import RobotsTxt
from goodbot.page.encoding import decode_text
from goodbot.page.html import looks_like_html
from goodbot.page.mail import MailUrls, in_html, looks_like_mail, read_mail
from goodbot.page.markup import Markup, attributes_of
from goodbot.page.sitemap import ListReader
from goodbot.page.text_blocks import text_blocks
from goodbot.url import parse_url

HEAD_BYTES: Final = 65_536
"""The length of the beginning that decides the kind."""

PAGE_BYTES: Final = 16 * 1024 * 1024
"""The limit for an HTML page."""

ROBOTS_BYTES: Final = 500 * 1024
"""The limit for a robots.txt, the same as for a robot (RFC 9309 §2.5)."""

FileKind = Literal[
    "list", "sitemap", "sitemap index", "feed", "bookmarks", "web page", "mail", "robots.txt", "binary data"
]
"""A `list` has one URL a line; another module reads it, strictly."""

_BOOKMARKS = re.compile(rb"\s*<!DOCTYPE\s+NETSCAPE-Bookmark-file", re.IGNORECASE)
_ROBOTS = re.compile(rb"(?:\s*+(?:#[^\r\n]*+))*+\s*+(?:user-agent|sitemap|disallow|allow)\s*+:", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"


def kind_of(beginning: bytes) -> FileKind:
    """Returns the kind of a file by its first `HEAD_BYTES`. Never raises."""
    if (kind := _list_kind(beginning)) is not None:
        return kind
    if beginning.startswith((b"%PDF-", b"PK\x03\x04")) or b"\0" in beginning:
        return "binary data"
    beginning = beginning.removeprefix(_BOM)
    if _BOOKMARKS.match(beginning):
        return "bookmarks"
    if looks_like_html(beginning):
        return "web page"
    if looks_like_mail(beginning):
        return "mail"
    return "robots.txt" if _ROBOTS.match(beginning) else "list"


def _list_kind(beginning: bytes) -> FileKind | None:
    reader = ListReader(None, text=False)
    for _ in reader.read(text_blocks([beginning])):
        break
    return reader.kind


def references(kind: FileKind, pieces: Iterable[bytes]) -> MailUrls:
    """Yields the URLs in a file that comes in pieces, and None for each reference that cannot be fetched: one with
    another scheme, or a relative one without a base. Content never makes it raise. For sitemaps, feeds, bookmarks and
    mail, memory does not grow with the file. Raises ValueError for kinds that it does not read."""
    match kind:
        case "sitemap" | "sitemap index" | "feed":
            return _listed(pieces)
        case "bookmarks":
            return _bookmarks(pieces)
        case "web page":
            return in_html(decode_text(_first(pieces, PAGE_BYTES))[0])
        case "mail":
            return read_mail(reader_of(pieces).readline)
        case "robots.txt":
            return map(parse_url, RobotsTxt.parse(_first(pieces, ROBOTS_BYTES)).sitemaps)
    raise ValueError(f"not a file with URLs in it: {kind}")


def _listed(pieces: Iterable[bytes]) -> MailUrls:
    reader = ListReader(None, text=False, max_entries=None)
    for listed in reader.read(text_blocks(pieces)):
        yield listed.url
    for _ in range(reader.skipped):
        yield None


def _bookmarks(pieces: Iterable[bytes]) -> MailUrls:
    """Reads the bookmarks file of a browser tag by tag: icons make such files long."""
    for tag in Markup().tags(text_blocks(pieces)):
        if not tag.closing and tag.name.lower() == "a" and (href := attributes_of(tag).get("href")):
            yield parse_url(href)


def _first(pieces: Iterable[bytes], most: int) -> bytes:
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= most:
            break
    return bytes(held[:most])


class _Pieces(io.RawIOBase):
    """Makes pieces of bytes readable as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def reader_of(pieces: Iterable[bytes]) -> io.BufferedReader:
    """Returns the pieces as a file that can be read line by line."""
    return io.BufferedReader(_Pieces(iter(pieces)), HEAD_BYTES)


def with_head(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Returns the first `HEAD_BYTES`, and an iterator over all pieces including them."""
    rest = iter(pieces)
    head = bytearray()
    while len(head) < HEAD_BYTES and (piece := next(rest, None)) is not None:
        head += piece
    return bytes(head), chain([bytes(head)], rest)
