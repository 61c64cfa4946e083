"""The loop: lease hosts, visit their URLs, commit what came of it.

Nothing waits for the slowest: each lease is a task of its own, a host that is to rest gives its lease back, and the
loop only hands out leases and commits. Rule of durability: a page's record is flushed before its outcome is committed,
and its links are committed with it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from goodbot.config import Settings
from goodbot.exclusion.timing import Timing
from goodbot.ports import Clock, LessonStore, Transport
from goodbot.robot.neighbours import Neighbours
from goodbot.robot.permission import ORIGINS_MOST, Permission, Permit
from goodbot.robot.politeness import Politeness, Rest, asked_gap_s, opens_at
from goodbot.robot.reading import Reader, Reading
from goodbot.robot.rendering import Renderer
from goodbot.robot.rounds import EndReason, Leases, Rounds, Sink
from goodbot.url import Url
from goodbot.values import (
    Capture,
    Discovery,
    Event,
    Lease,
    LeasedUrl,
    Lesson,
    Outcome,
    Release,
    Request,
    Response,
    Said,
)

PATIENCE_S = 0.25
"""A rest up to this is waited for with the lease in hand; giving it back would take as long (`BATCH_S`)."""
HOSTS_GIVEN_UP_MOST = 50_000


class _Visit:
    """One lease under way: the rest of its URLs, when its host may be asked again, how many requests are in flight."""

    def __init__(self, lease: Lease, now: float) -> None:
        self.host = lease.host
        self.urls: Iterator[LeasedUrl] = iter(lease.urls)
        self.ready_at = now
        self.backoff_s = lease.backoff_s
        self.backed_off_at = 0.0
        self.cut_at = lease.cut_at
        self.in_flight = 0
        self.ended = False
        self.sitemaps: dict[str, tuple[Discovery, ...]] = {}

    def hold(self, until: float) -> None:
        """The host is not asked before `until`, and the lease ends."""
        self.ready_at = max(self.ready_at, until)
        self.ended = True


class Crawler(Rounds):
    """Crawls until nothing is ready, `max_pages` are visited, or `stop` is called. Ports and rooms are given, none is
    made."""

    def __init__(
        self,
        settings: Settings,
        *,
        leases: Leases,
        sink: Sink,
        transport: Transport,
        permission: Permission,
        politeness: Politeness,
        reader: Reader,
        clock: Clock,
        renderer: Renderer | None = None,
        lessons: LessonStore | None = None,
    ) -> None:
        super().__init__(leases, sink, clock)
        self._settings = settings
        self._transport = transport
        self._permission = permission
        self._politeness = politeness
        self._reader = reader
        self._renderer = renderer
        self._lessons = lessons
        self._recalled: set[str] = set()
        self._neighbours = Neighbours(settings.address_delay)
        self._given_up: dict[str, float] = {}
        self._sitemaps_told: set[str] = set()
        self._left: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.in_flight = 0

    def leave(self, host: str) -> None:
        """What is in flight to the host finishes, and nothing more is asked of it in this run."""
        self._left.add(host)

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Gives why it ended. What was visited is committed, however it ends."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            return await self._rounds()
        finally:
            await self._end_tasks()
            self._sink.commit_all()

    def _is_busy(self) -> bool:
        return bool(self._tasks)

    def _is_full(self) -> bool:
        return len(self._tasks) >= self._settings.concurrency

    def _begin(self) -> None:
        """Starts as many leases as there is room for."""
        room = int(min(self._settings.concurrency - len(self._tasks), self._pages_left))
        if room <= 0 or self._stopping or self._paused:
            return
        if room > len(self._tasks):
            self._sink.give_back()
        now = self._clock.now()
        leases = self._leases.lease(room, self._settings.max_lease_urls, now)
        self._recall(leases)
        for lease in leases:
            task = asyncio.create_task(self._drive(_Visit(lease, now)))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _recall(self, leases: Sequence[Lease]) -> None:
        """What was learned about hosts that this run has not met yet."""
        hosts = {lease.host for lease in leases} - self._recalled
        if hosts and self._lessons is not None:
            if len(self._recalled) >= ORIGINS_MOST:
                self._recalled.clear()  # what is learned twice does no harm
            self._recalled |= hosts
            self.learn(self._lessons.load_lessons(sorted(hosts)), self._lessons.load_said(sorted(hosts)))

    def learn(self, lessons: Sequence[Lesson], said: Sequence[Said]) -> None:
        """Takes what was learned before, or elsewhere, and what pages in the index say."""
        self._reader.experience.take(lessons)
        self._reader.experience.remember(said)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._ended(task)

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
            self._sink.release(Release(visit.host, visit.ready_at, visit.backoff_s, visit.cut_at))

    async def _lane(self, visit: _Visit, most: int | None = None) -> None:
        for number, leased in enumerate(visit.urls, start=1):
            if not await self._may_go_on(visit):
                return
            await self._visit(visit, leased)
            if number == most:
                return

    async def _may_go_on(self, visit: _Visit) -> bool:
        """Waits for a short rest of the host; a long one ends the lease, and its URLs are ready again."""
        while not (visit.ended or self._stopping or self._paused or self._pages_left <= 0 or visit.host in self._left):
            rest_s = visit.ready_at - self._clock.now()
            if rest_s <= 0:
                return True
            if rest_s > PATIENCE_S:
                visit.ended = True
            else:
                await self._clock.sleep(rest_s)
        return False

    async def _visit(self, visit: _Visit, leased: LeasedUrl) -> None:
        """One URL, unless its host's address is another host's at the moment: then it is ready again."""
        now = self._clock.now()
        refused = self._reader.refused(leased, now)
        if refused is not None:
            self._put(refused)
        elif self._given_up.get(visit.host, 0.0) > now:
            self._put(Reading(self._reader.settle(leased, _given_up(leased, now))))
        else:
            address, until = self._neighbours.claim(visit.host, now)
            if address is None:
                visit.hold(until)
                return
            try:
                await self._ask(visit, leased)
            except asyncio.CancelledError:
                visit.cut_at = self._clock.now()
                raise
            finally:
                self._neighbours.release(address, self._clock.now())

    async def _ask(self, visit: _Visit, leased: LeasedUrl) -> None:
        permit = await self._permission.check(leased.url)
        if permit.fetched is not None:
            self._rest(visit, permit.fetched, permit.timing)
        elif visit.cut_at is not None:
            rested_at = self._politeness.after_cut(leased.url, permit.timing, visit.cut_at)
            visit.ready_at = max(visit.ready_at, rested_at)
        visit.cut_at = None
        self._look_for_sitemaps(visit, leased.url, permit)
        self._reader.experience.hears(leased.url.origin, permit.clean_params)
        if not permit.verdict.allowed:
            self._refused(visit, leased, permit)
            return
        await self._sink.has_room()
        if not self._is_shut(visit, leased, permit) and await self._may_go_on(visit):
            await self._fetch(visit, leased, permit)

    def _is_shut(self, visit: _Visit, leased: LeasedUrl, permit: Permit) -> bool:
        """Whether the host's Visit-time keeps us out: then it rests until that opens."""
        now = self._clock.now()
        until = opens_at(permit.timing, now)
        if until > now:
            visit.hold(until)
            reason = permit.timing.at(now).reason
            event = Event(now, "permission", "held off", reason)
            outcome = Outcome(leased.url, "ready", now, reason, tries=leased.tries, ready_at=until, events=(event,))
            self._add(visit, Reading(self._reader.settle(leased, outcome)))
        return until > now

    async def _fetch(self, visit: _Visit, leased: LeasedUrl, permit: Permit) -> None:
        if visit.in_flight and asked_gap_s(permit.timing, self._clock.now()):  # of another origin of the host
            visit.ended = True
        if visit.ended or self._is_shut(visit, leased, permit):
            return
        self._pages_left -= 1
        self.in_flight += 1
        visit.in_flight += 1
        try:
            conditions = self._reader.conditions(leased)
            request = Request(leased.url, permit.verdict, conditions, public_only=leased.public_only)
            capture = await self._transport.send(request)
        finally:
            self.in_flight -= 1
            visit.in_flight -= 1
        rest = self._rest(visit, capture, permit.timing)
        if rest.given_up:  # for robots.txt, which has an end of its own, nothing is given up
            self._give_up(visit.host, rest.ready_at)
        if isinstance(capture.result, Response):
            self._permission.answered(leased.url)
        rendered = await self._renderer.render(capture) if self._renderer is not None else None
        if rendered is not None:
            visit.ready_at = max(visit.ready_at, rendered.ready_at)
        page = await self._reader.documents.read(capture)
        reading = self._reader.read(leased, permit.verdict, capture, rendered, page)
        self._reader.experience.settled(reading.outcome)
        if (learned := self._reader.experience.news()) and self._lessons is not None:
            self._lessons.save_lessons(learned)
        if rest.reason:
            event = Event(capture.fetched_at, "settle", "rest", rest.reason)
            reading = replace(reading, outcome=replace(reading.outcome, events=(*reading.outcome.events, event)))
        if reading.outcome.state == "visited":
            self.visited += 1
        else:
            self._pages_left += 1
        self._add(visit, reading)

    def _rest(self, visit: _Visit, capture: Capture, timing: Timing) -> Rest:
        """Each answer may make the rest of its host longer, never shorter. One that asks for a rest while others are
        under way ends the lease: only one at a time can keep a distance."""
        if not self._settings.proxy:
            self._neighbours.learn(visit.host, capture)
        rest = self._politeness.after(capture, timing, visit.backoff_s, visit.backed_off_at)
        if rest.backoff_s != visit.backoff_s:
            visit.backoff_s, visit.backed_off_at = rest.backoff_s, self._clock.now()
        visit.ready_at = max(visit.ready_at, rest.ready_at)
        visit.ended = visit.ended or (visit.in_flight > 0 and rest.ready_at > self._clock.now())
        return rest

    def _give_up(self, host: str, ready_at: float) -> None:
        if len(self._given_up) >= HOSTS_GIVEN_UP_MOST:
            self._given_up.clear()  # a host asked once too often costs less than a list without end
        self._given_up[host] = ready_at + self._settings.given_up_rest

    def _refused(self, visit: _Visit, leased: LeasedUrl, permit: Permit) -> None:
        """robots.txt forbids the URL, or there is none to ask: then the whole host is held off for a while."""
        verdict, now = permit.verdict, self._clock.now()
        event = Event(now, "permission", "disallowed", verdict.reason, verdict.line)
        outcome = Outcome(leased.url, "disallowed", now, verdict.reason, tries=leased.tries, events=(event,))
        if verdict.access == "unreachable" and permit.given_up:
            outcome = replace(outcome, state="failed", events=(event._replace(decision="given up"),))
        elif verdict.access == "unreachable" and verdict.rule is None:
            visit.hold(verdict.valid_until or now)
            outcome = replace(
                outcome, state="ready", ready_at=visit.ready_at, events=(event._replace(decision="held off"),)
            )
        self._add(visit, Reading(self._reader.settle(leased, outcome)))

    def _look_for_sitemaps(self, visit: _Visit, url: Url, permit: Permit) -> None:
        """Those of an origin are told with the next reading of it, once in each run: what a run that was killed has not
        told, the next one does."""
        if permit.sitemaps and url.origin not in self._sitemaps_told and url.origin not in visit.sitemaps:
            visit.sitemaps[url.origin] = self._reader.following.sitemaps(url.robots_txt, permit.sitemaps)

    def _add(self, visit: _Visit, reading: Reading) -> None:
        if visit.sitemaps:
            if len(self._sitemaps_told) >= ORIGINS_MOST:
                self._sitemaps_told.clear()  # what is told twice does no harm
            self._sitemaps_told.update(visit.sitemaps)
            reading = replace(reading, sitemaps=tuple(chain.from_iterable(visit.sitemaps.values())))
            visit.sitemaps.clear()
        self._put(reading)

    def _put(self, reading: Reading) -> None:
        """The first of a batch wakes the loop, which then waits until that is due, however long the lease lasts."""
        waiting = bool(self._sink)
        self._sink.add(reading)
        if not waiting:
            self._wake.set()


def _given_up(leased: LeasedUrl, now: float) -> Outcome:
    why = "its host was in trouble, or did not answer, too often in a row"
    event = Event(now, "fetch", "given up", why)
    return Outcome(leased.url, "failed", now, why, tries=leased.tries, events=(event,))
