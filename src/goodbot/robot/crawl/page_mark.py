"""Records which page a robot process is reading, in memory shared with its owner, so that it survives its death.

If the page is suspected of killing its reader, its answer goes into the same file, behind the URL.
"""

import mmap
import os
import tempfile
from contextlib import suppress
from typing import Final, Self

from goodbot.url import Url

SIZE: Final = 4096
_LENGTH: Final = 2


class PageMark:
    """One URL, or none. Costs 0.5 µs a page. Of a URL of more than 4 kB the beginning is kept."""

    def __init__(self, descriptor: int) -> None:
        """Of a file of `SIZE` bytes, which stays open until `close`."""
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, SIZE)
        self._keeps = False

    @classmethod
    def new(cls) -> Self:
        """In a file without a name."""
        with tempfile.TemporaryFile() as file:
            file.truncate(SIZE)
            return cls(os.dup(file.fileno()))

    def begin(self, url: Url) -> None:
        """This page is read from now on."""
        self._drop_answer()
        octets = _octets(url)
        self._memory[_LENGTH : _LENGTH + len(octets)] = octets
        self._memory[:_LENGTH] = len(octets).to_bytes(_LENGTH)

    def keep(self, answer: bytes) -> None:
        """The answer of the page that is read, until another begins or this one ends; a full disk keeps none."""
        self._keeps = True
        with suppress(OSError):
            done = 0
            while done < len(answer):
                done += os.pwrite(self.descriptor, memoryview(answer)[done:], SIZE + done)
            return
        self._drop_answer()

    def end(self) -> None:
        """No page is read."""
        self._memory[:_LENGTH] = bytes(_LENGTH)
        self._drop_answer()

    def answer(self) -> bytes:
        """What `keep` was given last; nothing if the page has ended, or was not suspected."""
        return os.pread(self.descriptor, os.fstat(self.descriptor).st_size - SIZE, SIZE)

    def _drop_answer(self) -> None:
        if self._keeps:
            os.ftruncate(self.descriptor, SIZE)
            self._keeps = False

    def is_on(self, url: Url) -> bool:
        """Whether this page is being read, or was when the process died."""
        length = int.from_bytes(self._memory[:_LENGTH])
        return self._memory[_LENGTH : _LENGTH + length] == _octets(url)

    def close(self) -> None:
        """Gives memory and file back."""
        self._memory.close()
        os.close(self.descriptor)


class NoPageMark:
    """For a process without an owner."""

    def begin(self, url: Url) -> None:
        """See `PageMark.begin`."""

    def keep(self, answer: bytes) -> None:
        """See `PageMark.keep`."""

    def end(self) -> None:
        """See `PageMark.end`."""


def _octets(url: Url) -> bytes:
    return url.text.encode("utf-8", "surrogatepass")[: SIZE - _LENGTH]
