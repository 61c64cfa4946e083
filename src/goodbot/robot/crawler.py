"""The loop: lease hosts, visit their URLs, commit what came of it.

Nothing waits for the slowest: each lease is a task of its own, a host that is to rest gives its lease back, and the
loop only hands out leases and commits. Rule of durability: a page's record is flushed before its outcome is committed,
and its links are committed with it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from goodbot.config import Settings
from goodbot.exclusion.timing import Timing
from goodbot.exclusion.walls import Wall
from goodbot.lessons import Lesson, Said
from goodbot.ports import Clock, LessonStore, Transport
from goodbot.robot.bodies import FREE_BYTES
from goodbot.robot.given_up import GivenUp, given_up
from goodbot.robot.host_visit import HostVisit
from goodbot.robot.neighbours import Neighbours
from goodbot.robot.permission import ORIGINS_MOST, Permission, Permit
from goodbot.robot.politeness import Politeness, Rest, asked_gap_s, opens_at
from goodbot.robot.reading import Reader, Reading
from goodbot.robot.rendering import Renderer
from goodbot.robot.rounds import EndReason, Leases, Rounds, Sink
from goodbot.robot.walled import wall_of_answer
from goodbot.url import Url
from goodbot.values import Capture, Event, Found, Lease, LeasedUrl, Outcome, Release, Request, Response

PATIENCE_S = 0.25
"""A rest up to this is waited for with the lease in hand; giving it back would take as long (`BATCH_S`)."""


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
        left: set[str] | None = None,
    ) -> None:
        """`left`: hosts that are asked nothing; `leave` adds to them, and the transport heeds them as well."""
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
        self._given_up = GivenUp(clock, settings.given_up_rest)
        self._sitemaps_told: set[str] = set()
        self._left = set[str]() if left is None else left
        self._tasks: set[asyncio.Task[None]] = set()
        self.in_flight = 0

    def leave(self, host: str) -> None:
        """What is in flight to the host finishes, and nothing more is asked of it in this run."""
        self._left.add(host)

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        """These are in force no more."""
        self._reader.experience.take(lessons)
        self.wake()

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
        return self._room() <= 0

    def _room(self) -> int:
        """Leases that may be begun."""
        return int(min(self._settings.concurrency - len(self._tasks), self._pages_left))

    def _begin(self) -> None:
        """Starts as many leases as there is room for."""
        room = self._room()
        if room <= 0 or self._stopping or self._paused:
            return
        if room > len(self._tasks):
            self._sink.give_back()
        now = self._clock.now()
        leases = self._leases.lease(room, self._settings.max_lease_urls, now)
        self._recall(leases)
        for lease in leases:
            task = asyncio.create_task(self._drive(HostVisit(lease, self._ready_at(lease.host, now))))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _ready_at(self, host: str, now: float) -> float:
        """When a leased host may be asked: it may have been asked for the robots.txt of another meanwhile."""
        ready_at = self._permission.pace.ready_at(host)
        if ready_at - now <= self._settings.retry_after_most:
            return max(now, ready_at)
        if self._given_up.why(host) is None:
            most_s = self._settings.retry_after_most
            why = f"it asks for no requests for more than {most_s:g} s (retry_after_most in goodbot.toml)"
            self._given_up.leave_alone(host, why, ready_at)
        return now

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

    async def _drive(self, visit: HostVisit) -> None:
        """The first URL alone, since it shows how long the host wants to rest; then `per_host` at a time."""
        try:
            await self._lane(visit, most=1)
            lanes = self._settings.per_host if visit.ready_at <= self._clock.now() else 1
            await asyncio.gather(*(self._lane(visit) for _ in range(lanes)))
        finally:
            has_more = visit.found_more or visit.given >= self._settings.max_lease_urls
            if has_more and self._given_up.is_left_alone(visit.host):
                visit.ready_at = self._clock.now()  # they are to fail now as well
            self._sink.release(Release(visit.host, visit.ready_at, visit.backoff_s, visit.cut_at))

    async def _lane(self, visit: HostVisit, most: int | None = None) -> None:
        for number, leased in enumerate(visit.urls, start=1):
            if not await self._may_go_on(visit):
                return
            await self._visit(visit, leased)
            if number == most:
                return

    async def _may_go_on(self, visit: HostVisit) -> bool:
        """Waits for a short rest of the host; a long one ends the lease, and its URLs are ready again."""
        while not (self._stopping or self._paused or self._pages_left <= 0 or visit.host in self._left):
            if self._given_up.is_left_alone(visit.host):
                return True  # nothing is asked
            if visit.ended:
                return False
            rest_s = visit.ready_at - self._clock.now()
            if rest_s <= 0:
                return True
            if rest_s > PATIENCE_S:
                visit.ended = True
            else:
                await self._clock.sleep(rest_s)
        return False

    async def _visit(self, visit: HostVisit, leased: LeasedUrl) -> None:
        """One URL, unless its host's address is another host's at the moment: then it is ready again."""
        now = self._clock.now()
        refused = self._reader.refused(leased, now)
        if refused is not None:
            self._put(refused)
        elif (why := self._given_up.why(visit.host)) is not None:
            self._put(Reading(self._reader.settle(leased, given_up(leased, now, why))))
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

    async def _ask(self, visit: HostVisit, leased: LeasedUrl) -> None:
        permit = await self._permission.check(leased.url, public_only=leased.public_only)
        if permit.fetched is not None:
            self._rest(visit, permit.fetched, permit.timing)
        elif visit.cut_at is not None:
            rested_at = self._politeness.after_cut(leased.url, permit.timing, visit.cut_at)
            visit.ready_at = max(visit.ready_at, rested_at)
        if too_slow := self._politeness.too_slow(permit.timing, self._clock.now()):
            self._given_up.leave_alone(visit.host, too_slow)
        visit.cut_at = None
        self._look_for_sitemaps(visit, leased.url, permit)
        self._reader.experience.hears(leased.url.origin, permit.clean_params)
        is_open = permit.verdict.allowed or permit.verdict.rule is None
        if is_open and self._given_up.is_left_alone(visit.host) and (why := self._given_up.why(visit.host)) is not None:
            outcome = given_up(leased, self._clock.now(), why)
            self._add(visit, Reading(self._reader.settle(leased, outcome)))
            return
        if not permit.verdict.allowed:
            self._refused(visit, leased, permit)
            return
        await self._sink.has_room()
        if not self._is_shut(visit, leased, permit) and await self._may_go_on(visit):
            await self._fetch(visit, leased, permit)

    def _is_shut(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> bool:
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

    async def _fetch(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
        if visit.in_flight and asked_gap_s(permit.timing, self._clock.now()):  # of another origin of the host
            visit.ended = True
        if visit.ended or self._is_shut(visit, leased, permit):
            return
        self._pages_left -= 1
        capture = await self._send(visit, leased, permit)
        if capture is None:
            self._pages_left += 1
            return
        wall = wall_of_answer(capture)
        rest = self._rest(visit, capture, permit.timing, wall)
        self._given_up.after(visit.host, rest, walled=wall is not None)
        rendered = ahead = None
        if wall is None:
            if isinstance(capture.result, Response):
                self._permission.answered(leased.url)
            rendered = await self._renderer.render(capture) if self._renderer is not None else None
            if rendered is not None:
                visit.ready_at = max(visit.ready_at, rendered.ready_at)
            ahead = await self._reader.ahead(leased, capture, self._find) if rendered is None else None
        reading = self._reader.read(leased, permit.verdict, capture, rendered, ahead, wall)
        self._reader.experience.settled(reading.outcome)
        if (learned := self._reader.experience.news()) and self._lessons is not None:
            self._lessons.save_lessons(learned)
        visit.found_more = visit.found_more or _names_more_of(visit.host, reading.outcome)
        reading = self._with_rest(leased, reading, rest, self._slow_down(visit, leased.url, capture, rest))
        if reading.outcome.state == "visited":
            self.visited += 1
        else:
            self._pages_left += 1
        self._add(visit, reading)
        if isinstance(capture.result, Response) and len(capture.result.body) > FREE_BYTES:
            await self._sink.has_room()  # it is in memory, or on its way to the owner, until then

    def _with_rest(self, leased: LeasedUrl, reading: Reading, rest: Rest, slower: str) -> Reading:
        """With what the host asks for, and why it is asked `slower`, in the URL's story; what would be tried once more
        fails if that is too long."""
        outcome = reading.outcome
        for reason in filter(None, (rest.reason, slower)):
            event = Event(outcome.at, "settle", "rest", reason)
            outcome = replace(outcome, events=(*outcome.events, event))
        if rest.too_long and outcome.state == "ready":
            event = Event(outcome.at, "fetch", "given up", rest.too_long)
            events = (*outcome.events, event)
            failed = replace(outcome, state="failed", why=rest.too_long, ready_at=0.0, events=events)
            outcome = self._reader.settle(leased, failed)
        return replace(reading, outcome=outcome)

    async def _send(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> Capture | None:
        """The answer; None if the host was asked meanwhile for the sake of another, and rests: then the lease ends."""
        async with self._permission.pace.turn(leased.url) as turn:
            ready_at = turn.ready_at(permit.timing)
            if ready_at - self._clock.now() > PATIENCE_S:
                visit.hold(ready_at)
                return None
            await turn.rested(permit.timing)
            self.in_flight += 1
            visit.in_flight += 1
            try:
                asked = leased.url, permit.verdict, self._reader.conditions(leased)
                request = Request(*asked, public_only=leased.public_only, fresh=leased.tries > 0)
                capture = await self._transport.send(request)
            finally:
                self.in_flight -= 1
                visit.in_flight -= 1
            turn.answered(capture, permit.timing)
        return capture

    def _rest(self, visit: HostVisit, capture: Capture, timing: Timing, wall: Wall | None = None) -> Rest:
        """Each answer may make the rest of its host longer, never shorter. One that asks for a rest while others are
        under way ends the lease: only one at a time can keep a distance."""
        if not self._settings.proxy:
            self._neighbours.learn(visit.host, capture)
        backed_off = visit.backoff_s, visit.backed_off_at
        rest = self._politeness.after(capture, timing, *backed_off, walled=wall is not None)
        if rest.backoff_s != visit.backoff_s:
            visit.backoff_s, visit.backed_off_at = rest.backoff_s, self._clock.now()
        visit.ready_at = max(visit.ready_at, rest.ready_at)
        visit.ended = visit.ended or (visit.in_flight > 0 and rest.ready_at > self._clock.now())
        if rest.too_long:
            self._given_up.leave_alone(visit.host, rest.too_long, rest.not_before)
        return rest

    def _slow_down(self, visit: HostVisit, url: Url, capture: Capture, rest: Rest) -> str:
        """A site that earns little is asked more slowly; why, or nothing."""
        pace, answered_at = self._reader.experience.pace(url), capture.fetched_at + capture.elapsed_s
        gap_s = (rest.ready_at - answered_at) * pace
        if pace == 1 or gap_s <= 0:
            return ""
        visit.ready_at = max(visit.ready_at, answered_at + gap_s)
        return f"the delay of the host is {gap_s:.1f} s, {pace} times the usual: its pages say little that is new"

    def _refused(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
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

    def _look_for_sitemaps(self, visit: HostVisit, url: Url, permit: Permit) -> None:
        """Those of an origin are told with the next reading of it, once in each run: what a run that was killed has not
        told, the next one does."""
        if permit.sitemaps and url.origin not in self._sitemaps_told and url.origin not in visit.sitemaps:
            named = self._reader.following.sitemaps(url.robots_txt, permit.sitemaps, permit.from_public)
            visit.sitemaps[url.origin] = named

    def _add(self, visit: HostVisit, reading: Reading) -> None:
        if visit.sitemaps:
            if len(self._sitemaps_told) >= ORIGINS_MOST:
                self._sitemaps_told.clear()  # what is told twice does no harm
            self._sitemaps_told.update(visit.sitemaps)
            reading = replace(reading, sitemaps=tuple(chain.from_iterable(visit.sitemaps.values())))
            visit.sitemaps.clear()
        self._put(reading)

    async def _find(self, found: Found) -> None:
        """Tells a part of what a page names."""
        await self._sink.has_room(for_list=True)
        waiting = bool(self._sink)
        self._sink.find(found)
        if not waiting:
            self._wake.set()

    def _put(self, reading: Reading) -> None:
        """The first of a batch wakes the loop, which then waits until that is due, however long the lease lasts."""
        waiting = bool(self._sink)
        self._sink.add(reading)
        if not waiting:
            self._wake.set()


def _names_more_of(host: str, outcome: Outcome) -> bool:
    """Whether a page names URLs of its host that were not heard of before."""
    return any(new.refused is None and new.inlinks == 1 and new.url.host_key == host for new in outcome.links)
