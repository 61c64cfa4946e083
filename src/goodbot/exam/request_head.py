"""What a request says: read from a connection, also where it breaks the rules of HTTP."""

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import Final

from goodbot.exam.listener import BUFFER_BYTES, HEAD_LIMIT_BYTES

BODY_LIMIT_BYTES: Final = 1024 * 1024
IDLE_S: Final = 300.0
"""After how long a connection on which nothing is asked is closed."""
_LINGERS_S: Final = 10.0

_VERSION = re.compile(r"HTTP/1\.\d", re.ASCII)
PLACE: Final = r"(?:(?P<name>[\w.-]+)|\[(?P<address>[0-9A-Fa-f:.]+)\])"
_ABSOLUTE = re.compile(
    rf"(?P<scheme>https?)://{PLACE}(?::(?P<port>\d{{0,5}}))?(?P<rest>[/?].*)?", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Head:
    """A request as read: its body, if it had one, is passed over.

    `fault` is the status to be answered to one that breaks the rules; such a one is told as far as it was read.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    closes: bool
    fault: int | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """A target in absolute form (RFC 9112 3.2.2): whom it is for, and what it would be in origin form."""

    secure: bool
    host: str
    port: int
    target: str


def absolute(target: str) -> Whole | None:
    """What a target in absolute form says; None if it is in another."""
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        return None
    secure = found["scheme"].lower() == "https"
    rest = found["rest"] or "/"
    return Whole(
        secure,
        found["name"] or found["address"],
        int(found["port"] or (443 if secure else 80)),
        rest if rest.startswith("/") else f"/{rest}",
    )


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next request on a connection; None at its end, or if nothing is asked for long."""
    try:
        async with asyncio.timeout(IDLE_S):
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
    """Passes over for a moment what the client still sends: left unread, it would make the end of the connection a
    reset, and the answer might be lost (RFC 9112 9.6)."""
    if writer.can_write_eof():
        writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGERS_S):
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
    fault = fault or _fault_of_length(fields.get("content-length", "0"))
    stays = fields.get("connection", "").lower()
    closes = stays == "close" or (version == "HTTP/1.0" and stays != "keep-alive")
    unread = "transfer-encoding" in fields  # what follows is a body, and no request
    return Head(method, target, headers, bool(fault or closes or unread), fault)


def _fault_of_length(length: str) -> int | None:
    if not (length.isascii() and length.isdigit()):
        return 400
    return 413 if len(length) > 9 or int(length) > BODY_LIMIT_BYTES else None


def _fields(head: Head) -> dict[str, str]:
    """By name in lower case; of several the last."""
    return {name.lower(): value for name, value in head.headers}
