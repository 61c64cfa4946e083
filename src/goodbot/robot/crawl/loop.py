"""What a crawl in one process and one with several have in common: rounds of leasing, committing and waiting, until
nothing is ready or it is told to stop."""

import asyncio
from abc import ABC, abstractmethod
from typing import Final

from goodbot.live import EndReason
from goodbot.ports import Clock, Leases, Sink

LOOK_S: Final = 60.0
"""The loop looks around at least this often: the clock of a machine that was asleep has stood still."""

GATHER_S: Final = 0.01
"""A host that is due waits so long for others: to lease one costs about as much as to lease ten."""


class CrawlLoop(ABC):
    """The rounds of a crawl. Who inherits says how leases are begun, and when it is busy or full."""

    def __init__(self, leases: Leases, sink: Sink, clock: Clock) -> None:
        self._leases = leases
        self._sink = sink
        self._clock = clock
        self._wake = asyncio.Event()
        self._error: BaseException | None = None
        self._pages_left: float = float("inf")
        self._stopping = False
        self._paused = False
        self.visited = 0
        self.look_s = LOOK_S

    def stop(self) -> None:
        """Pages in flight finish, nothing new begins."""
        self._stopping = True
        self._wake.set()

    def pause(self) -> None:
        """Pages in flight finish, and nothing new begins until `resume`."""
        self._paused = True
        self._wake.set()

    def resume(self) -> None:
        """Goes on."""
        self._paused = False
        self._wake.set()

    def wake(self) -> None:
        """There may be something to lease."""
        self._wake.set()

    @abstractmethod
    def _begin(self) -> None:
        """Leases as much as there is room for."""

    @abstractmethod
    def _is_busy(self) -> bool:
        """Whether a lease is under way."""

    @abstractmethod
    def _is_full(self) -> bool:
        """Whether there is no room for one more."""

    async def _rounds(self) -> EndReason:
        while True:
            if self._error is not None:
                raise self._error
            self._sink.commit_if_due()
            self._begin()
            if not self._is_busy():
                self._sink.commit()
                if reason := self._end_reason():
                    return reason
            await self._wait()

    def _end_reason(self) -> EndReason | None:
        if self._stopping:
            return "interrupted"
        if self._pages_left <= 0:
            return "max-pages"
        if self._paused:
            return None
        return "finished" if self._leases.next_ready_at() is None else None

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task of this crawl has ended; its error ends the crawl."""
        if not task.cancelled() and task.exception() is not None:
            self._error = self._error or task.exception()
        self._wake.set()

    async def _wait(self) -> None:
        """Until something happens, a batch is due, or a host is ready."""
        self._wake.clear()
        timer = asyncio.ensure_future(self._clock.sleep(self._longest_wait_s()))
        waker = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((timer, waker), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            waker.cancel()

    def _longest_wait_s(self) -> float:
        longest_s = min(self._sink.due_in_s(), self.look_s) if self._sink else self.look_s
        if self._stopping or self._paused or self._is_full():
            return longest_s
        ready_at = self._leases.next_ready_at()
        return longest_s if ready_at is None else min(max(ready_at - self._clock.now(), GATHER_S), longest_s)
