"""Implements the main loop, which is the same for crawls in one process and in several: lease, commit and wait, until
no URL is ready or `stop` is called.
"""

import asyncio
from abc import ABC, abstractmethod
from typing import Final

from goodbot.live import EndReason
from goodbot.ports import Clock, Leases, Sink

MAX_SLEEP_S: Final = 60.0
"""The loop sleeps no longer than this, since timers do not advance while the machine is suspended."""

GATHER_S: Final = 0.01
"""The loop waits this long so that several hosts become due together: leasing one costs about as much as leasing
ten."""


class CrawlLoop(ABC):
    """Runs the loop of a crawl. Subclasses say how leases are started, and when the crawl is busy or full."""

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
        self.max_sleep_s = MAX_SLEEP_S

    def stop(self) -> None:
        """Ends the crawl: pages in flight finish, no other is requested."""
        self._stopping = True
        self._wake.set()

    def pause(self) -> None:
        """Pauses the crawl: pages in flight finish, no other is requested until `resume`."""
        self._paused = True
        self._wake.set()

    def resume(self) -> None:
        """Ends a pause."""
        self._paused = False
        self._wake.set()

    def wake(self) -> None:
        """Makes the loop check at once whether it can lease something."""
        self._wake.set()

    def fail(self, error: BaseException) -> None:
        """Ends the crawl by an error."""
        self._error = self._error or error
        self._wake.set()

    @abstractmethod
    def _begin(self) -> None:
        """Starts as many leases as there is room for."""

    @abstractmethod
    def _is_busy(self) -> bool:
        """Whether a lease is under way."""

    @abstractmethod
    def _is_full(self) -> bool:
        """Whether there is no room for one more lease."""

    async def _run_loop(self) -> EndReason:
        while True:
            if self._error is not None:
                raise self._error
            self._sink.commit_if_due()
            self._begin()
            if not self._is_busy():
                self._sink.commit()
                if reason := self._reason_to_end():
                    return reason
            await self._wait()

    def _reason_to_end(self) -> EndReason | None:
        if self._stopping:
            return "interrupted"
        if self._pages_left <= 0:
            return "max-pages"
        if self._paused:
            return None
        return "finished" if self._has_finished() else None

    def _has_finished(self) -> bool:
        return self._leases.is_finished()

    def _next_ready_at(self) -> float | None:
        return self._leases.next_ready_at()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """Notes that a task of this crawl has ended. If it failed, its error ends the crawl."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)
        self._wake.set()

    async def _wait(self) -> None:
        """Waits until `wake` is called, a batch is due, or a host is ready. This happens about once a page and takes 17
        µs; with `asyncio.wait` it took 30."""
        self._wake.clear()
        timer = asyncio.ensure_future(self._clock.sleep(self._sleep_s()))
        timer.add_done_callback(self._time_is_up)
        try:
            await self._wake.wait()
        finally:
            timer.remove_done_callback(self._time_is_up)  # cancelling the timer must not set `_wake`
            timer.cancel()

    def _time_is_up(self, timer: asyncio.Future[None]) -> None:
        self._wake.set()

    def _sleep_s(self) -> float:
        sleep_s = min(self._sink.due_in_s(), self.max_sleep_s) if self._sink else self.max_sleep_s
        if self._stopping or self._paused or self._is_full():
            return sleep_s
        ready_at = self._next_ready_at()
        return sleep_s if ready_at is None else min(max(ready_at - self._clock.now(), GATHER_S), sleep_s)
