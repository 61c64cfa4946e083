"""Records which page a worker is reading, in memory shared with the coordinator, so that the record survives the
worker.

If the page is suspected of killing its reader, its answer goes into the same file, after the URL.
"""

import mmap
import os
import tempfile
from contextlib import suppress
from typing import Final, Self

from goodbot.url import Url

MARK_BYTES: Final = 4096
_LENGTH: Final = 2


class PageMark:
    """Holds one URL or none. Takes 0.5 µs per page. It holds only the beginning of a URL longer than 4 kB."""

    def __init__(self, descriptor: int) -> None:
        """Uses a file of `MARK_BYTES` bytes, which stays open until `close`."""
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, MARK_BYTES)
        self._keeps = False

    @classmethod
    def new(cls) -> Self:
        """Makes a mark in a file without a name."""
        with tempfile.TemporaryFile() as file:
            file.truncate(MARK_BYTES)
            return cls(os.dup(file.fileno()))

    def begin(self, url: Url) -> None:
        """Records that this page is being read."""
        self._drop_answer()
        octets = _octets(url)
        self._memory[_LENGTH : _LENGTH + len(octets)] = octets
        self._memory[:_LENGTH] = len(octets).to_bytes(_LENGTH)

    def keep(self, answer: bytes) -> None:
        """Stores the answer of the page being read until `end`, or until the next page begins. If the disk is full,
        stores nothing."""
        self._keeps = True
        with suppress(OSError):
            done = 0
            while done < len(answer):
                done += os.pwrite(self.descriptor, memoryview(answer)[done:], MARK_BYTES + done)
            return
        self._drop_answer()

    def end(self) -> None:
        """Records that no page is being read."""
        self._memory[:_LENGTH] = bytes(_LENGTH)
        self._drop_answer()

    def answer(self) -> bytes:
        """Returns the answer stored by `keep`; empty if reading the page has ended, or it was not suspected."""
        return os.pread(self.descriptor, os.fstat(self.descriptor).st_size - MARK_BYTES, MARK_BYTES)

    def _drop_answer(self) -> None:
        if self._keeps:
            os.ftruncate(self.descriptor, MARK_BYTES)
            self._keeps = False

    def is_on(self, url: Url) -> bool:
        """Whether this page is being read, or was when the process died."""
        length = int.from_bytes(self._memory[:_LENGTH])
        return self._memory[_LENGTH : _LENGTH + length] == _octets(url)

    def close(self) -> None:
        """Frees the memory and closes the file."""
        self._memory.close()
        os.close(self.descriptor)


class NoPageMark:
    """Records nothing: for a process without a coordinator."""

    def begin(self, url: Url) -> None:
        """See `PageMark.begin`."""

    def keep(self, answer: bytes) -> None:
        """See `PageMark.keep`."""

    def end(self) -> None:
        """See `PageMark.end`."""


def _octets(url: Url) -> bytes:
    return url.text.encode("utf-8", "surrogatepass")[: MARK_BYTES - _LENGTH]
