"""Connections to a gate over real sockets: what is sent and what comes back, octet by octet."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Self

from goodbot.gate.answers import Answer
from goodbot.gate.gate_protocol import Answering, Connections, GateProtocol

WITHIN_S: Final = 60.0
"""A bound for what happens soon."""


@dataclass(slots=True)
class Teller:
    """Answers every request with its method and target, and keeps what it was given."""

    requests: list[tuple[str, str, list[tuple[bytes, bytes]], str | None]] = field(default_factory=list)
    body: str = ""

    def answer(self, method: str, target: str, fields: list[tuple[bytes, bytes]], peer: str | None) -> Answer:
        self.requests.append((method, target, fields, peer))
        return Answer(200, (("X-Seen", f"{method} {target[:100]}"),), self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came. Names of fields are in lower case."""

    version: str
    status: int
    fields: dict[str, str]
    body: bytes


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int, host: str = "127.0.0.1") -> Self:
        return cls(*await asyncio.open_connection(host, port, limit=2**20))

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        try:
            await self._writer.drain()
        except ConnectionError:
            pass  # the gate has ended the connection: what it said can still be read

    async def reply(self, *, of_head: bool = False) -> Reply:
        """Reads one answer; `of_head`: of a HEAD request, which has no body."""
        head = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), WITHIN_S)
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        version, status, _ = first.split(" ", 2)
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = 0 if of_head else int(fields["content-length"])
        body = await asyncio.wait_for(self._reader.readexactly(size), WITHIN_S)
        return Reply(version, int(status), fields, body)

    async def ask(self, data: bytes) -> Reply:
        await self.send(data)
        return await self.reply()

    async def rest(self) -> bytes:
        """Reads until the gate ends the connection, and closes it."""
        try:
            return await asyncio.wait_for(self._reader.read(), WITHIN_S)
        except ConnectionError:
            return b""
        finally:
            await self.close()

    def half_close(self) -> None:
        try:
            self._writer.write_eof()
        except OSError:
            pass  # the gate was first

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            pass  # the gate was first


@dataclass(frozen=True, slots=True)
class Listening:
    """A gate that listens."""

    port: int
    connections: Connections

    async def asked(self, data: bytes) -> Reply:
        """Sends one request over a connection of its own."""
        wire = await Wire.to(self.port)
        reply = await wire.ask(data)
        await wire.close()
        return reply


@asynccontextmanager
async def listening_gate(
    answering: Answering, most: int = 100, host: str = "127.0.0.1", kernel_bytes: int = 0
) -> AsyncIterator[Listening]:
    """Serves `answering` on a free port of loopback. `kernel_bytes`: how much of its answers the kernel takes; 0: as
    much as it likes."""
    loop, connections = asyncio.get_running_loop(), Connections(most)
    server = await loop.create_server(lambda: GateProtocol(answering, connections), host, 0)
    if kernel_bytes:
        server.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, kernel_bytes)
    try:
        yield Listening(server.sockets[0].getsockname()[1], connections)
    finally:
        server.close()
        await connections.close(WITHIN_S)


async def until(condition: Callable[[], object]) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():  # noqa: ASYNC110  (what is waited for announces nothing)
            await asyncio.sleep(0.01)


def get(target: str = "/", *lines: str, method: str = "GET") -> bytes:
    """Returns a request with these header lines."""
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: gate.test", *lines, "", ""]).encode("latin-1")
