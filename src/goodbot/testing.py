"""Public fakes for tests of programs that use goodbot: each implements a port and passes its contract suite."""

import asyncio
import heapq
from collections.abc import Callable, Mapping

from goodbot.store.memory import MemoryFrontier
from goodbot.store.memory_archive import MemoryArchive
from goodbot.values import Capture, Failure, Request, Response

__all__ = ["FakeClock", "FakeWeb", "MemoryArchive", "MemoryFrontier"]


class FakeClock:
    """A clock that stands still until everyone sleeps, then jumps to whoever wakes first. Sleeping takes no time."""

    _TURNS = 20  # passes of the event loop without a new sleeper, after which all count as asleep

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self._jumper: asyncio.Task[None] | None = None

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves on by hand; who should have woken meanwhile wakes."""
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._now + max(seconds, 0.0), self._count, future))
        if self._jumper is None or self._jumper.done():
            self._jumper = asyncio.create_task(self._jump())
        await future

    async def _jump(self) -> None:
        while self._sleepers:
            count = self._count
            for _ in range(self._TURNS):
                await asyncio.sleep(0)
            if self._count != count:
                continue
            at, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                self._now = max(self._now, at)
                future.set_result(None)


class FakeWeb:
    """A Transport over answers in memory: a response, a failure, or a function of the request, by URL text.

    What is not there is answered with 404. `requests` are those sent, in order, `times` when; `most_in_flight` counts
    those under way at once.
    """

    def __init__(
        self,
        answers: Mapping[str, Response | Failure | Callable[[Request], Response | Failure]],
        clock: FakeClock,
        *,
        elapsed_s: float = 0.0,
        peer: str | None = None,
    ) -> None:
        self._answers = answers
        self._clock = clock
        self._elapsed_s = elapsed_s
        self._peer = peer
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.most_in_flight = 0
        self._in_flight = 0

    async def send(self, request: Request) -> Capture:
        started = self._clock.now()
        self.requests.append(request)
        self.times.append(started)
        answer = self._answers.get(request.url.text, Response(404, (("content-type", "text/plain"),), b"not found"))
        result = answer(request) if callable(answer) else answer
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await self._clock.sleep(self._elapsed_s)
        finally:
            self._in_flight -= 1
        return Capture(request, result, started, self._elapsed_s, self._peer)

    async def close(self) -> None:
        return None
