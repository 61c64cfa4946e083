"""Speaks HTTP/1.1 with Web servers that ask the gate: one object for each connection.

An answer takes so little time that it is given as soon as the head of a request is there; no task is made for it,
and no framework is needed.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import Final, Protocol

import httptools

from goodbot.gate.answers import Answer

MOST_HEAD_BYTES: Final = 256 * 1024
"""The longest head of a request. Web servers limit a URL to 64 kB at most, and it may be there several times."""

HEAD_TIMEOUT_S: Final = 10.0
"""A head must be complete within this time."""

IDLE_TIMEOUT_S: Final = 120.0
"""How long a connection stays open between two requests."""

MOST_UNREAD_BYTES: Final = 1024 * 1024
"""Answers that a peer may leave unread."""

CLOSE_TIMEOUT_S: Final = 10.0
"""How long a peer may take to read the last answers of a connection that is being closed."""

SWEEP_EVERY_S: Final = 2.0


class Answering(Protocol):
    """What answers requests."""

    def answer(self, method: str, target: str, fields: list[tuple[bytes, bytes]], peer: str | None) -> Answer:
        """Answers a request. `fields` have names in lower case; `peer` is the address of the connection. At once, and
        never raises."""
        ...


class Connections:
    """All open connections, at most `most`. Ends those whose peers take too long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[GateProtocol, None] = {}
        self._all_left = asyncio.Event()
        self.refused = 0
        """Connections that were closed at once, because there were too many."""

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, connection: "GateProtocol") -> bool:
        """Adds a connection; False if there is no place for it."""
        if len(self._open) >= self._most:
            self.refused += 1
            return False
        self._open[connection] = None
        return True

    def leave(self, connection: "GateProtocol") -> None:
        """Removes a connection that has ended."""
        self._open.pop(connection, None)
        if not self._open:
            self._all_left.set()

    def sweep(self, now: float) -> None:
        """Ends connections that have waited too long, at a time of the event loop's clock."""
        for connection in [*self._open]:
            connection.end_if_late(now)

    async def close(self, timeout_s: float) -> None:
        """Ends all connections, after the answers that are written already; waits for this at most `timeout_s`."""
        for connection in [*self._open]:
            connection.close()
        self._all_left.clear()
        if self._open:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_left.wait(), timeout_s)


class GateProtocol(asyncio.Protocol):
    """One connection."""

    def __init__(self, answering: Answering, connections: Connections) -> None:
        self._answering = answering
        self._connections = connections
        self._parser = httptools.HttpRequestParser(self)
        self._parser.set_dangerous_leniencies(lenient_headers=True)  # Web servers pass on control characters in values
        self._transport: asyncio.Transport | None = None
        self._peer: str | None = None
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._in_head = False
        self._has_body = False

    # ---- the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  (asyncio makes no other for a stream)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._peer = peer[0] if isinstance(peer, tuple) else None
        transport.set_write_buffer_limits(high=MOST_UNREAD_BYTES)
        if not self._connections.enter(self):
            transport.write(_last_answer(503))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.leave(self)
        self._transport = None

    def pause_writing(self) -> None:
        """The peer does not read its answers."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._head_bytes += len(data)
        if not self._in_head:
            self._since = self._loop.time()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.close()  # answered already; what follows is no HTTP
        except httptools.HttpParserError:
            self._end_with(400)
        else:
            if self._in_head and self._head_bytes > MOST_HEAD_BYTES:
                self._end_with(431)

    def end_if_late(self, now: float) -> None:
        """Ends the connection if its peer has not completed a head, has sent none for too long, or does not read the
        last answers."""
        late_s = now - self._since
        if self._transport is not None and self._transport.is_closing():
            if late_s > CLOSE_TIMEOUT_S:
                self._transport.abort()
        elif self._in_head and late_s > HEAD_TIMEOUT_S:
            self._end_with(408)
        elif late_s > IDLE_TIMEOUT_S:
            self.close()

    def close(self) -> None:
        """Ends the connection, after the answers that are written already."""
        if self._transport is not None and not self._transport.is_closing():
            self._since = self._loop.time()
            self._transport.close()

    def _end_with(self, status: int) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_last_answer(status))
            self.close()

    # ---- what the parser calls

    def on_message_begin(self) -> None:
        self._target, self._fields, self._has_body, self._in_head = b"", [], False, True
        self._since = self._loop.time()

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._fields.append((name, value))
        if name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 \t")):
            self._has_body = True

    def on_headers_complete(self) -> None:
        """Answers. A body is not waited for: servers name the length of one that they do not pass on. What comes after
        such a head cannot be told apart, so the connection ends; and so after an Upgrade, which the gate refuses."""
        self._in_head, self._head_bytes = False, 0
        if self._transport is None or self._transport.is_closing():
            return
        method = self._parser.get_method().decode("latin-1")
        answer = self._answering.answer(method, self._target.decode("latin-1"), self._fields, self._peer)
        keeps = self._parser.should_keep_alive() and not self._has_body and not self._parser.should_upgrade()
        is_old = self._parser.get_http_version() == "1.0"
        self._transport.write(written(answer, is_head=method == "HEAD", keeps=keeps, is_old=is_old))
        if not keeps:
            self.close()


def written(answer: Answer, *, is_head: bool, keeps: bool, is_old: bool = False) -> bytes:
    """Returns an answer as it is sent. `is_old`: to HTTP/1.0, where a connection ends unless the answer says that it
    does not."""
    body = answer.body.encode("utf-8", "replace")
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.fields]
    if body:
        lines.append(f"Content-Type: {answer.media_type}")
    lines.append(f"Content-Length: {len(body)}")
    if not keeps:
        lines.append("Connection: close")
    elif is_old:
        lines.append("Connection: keep-alive")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    return head if is_head else head + body


def _last_answer(status: int) -> bytes:
    return written(Answer(status, ()), is_head=False, keeps=False)
