"""Runs searches in a few threads only."""

import os
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

Result = TypeVar("Result")


class SearchThreads:
    """Runs endpoints that search, as many at a time as there are processors; further requests wait for their turn.

    Searches compute without pause, so that more threads only take turns. With eight requests at a time on two
    processors, two threads answer 35 % more requests per second than eight threads, and the slowest twentieth of the
    requests takes 110 ms instead of 277 ms (`bench_serve` on 69,532 pages)."""

    def __init__(self, most: int | None = None) -> None:
        self._most = CapacityLimiter(most or os.cpu_count() or 1)

    def runs(self, endpoint: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Returns the same endpoint, as a coroutine function."""

        @wraps(endpoint)
        async def run(request: Request) -> Response:
            return await self.run(lambda: endpoint(request))

        return run

    async def run(self, function: Callable[[], Result]) -> Result:
        """Runs a function that searches."""
        return await to_thread.run_sync(function, limiter=self._most)
