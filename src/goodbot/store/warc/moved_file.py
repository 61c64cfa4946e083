"""Reads a WARC file at the place it was moved to, as if it was local."""

import errno
import io
import os
from typing import TYPE_CHECKING

from goodbot.errors import RunError
from goodbot.places.place import Place

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

NEAR_BYTES = 64 * 1024
"""Read at once for a single record."""
ALL_BYTES = 1024 * 1024
"""Read at once by those who read through a file."""


class MovedFile(io.RawIOBase):
    """The file `name` at a place. `size`: the bytes that it should have; a longer file is read no further, a shorter
    one ends earlier. Reading raises FileNotFoundError if the file is not there, RunError if the place cannot be
    read."""

    def __init__(self, place: Place, name: str, size: int) -> None:
        super().__init__()
        self._place = place
        self._name = name
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        before = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if before + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = before + offset
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        length = min(len(view), self._size - self._at)
        if length <= 0:
            return 0
        data = self._read(length)[:length]
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, length: int) -> bytes:
        try:
            data = self._place.read(self._name, self._at, length)
        except RunError:
            there = self._there()  # some places refuse to read behind the end of a file
            if there is None or there > self._at:
                raise
            return b""
        if data is None:
            if not self._place.list(""):
                raise RunError(f"{self._place.name} has no files, but {self._name} was moved there: is it mounted?")
            url = f"{self._place.name.rstrip('/')}/{self._name}"
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url)
        return data

    def _there(self) -> int | None:
        """Returns how long the file at the place is; None if it is not there, or if that cannot be found out."""
        try:
            return self._place.list("").get(self._name)
        except RunError:
            return None
