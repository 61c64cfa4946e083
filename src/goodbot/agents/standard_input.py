"""Reads standard input in lines of bounded length, in a thread that never keeps the process from ending."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from threading import Semaphore, Thread
from typing import Final, Protocol

MAX_LINE_BYTES: Final = 1024 * 1024
"""Longer lines are dropped: no message of a client is that long."""
_READ_BYTES: Final = 64 * 1024
_WAITING: Final = 16
_END: Final = None


class Lines(Protocol):
    """Lines of text, one after another."""

    def __aiter__(self) -> AsyncIterator[str]: ...


class StandardInput:
    """The lines of a file descriptor, with their newline, until its end. The descriptor itself leads to an empty file
    from now on, so that no other part of the process reads from it."""

    def __init__(self, descriptor: int = 0, line_bytes: int = MAX_LINE_BYTES) -> None:
        self._source = os.dup(descriptor)
        self._line_bytes = line_bytes
        self._room = Semaphore(_WAITING)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, descriptor)
        os.close(empty)

    async def __aiter__(self) -> AsyncIterator[str]:
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(line: bytes | None) -> None:
            loop.call_soon_threadsafe(lines.put_nowait, line)

        Thread(target=self._read_into, args=(put,), name="goodbot-stdin", daemon=True).start()
        while (line := await lines.get()) is not _END:
            self._room.release()
            yield line.decode("utf-8", "replace")

    def _read_into(self, put: Callable[[bytes | None], object]) -> None:
        """Puts each line into the queue, and waits while it is full."""
        cutter = LineCutter(self._line_bytes)
        try:
            while piece := os.read(self._source, _READ_BYTES):
                for line in cutter.cut(piece):
                    self._room.acquire()
                    put(line)
            put(_END)
        except (OSError, RuntimeError):  # the other end, or the event loop, is gone
            pass


class LineCutter:
    """Cuts bytes into lines of at most `line_bytes`. Drops longer ones, and an unfinished one at the end."""

    def __init__(self, line_bytes: int = MAX_LINE_BYTES) -> None:
        self._line_bytes = line_bytes
        self._begun = bytearray()
        self._is_dropped = False

    def cut(self, piece: bytes) -> list[bytes]:
        """Returns the lines that end in this piece."""
        *ended, rest = piece.split(b"\n")
        lines = []
        for part in ended:
            self._add(part)
            if not self._is_dropped:
                lines.append(bytes(self._begun) + b"\n")
            self._begun.clear()
            self._is_dropped = False
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> None:
        if self._is_dropped or len(self._begun) + len(part) > self._line_bytes:
            self._is_dropped = True
            self._begun.clear()
        else:
            self._begun += part
