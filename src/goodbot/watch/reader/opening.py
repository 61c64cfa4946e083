"""Opens a log: a file or standard input, plain or compressed. The compression is recognized by its first bytes."""

import bz2
import io
import lzma
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from isal import igzip_lib, isal_zlib

from goodbot.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN: Final = "-"

PIECE_BYTES: Final = 1024 * 1024
"""Bytes that are read, and decompressed, in one go."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Compressed data that could not be read to its end. What comes before is counted."""

    source: str
    at_byte: int
    """The place in the log, decompressed."""
    reason: str


class _Decompressor(Protocol):
    """What the decompressors of bz2, lzma, zstd and isal have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


def _gzip() -> _Decompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


_FORMATS: Final[tuple[tuple[bytes, str, Callable[[], _Decompressor]], ...]] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"BZh", "bzip2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", "xz", lzma.LZMADecompressor),
    (b"\x28\xb5\x2f\xfd", "zstd", zstd.ZstdDecompressor),
)

_ERRORS: Final[tuple[type[Exception], ...]] = (
    OSError,
    EOFError,
    ValueError,
    lzma.LZMAError,
    zstd.ZstdError,
    cast("type[Exception]", isal_zlib.error),  # its stub says that it is an instance
)


class LogStream:
    """The bytes of one log, decompressed. Close it after use."""

    def __init__(self, source: str, file: BinaryIO, size: int | None) -> None:
        self.source = source
        self.size = size
        """Bytes of the file; None if it is not known (standard input)."""
        self.position = 0
        """Bytes of the file that were read."""
        self.damage: Damage | None = None
        self._file = file
        self._given = 0
        self._first = self._take()
        self._format = next((entry for entry in _FORMATS if self._first.startswith(entry[0])), None)

    @property
    def is_compressed(self) -> bool:
        return self._format is not None

    def pieces(self) -> Iterator[bytes]:
        """Yields the bytes of the log, at most `PIECE_BYTES` at once. Damaged data ends it, and sets `damage`."""
        for piece in self._decompressed() if self._format else self._plain():
            self._given += len(piece)
            yield piece

    def seek(self, place: int) -> bool:
        """Goes to a place of a plain file before anything is read. Returns False if this file cannot do that."""
        if self._format is not None or self.size is None:
            return False
        self._file.seek(place)
        self.position = self._given = place
        self._first = b""
        return True

    def head(self, most: int) -> bytes:
        """Returns the first bytes of the log, and begins anew. Only for files."""
        head = b""
        for piece in self.pieces():
            head += piece
            if len(head) >= most:
                break
        self.rewind()
        return head[:most]

    def rewind(self) -> None:
        """Goes back to the beginning. Only for files."""
        self._file.seek(0)
        self.position = self._given = 0
        self.damage = None
        self._first = self._take()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _take(self) -> bytes:
        data = self._file.read(PIECE_BYTES)
        self.position += len(data)
        return data

    def _plain(self) -> Iterator[bytes]:
        piece, self._first = self._first, b""
        while piece := piece or self._take():
            yield piece
            piece = b""

    def _decompressed(self) -> Iterator[bytes]:
        assert self._format is not None  # noqa: S101  (the caller has looked)
        magic, name, make = self._format
        data, self._first = self._first, b""
        decompressor = make()
        while True:
            try:
                piece = decompressor.decompress(data, PIECE_BYTES)
            except _ERRORS as error:
                self._damaged(f"damaged {name} data ({error})")
                return
            if piece:
                yield piece
            data = b""
            if decompressor.eof:
                data = decompressor.unused_data.lstrip(b"\0") or self._take().lstrip(b"\0")
                if not data:
                    return
                if not data.startswith(magic[: len(data)]):
                    self._damaged(f"something else follows the {name} data")
                    return
                decompressor = make()
            elif decompressor.needs_input or not piece:
                data = self._take()
                if not data:
                    self._damaged(f"the {name} data ends early")
                    return

    def _damaged(self, reason: str) -> None:
        self.damage = Damage(self.source, self._given, reason)


def open_log(source: str) -> LogStream:
    """Opens a log by its path, or standard input by `-`. Raises InputError if it cannot be opened."""
    try:
        if source == STDIN:
            return LogStream("standard input", io.BufferedReader(io.FileIO(0, closefd=False)), None)
        file = Path(source).open("rb")  # noqa: SIM115  (LogStream closes it)
        info = os.fstat(file.fileno())
        return LogStream(source, file, info.st_size if stat.S_ISREG(info.st_mode) else None)
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error
