"""Stores what search results show of a document, and its links, as compressed bytes: 1.9 kB for a page of
documentation, which Tantivy's own compression (LZ4) reduces only to 2.8 kB.

Links are kept in columns, without what their URLs have in common: 1.2 kB a page instead of 1.5.
"""

import re
import sys
from collections.abc import Sequence
from itertools import chain
from typing import Final

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_STORED_LINKS: Final = 2_000

StoredLink = tuple[str, str, tuple[tuple[str, str], ...]]
"""URL, anchor text, and pairs of fragment and text."""


class StoredPage(msgspec.Struct, array_like=True, frozen=True):
    """What a document displays. `menus` are ranges of `text`, `sections` pairs of anchor and text. Further fields may
    follow: those that a page lacks have their defaults."""

    id: str
    url: str
    title: str
    text: str
    description: str = ""
    language: str = ""
    fetched_at: float = 0.0
    snippet_chars: int | None = None
    menus: tuple[tuple[int, int], ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    modified_at: float | None = None
    size_bytes: int = 0
    media_type: str = ""
    has_copy: bool = False


_ENCODER = msgspec.msgpack.Encoder()
_COMPRESSOR = zstd.ZstdCompressor(level=5)
"""Level 5 takes 81 µs for a page and its links, level 3 only 38, but level 5 saves 138 bytes. The compressor is reused:
making one takes 8 µs. Threads may share it."""
_PAGE = msgspec.msgpack.Decoder(StoredPage)
_COLUMNS = msgspec.msgpack.Decoder(tuple[str, str])
_SPACES = str.maketrans("\t\n", "  ")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")


def encode_page(page: StoredPage) -> bytes:
    """Encodes a page. Its texts must not have lone surrogates."""
    return _COMPRESSOR.compress(_ENCODER.encode(page), zstd.ZstdCompressor.FLUSH_FRAME)


def decode_page(data: bytes) -> StoredPage:
    """Decodes a page. Raises ValueError if `data` is not from `encode_page`."""
    try:
        return _PAGE.decode(zstd.decompress(data))
    except (zstd.ZstdError, msgspec.DecodeError) as error:
        raise ValueError(str(error)) from error


def encode_links(links: Sequence[StoredLink], page_url: str) -> bytes:
    """Encodes the links of a page; tabs and line ends in texts become spaces. Raises UnicodeEncodeError if a text has a
    lone surrogate."""
    if not links:
        return b""
    folder = page_url[: page_url.rfind("/") + 1]
    places = (url.removeprefix(folder) for url, _, _ in links)
    whole = (url if _SCHEME.match(place) else place for place, (url, _, _) in zip(places, links, strict=True))
    urls = "\n".join(map(_line, (folder, *whole)))
    texts = "\n".join("\t".join(map(_line, (anchor, *chain(*named)))) for _, anchor, named in links)
    return _COMPRESSOR.compress(_ENCODER.encode((urls, texts)), zstd.ZstdCompressor.FLUSH_FRAME)


def _line(text: str) -> str:
    return text.translate(_SPACES) if "\t" in text or "\n" in text else text


def decode_links(data: bytes) -> list[StoredLink]:
    """Decodes links. Raises ValueError if `data` is not from `encode_links`."""
    if not data:
        return []
    try:
        urls, texts = _COLUMNS.decode(zstd.decompress(data))
    except (zstd.ZstdError, msgspec.DecodeError) as error:
        raise ValueError(str(error)) from error
    folder, *places = urls.split("\n")
    return [
        (place if _SCHEME.match(place) else folder + place, anchor, tuple(zip(named[::2], named[1::2], strict=True)))
        for place, (anchor, *named) in zip(places, (text.split("\t") for text in texts.split("\n")), strict=True)
    ]
