"""Answers the requests of one connection. With uvicorn's own protocol a client that sends half a request could keep its
connection open without limit, and one that is refused would often see a reset instead of the answer."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any, Final, cast

import h11
from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from goodbot.web.server.connections import HEAD_BYTES, ConnectionLimit
from goodbot.web.server.last_answers import busy, busy_answer, closing, last_answer, stopping_answer, written
from goodbot.web.server.lingering import LingeringTransport
from goodbot.web.server.strict_requests import StrictConnection

STOP_LINGER_S: Final = 0.3
"""How long connections linger when the server stops."""
STOP_READ_TIMEOUT_S: Final = 1.0
"""A client must read the rest of a response within this time when the server stops."""
_BUSY: Final = written(busy_answer())
_STOPPING: Final = written(stopping_answer())
_TIMED_OUT: Final = last_answer(408)


class BoundedProtocol(H11Protocol):
    """One connection. It ends when its client takes too long to send a request or to read the response."""

    transport: LingeringTransport

    def __init__(self, limit: ConnectionLimit, config: Config, **options: Any) -> None:
        super().__init__(config, **options)
        self.conn = StrictConnection(h11.SERVER, HEAD_BYTES)
        self.app_state = {**self.app_state, "open_connections": limit.count}  # for each request's `state`
        self._limit = limit
        self._read_timeout_s = limit.read_timeout_s
        self._is_last = False
        self._late_answer = _TIMED_OUT
        self._waits_for = ""
        self._send_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether the whole request has arrived and its response is not complete yet."""
        answered = self.cycle is None or self.cycle.response_complete
        return not (answered or self.cycle.more_body or self._read_timer)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        super().connection_made(LingeringTransport(transport, self._expects_more, self._begin_to_close))
        if not self._limit.enter(self):
            self.give_way()
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.transport.lost()
        for timer in (self._send_timer, self._read_timer):
            if timer is not None:
                timer.cancel()
        self._limit.leave(self)

    def data_received(self, data: bytes) -> None:
        """h11 measures only heads that are incomplete, so a head is given to it up to its limit first."""
        if self.transport.is_closing():
            self.transport.discard(data)
        rest = memoryview(data)
        while rest and not self.transport.is_closing():
            is_head = self.conn.their_state is h11.IDLE
            most = max(1, HEAD_BYTES + 1 - len(self.conn.trailing_data[0])) if is_head else len(rest)
            super().data_received(bytes(rest[:most]))
            rest = rest[most:]
            self._update_timer()

    def eof_received(self) -> None:
        """asyncio closes the connection, once the client has read what was written."""
        super().eof_received()
        self._abort_unless_read()

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
            self.transport.write(last_answer(status))
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_unless_read()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._read_timer is not None and not self.transport.is_closing():
            self._read_timer.cancel()
            self._read_timer = None

    def abort(self) -> None:
        """Ends the connection now."""
        self.transport.abort()

    def give_way(self) -> None:
        """Ends soon, because others need the connection: answers 503 to the request that is on its way. Does not wait
        for a client that does not read."""
        if self._read_timer is not None:
            self.transport.abort()
        else:
            self._end_after_request(busy, _BUSY)

    def shutdown(self) -> None:
        """Ends soon, because the server stops: finishes a response that has begun, and answers the request that is on
        its way. Does not wait for a client that does not read."""
        self._read_timeout_s = min(self._read_timeout_s, STOP_READ_TIMEOUT_S)
        if self.transport.is_closing():
            self.transport.hurry(STOP_LINGER_S)
            self._abort_unless_read()
        elif self._read_timer is not None:
            self.transport.abort()
        elif self.is_answering:
            super().shutdown()
        elif self._awaited_part():
            self._end_after_request(closing(cast("ASGIApp", self.app)), _STOPPING)
        else:
            self.transport.close()
        self.transport.linger_s = STOP_LINGER_S

    def _end_after_request(self, app: ASGIApp, late_answer: bytes) -> None:
        """Lets the client finish the request that it sends. If its head is incomplete, `app` will answer it. A client
        that takes too long gets `late_answer`."""
        self.app = app
        self._is_last, self._late_answer = True, late_answer
        if self.cycle is not None:
            self.cycle.keep_alive = False
        self._unset_keepalive_if_required()
        self._waits_for = ""
        self._update_timer()

    def _expects_more(self) -> bool:
        """Whether the client may still be sending something, as far as is known."""
        state = self.conn.their_state
        is_sending = state in (h11.SEND_BODY, h11.ERROR) or (state is h11.IDLE and self.cycle is None)
        return is_sending or bool(self.conn.trailing_data[0]) or self.flow.read_paused

    def _begin_to_close(self) -> None:
        """Ends the request that is being answered, if any."""
        self._limit.end(self)
        self._abort_unless_read()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

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
        if state is h11.IDLE and (self._is_last or not self._is_idle()):  # else uvicorn's keep-alive timer
            return "head"
        return "body" if state is h11.SEND_BODY else ""

    def _is_idle(self) -> bool:
        """Whether the client may wait as long as it likes before it sends its next request."""
        return self.cycle is not None and not self.conn.trailing_data[0]

    def _timeout_s(self, waits_for: str) -> float:
        if self._is_last:
            return self._limit.last_timeout_s
        return self._limit.head_timeout_s if waits_for == "head" else self._limit.body_timeout_s

    def _time_out(self) -> None:
        """Answers 408 (RFC 9110 §15.5.9), or 503 if the connection has to end, unless a response has begun or the
        client has not begun a request; and closes."""
        is_awaited = not self._is_idle() if self._waits_for == "head" else not self.cycle.response_started
        if is_awaited:
            self.transport.write(self._late_answer)
        self.transport.close()

    def _abort_unless_read(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._read_timer = self._later(self._read_timeout_s, self.transport.abort)

    def _later(self, seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, do)
