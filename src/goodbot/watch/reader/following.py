"""Reads a log while its server writes it (`--follow`), through rotation."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.log_entries import LONGEST_LINE
from goodbot.watch.reader.block_reader import FIELDS

POLL_S: Final = 0.25
"""How often the file is looked at."""


@dataclass(slots=True)
class _Open:
    file: BinaryIO
    identity: tuple[int, int]


class LogFollower:
    """Reads what is appended to one plain log. A log that is renamed is read to its end before the new one is opened;
    one that was truncated is read from its beginning."""

    def __init__(self, path: str, *, from_end: bool = False) -> None:
        self.path = path
        self._open: _Open | None = None
        self._rest = b""
        self._header: str | None = None
        self._from_end = from_end

    def read(self) -> Iterator[Block]:
        """Yields what was appended since the last call, in whole lines; nothing if there is nothing new."""
        current = self._identity()
        if self._open is None:
            self._open_new()
        if self._open is None:
            return
        yield from self._appended(self._open.file)
        if current is not None and current != self._open.identity:
            if self._rest:
                yield Block(self._rest, self.path, self._header)
            self._close()
            self._from_end = False
            self._open_new()
            if self._open is not None:
                yield from self._appended(self._open.file)

    def close(self) -> None:
        """Closes the log."""
        self._close()

    def _identity(self) -> tuple[int, int] | None:
        try:
            info = os.stat(self.path)
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _open_new(self) -> None:
        try:
            file = open(self.path, "rb")  # noqa: SIM115  (`close` closes it)
        except FileNotFoundError:
            return
        info = os.fstat(file.fileno())
        if self._from_end:
            file.seek(0, os.SEEK_END)
        self._open, self._rest = _Open(file, (info.st_dev, info.st_ino)), b""

    def _close(self) -> None:
        if self._open is not None:
            self._open.file.close()
        self._open, self._rest = None, b""

    def _appended(self, file: BinaryIO) -> Iterator[Block]:
        if os.fstat(file.fileno()).st_size < file.tell():
            file.seek(0)
            self._rest = b""
        while data := file.read(BLOCK_BYTES):
            data = self._rest + data
            end = data.rfind(b"\n") + 1
            self._rest = data[end:]
            if len(self._rest) > LONGEST_LINE:
                self._rest = self._rest[: LONGEST_LINE + 1]
            if end:
                yield self._block(data[:end])

    def _block(self, data: bytes) -> Block:
        block = Block(data, self.path, self._header)
        for line in reversed(data.split(b"\n")) if FIELDS in data else ():
            if line.startswith(FIELDS):
                self._header = line.decode("latin-1").rstrip("\r")
                break
        return block


def follow(
    followers: list[LogFollower], wait: Callable[[float], None], is_stopped: Callable[[], bool]
) -> Iterator[Block | None]:
    """Yields blocks of all logs as they come, and None after each look, until it is stopped."""
    while not is_stopped():
        for follower in followers:
            yield from follower.read()
        yield None
        wait(POLL_S)
