"""Serves the sites by name through an HTTP proxy that leads nowhere else, for crawlers that can use a proxy."""

import asyncio
import re
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from goodbot.exam.exam_values import TEXT, Reply
from goodbot.exam.listener import Listener
from goodbot.exam.request_head import PLACE, Head, linger, parse_absolute, read_head
from goodbot.exam.site_server import ExamWeb, Origin

MOST_REFUSED: Final = 1000
"""The number of refused requests kept; later ones are answered and forgotten."""
_SHOWN_CHARS: Final = 200

_REFUSAL = Reply(b"This proxy leads to the sites of the exam and nowhere else.\n", 403, (TEXT,))
_AUTHORITY = re.compile(rf"{PLACE}:(?P<port>\d{{1,5}})", re.ASCII)


class ExamProxy:
    """A proxy on loopback that runs while the `async with` block lasts. `refused` lists requests for other servers.

    It answers requests itself, as the origin would, and opens no connections. The origin sees the target in origin
    form. A connection to the proxy counts as one to the origin while a request to it is in progress, a tunnel while it
    lasts. Raises RunError if the port is unavailable.
    """

    def __init__(self, web: ExamWeb, port: int = 0) -> None:
        self.web = web
        self.url = ""
        self.refused: list[str] = []
        self._port = port
        self.listener = Listener()

    async def __aenter__(self) -> Self:
        port = await self.listener.listen("127.0.0.1", self._port, self._converse)
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.listener.stop()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self.web.new_connection()
        while not writer.is_closing():
            head = await read_head(reader)
            if head is None:
                return
            origin, target = self._find_origin(head)
            if origin is None:
                await self._refuse(head, reader, writer)
            elif head.method == "CONNECT" and not head.fault:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self.web.converse(origin, number, reader, writer)
                return
            else:
                with self.web.connected(origin, number):
                    await self.web.answer(origin, replace(head, target=target), number, reader, writer)
            if head.closes:
                return

    def _find_origin(self, head: Head) -> tuple[Origin | None, str]:
        """Returns the requested origin, if it is one of ours, and the target in origin form."""
        if head.method == "CONNECT":
            found = _AUTHORITY.fullmatch(head.target)
            place = (found["name"] or found["address"], int(found["port"])) if found else None
            return (self.web.find(*place), "") if place else (None, "")
        parsed = parse_absolute(head.target)
        origin = self.web.find(parsed.host, parsed.port) if parsed and not parsed.secure else None
        if parsed is None or origin is None or origin.secure:
            return None, ""
        return origin, parsed.target

    async def _refuse(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.refused) < MOST_REFUSED:
            self.refused.append(f"{head.method} {head.target}"[:_SHOWN_CHARS])
        refusal = replace(_REFUSAL, status=head.fault or _REFUSAL.status)
        writer.write(refusal.encode({}, head_only=head.method == "HEAD"))
        await writer.drain()
        if head.fault:
            await linger(reader, writer)
