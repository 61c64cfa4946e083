"""Limits the number of connections, and how long each one waits for its client. With uvicorn's own protocol a client
that sends half a request could keep its connection open without limit."""

import asyncio
import resource
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from goodbot.web.server.security_headers import HEADERS

HEAD_TIMEOUT_S: Final = 10.0
"""A client must send the head of a request within this time: from the start of the connection, or from the first byte
of a later request."""
HEAD_BYTES: Final = 16 * 1024
"""The limit for the head of a request."""
BODY_TIMEOUT_S: Final = 30.0
"""A client must send the body of a request within this time; the longest form has 1.6 MB."""
READ_TIMEOUT_S: Final = 30.0
"""A client must read the next part of a response within this time, or the whole rest once the connection closes."""
SHUTDOWN_TIMEOUT_S: Final = 1.0
MAX_CONNECTIONS: Final = 256


def _response(status: int, *fields: str) -> bytes:
    """Makes a response without a body, after which the connection closes."""
    security = (f"{name}: {value}" for name, value in HEADERS.items())
    first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
    lines = (first, *fields, "Connection: close", "Content-Length: 0", *security)
    return "\r\n".join((*lines, "", "")).encode("ascii")


_TIMEOUT_RESPONSE: Final = _response(408)
_BUSY_RESPONSE: Final = _response(503, "Retry-After: 10")


def connections_most() -> int:
    """Returns `MAX_CONNECTIONS`, or half the number of files that the process may open if that is less."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if limit == resource.RLIM_INFINITY else max(8, min(MAX_CONNECTIONS, limit // 2))


class ConnectionLimit:
    """Holds the open connections of one server, the oldest first, and the time limits for each."""

    def __init__(
        self,
        most: int,
        head_timeout_s: float = HEAD_TIMEOUT_S,
        body_timeout_s: float = BODY_TIMEOUT_S,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> None:
        self.head_timeout_s = head_timeout_s
        self.body_timeout_s = body_timeout_s
        self.read_timeout_s = read_timeout_s
        self._most = most
        self._open: dict[BoundedProtocol, None] = {}

    def protocol(self, config: Config, **options: Any) -> "BoundedProtocol":
        """Makes the protocol of one connection, for uvicorn."""
        return BoundedProtocol(self, config, **options)

    def enter(self, protocol: "BoundedProtocol") -> bool:
        """Adds a connection. At the limit it closes the oldest one that waits for its client; returns False if every
        connection is being answered."""
        if len(self._open) >= self._most:
            oldest = next((each for each in self._open if not each.is_answering), None)
            if oldest is None:
                return False
            del self._open[oldest]
            oldest.transport.abort()
        self._open[protocol] = None
        return True

    def count(self) -> int:
        """Returns the number of open connections."""
        return len(self._open)

    def leave(self, protocol: "BoundedProtocol") -> None:
        """Removes a connection that has ended."""
        self._open.pop(protocol, None)


class BoundedProtocol(H11Protocol):
    """One connection. It ends when its client takes too long to send a request or to read the response."""

    def __init__(self, limit: ConnectionLimit, config: Config, **options: Any) -> None:
        super().__init__(config, **options)
        self.app_state = {**self.app_state, "open_connections": limit.count}  # for each request's `state`
        self._limit = limit
        self._waits_for = ""
        self._send_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether the whole request has arrived and its response is not complete yet."""
        answered = self.cycle is None or self.cycle.response_complete
        return not (answered or self.cycle.more_body or self._read_timer)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        super().connection_made(transport)
        if self._limit.enter(self):
            self._update_timer()
        else:
            transport.write(_BUSY_RESPONSE)
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit.leave(self)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self._send_timer, self._read_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """h11 measures only heads that are incomplete, so a head is given to it up to its limit first."""
        rest = memoryview(data)
        while rest and not self.transport.is_closing():
            is_head = self.conn.their_state is h11.IDLE
            most = max(1, HEAD_BYTES + 1 - len(self.conn.trailing_data[0])) if is_head else len(rest)
            super().data_received(bytes(rest[:most]))
            rest = rest[most:]
            self._update_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_timer()

    def send_400_response(self, msg: str) -> None:
        """Answers what is not a request, or one whose head is too long; uvicorn calls this while it handles the
        error."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if status == 431 and b"\n" not in self.conn.trailing_data[0]:
            status = 414  # it did not even get to the end of its first line (RFC 9110 §15.5.15)
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            self.transport.write(_response(status))
        self._close()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_unless_read(self._limit.read_timeout_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._read_timer is not None and not self.transport.is_closing():
            self._read_timer.cancel()
            self._read_timer = None

    def shutdown(self) -> None:
        """Finishes a response that has begun. Does not wait for a client that is still sending, or that does not
        read."""
        if self.is_answering:
            super().shutdown()
        elif self._read_timer is not None:
            self.transport.abort()
        else:
            self._close(SHUTDOWN_TIMEOUT_S)

    def _update_timer(self) -> None:
        """Restarts the timer only when the connection begins to wait for something else, so that a client cannot extend
        the limit by sending a byte now and then."""
        waits_for = "" if self.transport.is_closing() else self._awaited_part()
        if waits_for != self._waits_for:
            self._waits_for = waits_for
            if self._send_timer is not None:
                self._send_timer.cancel()
            self._send_timer = self._later(self._timeout_s(waits_for), self._time_out) if waits_for else None

    def _awaited_part(self) -> str:
        """Returns which part of a request the client has to send now: `head`, `body` or none."""
        state = self.conn.their_state
        if state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):  # else uvicorn's keep-alive timer
            return "head"
        return "body" if state is h11.SEND_BODY else ""

    def _timeout_s(self, waits_for: str) -> float:
        return self._limit.head_timeout_s if waits_for == "head" else self._limit.body_timeout_s

    def _time_out(self) -> None:
        """Answers 408 (RFC 9110 §15.5.9) unless a response has begun, and closes."""
        if self._waits_for == "head" or not self.cycle.response_started:
            self.transport.write(_TIMEOUT_RESPONSE)
        self._close()

    def _close(self, read_timeout_s: float | None = None) -> None:
        self.transport.close()
        self._abort_unless_read(self._limit.read_timeout_s if read_timeout_s is None else read_timeout_s)

    def _abort_unless_read(self, seconds: float) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._read_timer = self._later(seconds, self.transport.abort)

    def _later(self, seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, do)
