"""An HTTP proxy that leads to the exam and nowhere else: sites by name, for crawlers that can be given a proxy."""

import asyncio
import re
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from goodbot.exam.exam_values import TEXT, Reply
from goodbot.exam.listener import Listener
from goodbot.exam.request_head import PLACE, Head, absolute, linger, read_head
from goodbot.exam.site_server import ExamWeb, Origin

MOST_REFUSED: Final = 1000
"""Refusals kept; later ones are answered and forgotten."""
_SHOWN_CHARS: Final = 200

_REFUSAL = Reply(b"This proxy leads to the sites of the exam and nowhere else.\n", 403, (TEXT,))
_AUTHORITY = re.compile(rf"{PLACE}:(?P<port>\d{{1,5}})", re.ASCII)


class ExamProxy:
    """Listens on loopback while the `async with` block lasts. `url` is its own; `refused` what was asked in vain.

    Requests are answered here, as the origin would: no connection goes out. An origin sees the target in origin form; a
    connection to the proxy counts as one to the origin while it asks something there, a tunnel while it lasts.
    Raises RunError if the port cannot be had.
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
            origin, target = self._meant(head)
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

    def _meant(self, head: Head) -> tuple[Origin | None, str]:
        """Whom a request is for, if it is one of ours, and what the origin is to see."""
        if head.method == "CONNECT":
            found = _AUTHORITY.fullmatch(head.target)
            place = (found["name"] or found["address"], int(found["port"])) if found else None
            return (self.web.find(*place), "") if place else (None, "")
        whole = absolute(head.target)
        origin = self.web.find(whole.host, whole.port) if whole and not whole.secure else None
        if whole is None or origin is None or origin.secure:
            return None, ""
        return origin, whole.target

    async def _refuse(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.refused) < MOST_REFUSED:
            self.refused.append(f"{head.method} {head.target}"[:_SHOWN_CHARS])
        refusal = replace(_REFUSAL, status=head.fault or _REFUSAL.status)
        writer.write(refusal.encode({}, head_only=head.method == "HEAD"))
        await writer.drain()
        if head.fault:
            await linger(reader, writer)
