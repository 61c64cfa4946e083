"""Reads requests from a connection, even those that break the rules of HTTP."""

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import Final

from goodbot.exam.listener import BUFFER_BYTES, HEAD_LIMIT_BYTES

BODY_LIMIT_BYTES: Final = 1024 * 1024
IDLE_TIMEOUT_S: Final = 300.0
"""A connection without a request is closed after this time."""
_LINGER_S: Final = 10.0

_VERSION = re.compile(r"HTTP/1\.\d", re.ASCII)
PLACE: Final = r"(?:(?P<name>[\w.-]+)|\[(?P<address>[0-9A-Fa-f:.]+)\])"
_ABSOLUTE = re.compile(
    rf"(?P<scheme>https?)://{PLACE}(?::(?P<port>\d{{0,5}}))?(?P<rest>[/?].*)?", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request. Its body, if it has one, is skipped.

    `fault` is the status to answer if the request breaks the rules; then the other fields hold what could be read.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    closes: bool
    fault: int | None = None


@dataclass(frozen=True, slots=True)
class AbsoluteTarget:
    """A target in absolute form (RFC 9112 3.2.2): the requested server, and the target in origin form."""

    secure: bool
    host: str
    port: int
    target: str


def parse_absolute(target: str) -> AbsoluteTarget | None:
    """Parses a target in absolute form; returns None for other forms."""
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        return None
    secure = found["scheme"].lower() == "https"
    rest = found["rest"] or "/"
    return AbsoluteTarget(
        secure,
        found["name"] or found["address"],
        int(found["port"] or (443 if secure else 80)),
        rest if rest.startswith("/") else f"/{rest}",
    )


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Reads the next request on a connection. Returns None at its end, or after a long time without a request."""
    try:
        async with asyncio.timeout(IDLE_TIMEOUT_S):
            data = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        return None
    except asyncio.LimitOverrunError:
        return _parsed(await reader.read(HEAD_LIMIT_BYTES), 431)
    head = _parsed(data)
    if head and not head.fault:
        await reader.readexactly(int(_fields(head).get("content-length", "0")))
    return head


async def linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads and drops for a moment what the client still sends. Closing with unread data would reset the connection,
    and the client might lose the response (RFC 9112 9.6)."""
    if writer.can_write_eof():
        writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            while await reader.read(BUFFER_BYTES):
                pass


def _parsed(data: bytes, fault: int | None = None) -> Head | None:
    lines = data.decode("latin-1").lstrip("\r\n").split("\r\n")
    if not lines[0]:
        return None
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.rpartition(" ")
    if not version.startswith("HTTP/"):
        target = rest
    headers = tuple(
        (name.strip(), value.strip()) for name, colon, value in (line.partition(":") for line in lines[1:]) if colon
    )
    head = Head(method, target, headers, closes=True)
    fields = _fields(head)
    if not fault and (" " in target or not (method and target and _VERSION.fullmatch(version))):
        fault = 400
    fault = fault or _length_fault(fields.get("content-length", "0"))
    stays = fields.get("connection", "").lower()
    closes = stays == "close" or (version == "HTTP/1.0" and stays != "keep-alive")
    unread = "transfer-encoding" in fields  # the bytes that follow are a body, not a request
    return Head(method, target, headers, bool(fault or closes or unread), fault)


def _length_fault(length: str) -> int | None:
    if not (length.isascii() and length.isdigit()):
        return 400
    return 413 if len(length) > 9 or int(length) > BODY_LIMIT_BYTES else None


def _fields(head: Head) -> dict[str, str]:
    """Returns the fields by lower-case name; the last one wins."""
    return {name.lower(): value for name, value in head.headers}
