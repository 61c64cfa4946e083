"""Adds to a transport what a `Client` needs: why an origin did not answer, and requests to public addresses only."""

import asyncio
from collections import OrderedDict
from dataclasses import replace
from typing import Final

from goodbot.ports import Transport
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request

MAX_FAILURES: Final = 10_000


class FailureRecorder:
    """A `Transport` that remembers why an origin did not answer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._failures: OrderedDict[str, Failure] = OrderedDict()
        self._tasks: set[asyncio.Task[object]] = set()

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            capture = await self._transport.send(request)
        finally:
            if task is not None:
                self._tasks.discard(task)
        self._failures.pop(request.url.origin, None)
        if isinstance(capture.result, Failure):
            self._failures[request.url.origin] = capture.result
            if len(self._failures) > MAX_FAILURES:
                self._failures.popitem(last=False)
        return capture

    async def close(self) -> None:
        """Closes the transport, and ends fetches of robots.txt, which go on after the call that needed them is
        cancelled."""
        for task in self._tasks:
            task.cancel()
        await self._transport.close()

    def of(self, url: Url) -> Failure | None:
        """Why the origin of `url` did not answer the last request; None if it did."""
        return self._failures.get(url.origin)


class PublicOnly:
    """A `Transport` that requests no private address, even if the settings allow it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        return await self._transport.send(replace(request, public_only=True))

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
