"""The loop: lease hosts, visit their URLs, commit what came of it.

Nothing waits for the slowest: each lease is a task of its own, a host that is to rest gives its lease back, and the
loop only hands out leases and commits. Rule of durability: a page's record is flushed before its outcome is committed,
and its links are committed with it.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from goodbot.config import Settings
from goodbot.ports import Archive, Clock, Frontier, Index, IndexQueue, Transport
from goodbot.robot.batch import Batch
from goodbot.robot.permission import Permission, Permit
from goodbot.robot.politeness import Politeness
from goodbot.robot.reading import Reader, Reading
from goodbot.values import Capture, Event, Lease, LeasedUrl, Outcome, Release, Request

PATIENCE_S = 0.25
"""A rest up to this is waited for with the lease in hand; giving it back would take as long (`BATCH_S`)."""
LOOK_S = 60.0
"""The loop looks around at least this often."""

EndReason = Literal["finished", "max-pages", "interrupted"]


class _Visit:
    """One lease under way: the rest of its URLs, and when its host may be asked again."""

    def __init__(self, lease: Lease, now: float) -> None:
        self.host = lease.host
        self.urls: Iterator[LeasedUrl] = iter(lease.urls)
        self.ready_at = now
        self.backoff_s = lease.backoff_s
        self.cut_at = lease.cut_at
        self.ended = False


class Crawler:
    """Crawls until nothing is ready, `max_pages` are visited, or `stop` is called. Ports and rooms are given, none is
    made.

    `observe` is told each outcome after it is committed.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        frontier: Frontier,
        queue: IndexQueue,
        archive: Archive | None,
        index: Index | None,
        transport: Transport,
        permission: Permission,
        politeness: Politeness,
        reader: Reader,
        clock: Clock,
        observe: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        self._settings = settings
        self._frontier = frontier
        self._transport = transport
        self._permission = permission
        self._politeness = politeness
        self._reader = reader
        self._clock = clock
        self._batch = Batch(frontier, queue, archive, index, clock, observe)
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._pages_left: float = float("inf")
        self._stopping = False
        self.in_flight = 0
        self.visited = 0

    def stop(self) -> None:
        """Pages in flight finish, nothing new begins."""
        self._stopping = True
        self._wake.set()

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Gives why it ended. What was visited is committed, however it ends."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            return await self._loop()
        finally:
            await self._end_tasks()
            self._batch.commit_all()

    async def _loop(self) -> EndReason:
        while True:
            if self._error is not None:
                raise self._error
            self._batch.commit_if_due()
            self._lease()
            if not self._tasks:
                self._batch.commit()
                if reason := self._end_reason():
                    return reason
            await self._wait()

    def _end_reason(self) -> EndReason | None:
        if self._stopping:
            return "interrupted"
        if self._pages_left <= 0:
            return "max-pages"
        return "finished" if self._frontier.next_ready_at() is None else None

    def _lease(self) -> None:
        """Starts as many leases as there is room for."""
        room = int(min(self._settings.concurrency - len(self._tasks), self._pages_left))
        if room <= 0 or self._stopping:
            return
        if room > len(self._tasks):
            self._batch.give_back()
        now = self._clock.now()
        for lease in self._frontier.lease(room, self._settings.max_lease_urls, now):
            task = asyncio.create_task(self._drive(_Visit(lease, now)))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._error = self._error or task.exception()
        self._wake.set()

    async def _wait(self) -> None:
        """Until a lease ends, a batch is due, or a host is ready."""
        self._wake.clear()
        timer = asyncio.ensure_future(self._clock.sleep(self._longest_wait_s()))
        waker = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((timer, waker), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            waker.cancel()

    def _longest_wait_s(self) -> float:
        if self._batch:
            return self._batch.due_in_s()
        if len(self._tasks) >= self._settings.concurrency or self._stopping:
            return LOOK_S
        ready_at = self._frontier.next_ready_at()
        return LOOK_S if ready_at is None else min(max(ready_at - self._clock.now(), 0.001), LOOK_S)

    async def _end_tasks(self) -> None:
        """Cancels what is still under way: after an error, or when `run` itself is cancelled."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- one lease --------------------------------------------------------------------------------------------------

    async def _drive(self, visit: _Visit) -> None:
        """The first URL alone, since it shows how long the host wants to rest; then `per_host` at a time."""
        try:
            await self._lane(visit, most=1)
            lanes = self._settings.per_host if visit.ready_at <= self._clock.now() else 1
            await asyncio.gather(*(self._lane(visit) for _ in range(lanes)))
        finally:
            self._batch.release(Release(visit.host, visit.ready_at, visit.backoff_s))

    async def _lane(self, visit: _Visit, most: int | None = None) -> None:
        for number, leased in enumerate(visit.urls, start=1):
            if not await self._may_go_on(visit):
                return
            await self._visit(visit, leased)
            if number == most:
                return

    async def _may_go_on(self, visit: _Visit) -> bool:
        """Waits for a short rest of the host; a long one ends the lease, and its URLs are ready again."""
        rest_s = visit.ready_at - self._clock.now()
        if rest_s > PATIENCE_S:
            visit.ended = True
        elif rest_s > 0:
            await self._clock.sleep(rest_s)
        return not (visit.ended or self._stopping or self._pages_left <= 0)

    async def _visit(self, visit: _Visit, leased: LeasedUrl) -> None:
        permit = await self._permission.check(leased.url)
        if permit.fetched is not None:
            self._rest(visit, permit.fetched, permit.verdict.delay_s)
        elif visit.cut_at is not None:
            rested_at = self._politeness.after_cut(leased.url, permit.verdict.delay_s, visit.cut_at)
            visit.ready_at = max(visit.ready_at, rested_at)
        visit.cut_at = None
        if not permit.verdict.allowed:
            self._refused(visit, leased, permit)
        elif await self._may_go_on(visit):
            await self._fetch(visit, leased, permit)

    async def _fetch(self, visit: _Visit, leased: LeasedUrl, permit: Permit) -> None:
        if self._pages_left <= 0:  # others took the last page while robots.txt was fetched
            return
        self._pages_left -= 1
        self.in_flight += 1
        try:
            request = Request(leased.url, permit.verdict, public_only=leased.public_only)
            capture = await self._transport.send(request)
        finally:
            self.in_flight -= 1
        self._rest(visit, capture, permit.verdict.delay_s)
        reading = self._reader.read(leased, permit.verdict, capture)
        if reading.outcome.state == "visited":
            self.visited += 1
        else:
            self._pages_left += 1
        self._batch.add(reading)

    def _rest(self, visit: _Visit, capture: Capture, asked_delay_s: float | None) -> None:
        rest = self._politeness.after(capture, asked_delay_s, visit.backoff_s)
        visit.ready_at = max(visit.ready_at, rest.ready_at)
        visit.backoff_s = rest.backoff_s

    def _refused(self, visit: _Visit, leased: LeasedUrl, permit: Permit) -> None:
        """robots.txt forbids the URL, or there is none to ask: then the whole host is held off for a while."""
        verdict, now = permit.verdict, self._clock.now()
        event = Event(now, "permission", "disallowed", verdict.reason, verdict.line)
        outcome = Outcome(leased.url, "disallowed", now, verdict.reason, tries=leased.tries, events=(event,))
        if verdict.access == "unreachable" and permit.given_up:
            outcome = replace(outcome, state="failed", events=(replace(event, decision="given up"),))
        elif verdict.access == "unreachable" and verdict.rule is None:
            visit.ready_at = max(visit.ready_at, verdict.valid_until or now)
            visit.ended = True
            outcome = replace(
                outcome, state="ready", ready_at=visit.ready_at, events=(replace(event, decision="held off"),)
            )
        self._batch.add(Reading(outcome))
