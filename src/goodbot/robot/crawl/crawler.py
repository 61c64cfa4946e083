"""The loop: lease hosts, visit their URLs, commit what came of it.

Nothing waits for the slowest: each lease is a task of its own, a host that is to rest gives its lease back, and the
loop only hands out leases and commits. Rule of durability: a page's record is flushed before its outcome is committed,
and its links are committed with it.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from goodbot.config import Settings
from goodbot.exclusion.access.bot_walls import Wall
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import EndReason
from goodbot.ports import Clock, Leases, LessonStore, Sink, Transport
from goodbot.robot.crawl.following import Following
from goodbot.robot.crawl.host_visit import HostVisit
from goodbot.robot.crawl.loop import CrawlLoop
from goodbot.robot.crawl.not_requested import disallowed, given_up, held_off
from goodbot.robot.crawl.outcome_of import OutcomeReader
from goodbot.robot.fetch.body_budget import FREE_BYTES
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.manners.hosts_given_up import HostsGivenUp
from goodbot.robot.manners.permission import ORIGINS_MOST, Permission, Permit
from goodbot.robot.manners.politeness import Delay, Politeness, asked_gap_s, opens_at
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.render.rendering import Renderer
from goodbot.url import Url
from goodbot.values import Capture, FoundLinks, Lease, LeasedUrl, Outcome, Release, Request, Response
from goodbot.visit_values import VisitResult

PATIENCE_S = 0.25
"""A rest up to this is waited for with the lease in hand; giving it back would take as long (`BATCH_S`)."""

_log = logging.getLogger(__name__)


class Crawler(CrawlLoop):
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
        knowledge: SiteKnowledge,
        following: Following,
        reader: OutcomeReader,
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
        self._knowledge = knowledge
        self._following = following
        self._reader = reader
        self._renderer = renderer
        self._lessons = lessons
        self._recalled: set[str] = set()
        self._pace = permission.pace
        self._given_up = HostsGivenUp(clock, settings.given_up_rest)
        self._sitemaps_told: set[str] = set()
        self._left = set[str]() if left is None else left
        self._tasks: set[asyncio.Task[None]] = set()
        self.in_flight = 0

    def leave(self, host: str) -> None:
        """What is in flight to the host finishes, and nothing more is asked of it in this run."""
        self._left.add(host)

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        """These are in force no more."""
        self._knowledge.take(lessons)
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
            self._pace.resume(lease.host, lease.backoff_s)
            task = asyncio.create_task(self._drive(HostVisit(lease, self._ready_at(lease.host, now))))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _ready_at(self, host: str, now: float) -> float:
        """When a leased host may be asked: it may have been asked for the robots.txt of another meanwhile."""
        ready_at = self._pace.ready_at(host)
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

    def learn(self, lessons: Sequence[Lesson], said: Sequence[IndexedPage]) -> None:
        """Takes what was learned before, or elsewhere, and what pages in the index say."""
        self._knowledge.take(lessons)
        self._knowledge.remember(said)

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
            self._sink.release(Release(visit.host, visit.ready_at, self._pace.backoff_s(visit.host), visit.cut_at))

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
        """Visits one URL."""
        now = self._clock.now()
        refused = self._reader.refused(leased, now)
        if refused is not None:
            self._put(refused)
        elif (why := self._given_up.why(visit.host)) is not None:
            self._put(self._reader.not_requested(leased, given_up(leased, now, why)))
        else:
            try:
                await self._ask(visit, leased)
            except asyncio.CancelledError:
                visit.cut_at = self._clock.now()
                raise

    async def _ask(self, visit: HostVisit, leased: LeasedUrl) -> None:
        permit = await self._permission.check(leased.url, public_only=leased.public_only)
        if permit.delay is not None:
            self._rest(visit, permit.delay, permit.timing)
        elif visit.cut_at is not None:
            rested_at = self._politeness.after_cut(leased.url, permit.timing, visit.cut_at)
            visit.ready_at = max(visit.ready_at, rested_at)
        if too_slow := self._politeness.too_slow(permit.timing, self._clock.now()):
            self._given_up.leave_alone(visit.host, too_slow)
        visit.cut_at = None
        self._look_for_sitemaps(visit, leased.url, permit)
        self._knowledge.hears(leased.url.origin, permit.clean_params)
        is_open = permit.verdict.allowed or permit.verdict.rule is None
        if is_open and self._given_up.is_left_alone(visit.host) and (why := self._given_up.why(visit.host)) is not None:
            self._add(visit, self._reader.not_requested(leased, given_up(leased, self._clock.now(), why)))
            return
        if not permit.verdict.allowed:
            self._refused(visit, leased, permit)
            return
        await self._sink.has_room()
        if await self._may_go_on(visit):
            await self._fetch(visit, leased, permit)
        else:
            self._put_off(visit, leased, permit.timing, visit.ready_at)

    def _put_off(self, visit: HostVisit, leased: LeasedUrl, timing: Timing, until: float) -> None:
        """Ends the lease: the host may not be requested soon. If its Visit-time is the reason, the URL says so."""
        visit.hold(until)
        now = self._clock.now()
        if opens_at(timing, now) > now:
            outcome = held_off(leased, now, timing.at(now).reason, until)
            self._add(visit, self._reader.not_requested(leased, outcome))

    async def _fetch(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
        if visit.in_flight and asked_gap_s(permit.timing, self._clock.now()):  # of another origin of the host
            visit.ended = True
        if visit.ended:
            return
        self._pages_left -= 1
        sent = await self._send(visit, leased, permit)
        if sent is None:
            self._pages_left += 1
            return
        capture, wall, rest = sent
        self._rest(visit, rest, permit.timing)
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
        self._knowledge.settled(reading.outcome)
        if learned := self._knowledge.news():
            self._keep_lessons(learned)
        visit.found_more = visit.found_more or _names_more_of(visit.host, reading.outcome)
        slower = self._slow_down(visit, leased.url, capture, rest)
        reading = self._reader.with_delay(leased, reading, rest, slower)
        if reading.outcome.state == "visited":
            self.visited += 1
        else:
            self._pages_left += 1
        self._add(visit, reading)
        if isinstance(capture.result, Response) and len(capture.result.body) > FREE_BYTES:
            await self._sink.has_room()  # it is in memory, or on its way to the owner, until then

    def _keep_lessons(self, learned: Sequence[Lesson]) -> None:
        for lesson in learned:
            fields = {"host": lesson.host, "kind": lesson.kind, "about": lesson.about}
            _log.info("lesson learned about %s: %s", lesson.host, lesson.evidence, extra=fields)
        if self._lessons is not None:
            self._lessons.save_lessons(learned)

    async def _send(
        self, visit: HostVisit, leased: LeasedUrl, permit: Permit
    ) -> tuple[Capture, Wall | None, Delay] | None:
        """Returns the answer, the bot wall that gave it, and the delay that the host gets; None if the host may not be
        requested soon: then the lease ends."""
        async with self._pace.turn(leased.url) as turn:
            until = await turn.rested(permit.timing, PATIENCE_S)
            if until is not None:
                self._put_off(visit, leased, permit.timing, until)
                return None
            self.in_flight += 1
            visit.in_flight += 1
            try:
                asked = leased.url, permit.verdict, self._reader.conditions(leased)
                request = Request(*asked, public_only=leased.public_only, fresh=leased.tries > 0)
                capture = await self._transport.send(request)
            finally:
                self.in_flight -= 1
                visit.in_flight -= 1
            wall = wall_of_answer(capture)
            return capture, wall, turn.answered(capture, permit.timing, walled=wall is not None)

    def _rest(self, visit: HostVisit, delay: Delay, timing: Timing) -> None:
        """Takes the delay after an answer. It may make the host wait longer, never shorter. One that asks for a delay
        while others are under way ends the lease: only one at a time can keep a distance."""
        ready_at = max(delay.ready_at, self._pace.ready_at(visit.host, timing))
        visit.ready_at = max(visit.ready_at, ready_at)
        visit.ended = visit.ended or (visit.in_flight > 0 and ready_at > self._clock.now())
        if delay.too_long:
            self._given_up.leave_alone(visit.host, delay.too_long, delay.not_before)

    def _slow_down(self, visit: HostVisit, url: Url, capture: Capture, rest: Delay) -> str:
        """A site that earns little is asked more slowly; why, or nothing."""
        pace, answered_at = self._knowledge.pace(url), capture.fetched_at + capture.elapsed_s
        gap_s = (rest.ready_at - answered_at) * pace
        if pace == 1 or gap_s <= 0:
            return ""
        visit.ready_at = max(visit.ready_at, answered_at + gap_s)
        return f"the delay of the host is {gap_s:.1f} s, {pace} times the usual: its pages say little that is new"

    def _refused(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
        """robots.txt forbids the URL, or is unreachable: then the whole host is held off for a while."""
        outcome = disallowed(leased, self._clock.now(), permit)
        if outcome.state == "ready":
            fields = {"host": visit.host, "until": outcome.ready_at}
            _log.info(
                "host %s paused for %.0f s: %s", visit.host, outcome.ready_at - outcome.at, outcome.why, extra=fields
            )
            visit.hold(outcome.ready_at)
        self._add(visit, self._reader.not_requested(leased, outcome))

    def _look_for_sitemaps(self, visit: HostVisit, url: Url, permit: Permit) -> None:
        """Those of an origin are told with the next reading of it, once in each run: what a run that was killed has not
        told, the next one does."""
        if permit.sitemaps and url.origin not in self._sitemaps_told and url.origin not in visit.sitemaps:
            named = self._following.sitemaps(url.robots_txt, permit.sitemaps, permit.from_public)
            visit.sitemaps[url.origin] = named

    def _add(self, visit: HostVisit, reading: VisitResult) -> None:
        if visit.sitemaps:
            if len(self._sitemaps_told) >= ORIGINS_MOST:
                self._sitemaps_told.clear()  # what is told twice does no harm
            self._sitemaps_told.update(visit.sitemaps)
            reading = replace(reading, sitemaps=tuple(chain.from_iterable(visit.sitemaps.values())))
            visit.sitemaps.clear()
        self._put(reading)

    async def _find(self, found: FoundLinks) -> None:
        """Tells a part of what a page names."""
        await self._sink.has_room(for_list=True)
        waiting = bool(self._sink)
        self._sink.find(found)
        if not waiting:
            self._wake.set()

    def _put(self, reading: VisitResult) -> None:
        """The first of a batch wakes the loop, which then waits until that is due, however long the lease lasts."""
        waiting = bool(self._sink)
        self._sink.add(reading)
        if not waiting:
            self._wake.set()


def _names_more_of(host: str, outcome: Outcome) -> bool:
    """Whether a page names URLs of its host that were not heard of before."""
    return any(new.refused is None and new.inlinks == 1 and new.url.host_key == host for new in outcome.links)
