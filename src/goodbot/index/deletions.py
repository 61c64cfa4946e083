"""Reads and writes the files in which an index notes which documents of a segment were removed (`.del`).

Such a file has the number of documents (4 bytes, little-endian), then a bit for each document, 64 in a word, which is 1
unless the document was removed, then the footer that every file of a segment has.
"""

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from isal.isal_zlib import crc32

from goodbot.index.integrity import FOOTER_MAGIC, read_footer

_WORD_BITS: Final = 64


class KeptDocuments:
    """The documents of a segment of `count` documents that were not removed: all, or those of a file."""

    def __init__(self, count: int, file: Path | None = None) -> None:
        size = -(-count // _WORD_BITS) * _WORD_BITS // 8
        self._count = count
        if file is None:
            self._bits = bytearray(((1 << count) - 1).to_bytes(size, "little"))
            return
        data = file.read_bytes()
        if len(data) < 4 + size or struct.unpack_from("<I", data)[0] != count:
            raise ValueError(f"{file} is not about {count} documents")
        self._bits = bytearray(data[4 : 4 + size])

    def has(self, document: int) -> bool:
        """Whether a document was not removed."""
        return bool(self._bits[document >> 3] >> (document & 7) & 1)

    def remove(self, documents: Iterable[int]) -> None:
        """Removes documents."""
        for document in documents:
            self._bits[document >> 3] &= ~(1 << (document & 7))

    def removed(self) -> int:
        """Returns how many were removed."""
        return self._count - int.from_bytes(self._bits, "little").bit_count()

    def write(self, file: Path, like: Path) -> None:
        """Writes them into a new file, with the versions that the footer of the file `like` has. Raises OSError, and
        ValueError if that footer cannot be read."""
        body = struct.pack("<I", self._count) + bytes(self._bits)
        footer = json.dumps({**read_footer(like), "crc": crc32(body)}, separators=(",", ":")).encode()
        file.write_bytes(body + footer + struct.pack("<II", len(footer), FOOTER_MAGIC))
