"""Closes connections so that their clients can read the last response (RFC 9112 §9.6). If a socket is closed while
input is unread, TCP resets the connection, and the client may lose what it has not read yet."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

LINGER_S: Final = 1.0
"""A connection that closes is kept until its client sends nothing for this time."""
LINGER_MOST_S: Final = 30.0
DISCARDED_BYTES: Final = 16 * 1024 * 1024


class LingeringTransport(asyncio.Transport):
    """The transport of a connection. `close` ends the sending side at once. If `expects_more` says that the client may
    still be sending, the socket stays open until the client has closed it too, at most for the limits above; whatever
    arrives meanwhile goes to `discard`. `on_closing` is called when the connection begins to close."""

    def __init__(
        self, inner: asyncio.Transport, expects_more: Callable[[], bool], on_closing: Callable[[], None]
    ) -> None:
        super().__init__()
        self.linger_s = LINGER_S
        self._inner = inner
        self._expects_more = expects_more
        self._on_closing = on_closing
        self._loop = asyncio.get_running_loop()
        self._is_closing = False
        self._left_bytes = DISCARDED_BYTES
        self._ends_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        if self.is_closing():
            return
        self._is_closing = True
        lingers = self._expects_more()
        self._on_closing()
        if not lingers:
            self._inner.close()
            return
        self._ends_at = self._loop.time() + LINGER_MOST_S
        self._inner.resume_reading()
        self._end_sending()
        self._wait()

    def discard(self, data: bytes) -> None:
        """Takes input that arrives after `close`."""
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            self._inner.close()
        elif not self._inner.is_closing():
            self._wait()

    def hurry(self, seconds: float) -> None:
        """Ends the connection after this time if it lingers."""
        if self._timer is not None and not self._inner.is_closing():
            self._ends_at = self._loop.time() + seconds
            self._wait()

    def abort(self) -> None:
        self._inner.abort()

    def lost(self) -> None:
        """Ends the waiting once the connection is gone."""
        if self._timer is not None:
            self._timer.cancel()

    def is_closing(self) -> bool:
        return self._is_closing or self._inner.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self.is_closing():
            self._inner.write(data)

    def pause_reading(self) -> None:
        if not self.is_closing():
            self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._inner.get_extra_info(name, default)

    def _end_sending(self) -> None:
        """Ends the sending side, unless a part of the response waits for a client that reads slowly."""
        if self._inner.get_write_buffer_size():
            return
        try:
            self._inner.write_eof()
        except OSError:  # the client has reset the connection
            self._inner.abort()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(min(self._loop.time() + self.linger_s, self._ends_at), self._inner.close)
