"""Limits the number of connections, and how long each waits for its client. With uvicorn's own protocol a client that
sends half a request holds its connection for as long as it likes."""

import asyncio
import resource
from collections.abc import Callable
from typing import Any, Final

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
"""For the head of a request, from its first byte, or from the beginning of the connection."""
BODY_S: Final = 30.0
"""For the body of a request: the longest form has 1.6 MB."""
READ_S: Final = 30.0
"""For a client to read a part of an answer, or all of the remaining answer when the connection is closed."""
SHUTDOWN_S: Final = 1.0
CONNECTIONS_MOST: Final = 256

_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_NO_ROOM: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


def connections_most() -> int:
    """`CONNECTIONS_MOST`, or half of the files that the process may open if that is less."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS_MOST if limit == resource.RLIM_INFINITY else max(8, min(CONNECTIONS_MOST, limit // 2))


class ConnectionLimit:
    """The connections of one server, the oldest first, and how long each may wait."""

    def __init__(self, most: int, head_s: float = HEAD_S, body_s: float = BODY_S, read_s: float = READ_S) -> None:
        self.head_s = head_s
        self.body_s = body_s
        self.read_s = read_s
        self._most = most
        self._open: dict[BoundedProtocol, None] = {}

    def protocol(self, config: Config, **options: Any) -> "BoundedProtocol":
        """What uvicorn makes for each connection."""
        return BoundedProtocol(self, config, **options)

    def enter(self, protocol: "BoundedProtocol") -> bool:
        """Makes room by closing the oldest connection that is not being answered. False if there is none."""
        if len(self._open) >= self._most:
            oldest = next((each for each in self._open if not each.is_answering), None)
            if oldest is None:
                return False
            del self._open[oldest]
            oldest.transport.abort()
        self._open[protocol] = None
        return True

    def leave(self, protocol: "BoundedProtocol") -> None:
        """The connection has ended."""
        self._open.pop(protocol, None)


class BoundedProtocol(H11Protocol):
    """A connection that ends when its client takes too long to send a request, or to read the answer."""

    def __init__(self, room: ConnectionLimit, config: Config, **options: Any) -> None:
        super().__init__(config, **options)
        self._room = room
        self._waits_for = ""
        self._patience: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether the whole request is here, and the answer is under way."""
        answered = self.cycle is None or self.cycle.response_complete
        return not (answered or self.cycle.more_body or self._reading)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        super().connection_made(transport)
        if self._room.enter(self):
            self._watch()
        else:
            transport.write(_NO_ROOM)
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.leave(self)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self._patience, self._reading):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._has_to_read(self._room.read_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None and not self.transport.is_closing():
            self._reading.cancel()
            self._reading = None

    def shutdown(self) -> None:
        """Finishes an answer that is under way; does not wait for a client that is still sending, or does not read."""
        if self.is_answering:
            super().shutdown()
        elif self._reading is not None:
            self.transport.abort()
        else:
            self._close(SHUTDOWN_S)

    def _watch(self) -> None:
        """Restarts the timer only if the connection waits for something else: a byte now and then prolongs nothing."""
        waits_for = "" if self.transport.is_closing() else self._awaited()
        if waits_for != self._waits_for:
            self._waits_for = waits_for
            if self._patience is not None:
                self._patience.cancel()
            self._patience = self._later(self._limit_s(waits_for), self._too_slow) if waits_for else None

    def _awaited(self) -> str:
        state = self.conn.their_state
        if state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):  # else kept alive, by uvicorn
            return "head"
        return "body" if state is h11.SEND_BODY else ""

    def _limit_s(self, waits_for: str) -> float:
        return self._room.head_s if waits_for == "head" else self._room.body_s

    def _too_slow(self) -> None:
        """RFC 9110 §15.5.9."""
        if self._waits_for == "head" or not self.cycle.response_started:
            self.transport.write(_TOO_SLOW)
        self._close()

    def _close(self, linger_s: float | None = None) -> None:
        self.transport.close()
        self._has_to_read(self._room.read_s if linger_s is None else linger_s)

    def _has_to_read(self, seconds: float) -> None:
        if self._reading is not None:
            self._reading.cancel()
        self._reading = self._later(seconds, self.transport.abort)

    def _later(self, seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, do)
