"""A small real HTTP/2 server over TLS for tests. The test chooses every frame it sends.

    async with Http2Server(authority.server_context("127.0.0.1"), [page, refused]) as server:
        server.url("/")

Clients that offer only HTTP/1.1 get status 200 for every request.
"""

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable, Iterable

from listening import Listening

HEADERS, RST_STREAM, SETTINGS, GOAWAY = 1, 3, 4, 7
ACK = END_STREAM = 1
END_HEADERS = 4
NO_ERROR, REFUSED_STREAM = 0, 7
_PREFACE_BYTES = 24
_OK = b"\x88"  # RFC 7541: indexed field 8, `:status: 200`
_PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Returns a frame (RFC 9113 §4.1)."""
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


Answer = Callable[[asyncio.StreamWriter, int], Awaitable[None]]
"""Answers a request on a stream."""


async def page(writer: asyncio.StreamWriter, stream: int) -> None:
    """Sends status 200 and `hi`."""
    writer.write(frame(HEADERS, END_HEADERS, stream, _OK) + frame(0, END_STREAM, stream, b"hi"))


async def refused(writer: asyncio.StreamWriter, stream: int) -> None:
    """Refuses the stream: the request was not processed (RFC 9113 §8.7)."""
    writer.write(frame(RST_STREAM, 0, stream, struct.pack("!I", REFUSED_STREAM)))


async def goaway(writer: asyncio.StreamWriter, stream: int) -> None:
    """Ends the connection: no request was processed (RFC 9113 §6.8)."""
    writer.write(frame(GOAWAY, 0, 0, struct.pack("!II", 0, NO_ERROR)))
    await writer.drain()
    writer.close()


async def hints_without_end(writer: asyncio.StreamWriter, stream: int) -> None:
    """Sends 3,000 responses with status 103, each with a field that enters the HPACK table; then a page."""
    hint = b"\x08\x03103" + b"\x40\x01x\x64" + b"y" * 100
    writer.write(frame(HEADERS, END_HEADERS, stream, hint) * 3000)
    await page(writer, stream)


class Http2Server(Listening):
    """Answers the requests in order with `answers`, further ones with the last, during the `async with` block."""

    def __init__(self, tls: ssl.SSLContext, answers: Iterable[Answer]) -> None:
        tls.set_alpn_protocols(["h2", "http/1.1"])
        super().__init__(tls)
        self._answers = list(answers)
        self.spoken: list[str] = []

    @property
    def asked(self) -> int:
        """The number of requests received."""
        return len(self.spoken)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            spoken = writer.get_extra_info("ssl_object").selected_alpn_protocol()
            await (self._frames if spoken == "h2" else self._lines)(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass  # the client has left
        finally:
            writer.close()

    async def _lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            self.spoken.append("HTTP/1.1")
            writer.write(_PLAIN)

    async def _frames(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(_PREFACE_BYTES)
        writer.write(frame(SETTINGS, 0, 0))
        while not writer.is_closing():
            head = await reader.readexactly(9)
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:]) & 0x7FFFFFFF
            await reader.readexactly(int.from_bytes(head[:3]))
            if kind == SETTINGS and not flags & ACK:
                writer.write(frame(SETTINGS, ACK, 0))
            if kind == HEADERS:
                self.spoken.append("HTTP/2")
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                await answer(writer, stream)
                await writer.drain()
