"""Crawls: leases hosts, visits their URLs, and commits the outcomes.

A slow host delays no other: each lease is a task of its own, a host with a long delay gives its lease back, and the
loop only hands out leases and commits. Rule of durability: a page's record is flushed before its outcome is committed,
and its links are committed with it.
"""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion.access.bot_walls import Wall
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import EndReason, Holding
from goodbot.ports import Clock, Leases, LessonStore, Sink, Transport
from goodbot.robot.crawl.following import Following
from goodbot.robot.crawl.host_visit import HostVisit
from goodbot.robot.crawl.loop import CrawlLoop
from goodbot.robot.crawl.not_requested import disallowed, given_up, held_off
from goodbot.robot.crawl.outcome_of import OutcomeReader
from goodbot.robot.fetch.body_budget import FREE_BYTES
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.manners.hosts_given_up import HostsGivenUp
from goodbot.robot.manners.permission import MAX_ORIGINS, Permission, Permit
from goodbot.robot.manners.politeness import Delay, Politeness, asked_gap_s, opens_at
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.render.rendering import Renderer
from goodbot.url import Url
from goodbot.values import Capture, FoundLinks, Lease, LeasedUrl, Outcome, Release, Request, Response
from goodbot.visit_values import VisitResult

SHORT_DELAY_S = 0.25
"""The crawler waits out a delay of at most this length instead of giving the lease back, because leasing the host again
would take just as long (`BATCH_S`)."""

_LOG: Final = logging.getLogger(__name__)


class Crawler(CrawlLoop):
    """Crawls until no URL is ready, `max_pages` are visited, or `stop` is called. All its parts are given to it."""

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
        left_hosts: set[str] | None = None,
    ) -> None:
        """`left_hosts`: hosts that get no request. `leave` adds to this set, which the transport obeys as well."""
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
        self._known_hosts: set[str] = set()
        self._pace = permission.pace
        self._given_up = HostsGivenUp(clock, settings.given_up_rest)
        self._sitemaps_sent: set[str] = set()
        self._left_hosts = set[str]() if left_hosts is None else left_hosts
        self._tasks: set[asyncio.Task[None]] = set()
        self.in_flight = 0

    def holdings(self) -> dict[int, tuple[Holding, ...]]:
        """Returns what the caches of this process hold, by its process id; see `HOLDINGS`."""
        return {os.getpid(): (*self._permission.holdings(), *self._following.holdings(), *self._knowledge.holdings())}

    def leave(self, host: str) -> None:
        """Sends no more requests to the host in this run. Those in flight finish."""
        self._left_hosts.add(host)

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        """Stops applying these lessons."""
        self._knowledge.take(lessons)
        self.wake()

    def take_notices(self) -> Sequence[str]:
        """See `RunnableCrawl.take_notices`. There are none: all that matters is in the outcomes."""
        return ()

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Runs the crawl and returns why it ended. However it ends, the pages visited are committed."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            return await self._run_loop()
        finally:
            await self._end_tasks()
            self._sink.commit_all()

    def _is_busy(self) -> bool:
        return bool(self._tasks)

    def _is_full(self) -> bool:
        return self._free_places() <= 0

    def _free_places(self) -> int:
        """How many more leases may be started."""
        return int(min(self._settings.concurrency - len(self._tasks), self._pages_left))

    def _begin(self) -> None:
        """Starts as many leases as there is room for."""
        room = self._free_places()
        if room <= 0 or self._stopping or self._paused:
            return
        if room > len(self._tasks):
            self._sink.give_back()
        now = self._clock.now()
        leases = self._leases.lease(room, self._settings.max_lease_urls, now, sized=True)
        self._load_lessons(leases)
        for lease in leases:
            self._pace.resume(lease.host, lease.backoff_s)
            task = asyncio.create_task(self._visit_host(HostVisit(lease, self._ready_at(lease.host, now))))
            self._tasks.add(task)
            task.add_done_callback(self._lease_done)

    def _ready_at(self, host: str, now: float) -> float:
        """Returns when a leased host may be requested. That can be later than `now`: the robots.txt of another host may
        have redirected to it, so that it was requested without the frontier's knowledge."""
        ready_at = self._pace.ready_at(host)
        if ready_at - now <= self._settings.retry_after_most:
            return max(now, ready_at)
        if self._given_up.why(host) is None:
            most_s = self._settings.retry_after_most
            why = f"it asks for a wait of more than {most_s:g} s (retry_after_most in goodbot.toml)"
            self._given_up.leave_alone(host, why, ready_at)
        return now

    def _load_lessons(self, leases: Sequence[Lease]) -> None:
        """Loads the lessons about hosts that are new in this run."""
        hosts = {lease.host for lease in leases} - self._known_hosts
        if hosts and self._lessons is not None:
            if len(self._known_hosts) >= MAX_ORIGINS:
                self._known_hosts.clear()  # loading a lesson twice does no harm
            self._known_hosts |= hosts
            self.learn(self._lessons.load_lessons(sorted(hosts)), self._lessons.load_indexed_pages(sorted(hosts)))

    def learn(self, lessons: Sequence[Lesson], indexed_pages: Sequence[IndexedPage]) -> None:
        """Applies lessons learned before or by another process, and remembers pages that are in the index."""
        self._knowledge.take(lessons)
        self._knowledge.remember(indexed_pages)

    def _lease_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._task_ended(task)

    async def _end_tasks(self) -> None:
        """Cancels the leases still under way, after an error or when `run` is cancelled."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- one lease --------------------------------------------------------------------------------------------------

    async def _visit_host(self, visit: HostVisit) -> None:
        """Visits the URLs of a lease: the first one alone, since its answer shows the delay of the host; then
        `per_host` at a time."""
        try:
            await self._visit_urls(visit, most=1)
            parallel = self._settings.per_host if visit.ready_at <= self._clock.now() else 1
            await asyncio.gather(*(self._visit_urls(visit) for _ in range(parallel)))
        finally:
            now = self._clock.now()
            next_urls = visit.next_urls(waits=visit.ready_at - now > SHORT_DELAY_S)
            if (visit.found_more or visit.is_full) and self._given_up.is_left_alone(visit.host):
                visit.ready_at = now  # its other URLs fail at once, too
            backoff_s = self._pace.backoff_s(visit.host)
            times = visit.ready_at, backoff_s, visit.cut_at
            self._sink.release(
                Release(visit.host, *times, next_urls, visit.token, partition=self._pace.partition(visit.host))
            )

    async def _visit_urls(self, visit: HostVisit, most: int | None = None) -> None:
        for number, leased in enumerate(visit.urls, start=1):
            if not await self._may_go_on(visit):
                return
            visit.started += 1
            await self._visit_url(visit, leased)
            if number == most:
                return

    async def _may_go_on(self, visit: HostVisit) -> bool:
        """Waits for a short delay of the host. A long one ends the lease, and its URLs are ready again."""
        while not (self._stopping or self._paused or self._pages_left <= 0 or visit.host in self._left_hosts):
            if self._given_up.is_left_alone(visit.host):
                return True  # no request is sent: its URLs fail
            if visit.ended:
                return False
            delay_s = visit.ready_at - self._clock.now()
            if delay_s <= 0:
                return True
            if delay_s > SHORT_DELAY_S:
                visit.ended = True
            else:
                await self._clock.sleep(delay_s)
        return False

    async def _visit_url(self, visit: HostVisit, leased: LeasedUrl) -> None:
        """Visits one URL: refuses it, gives it up with its host, or fetches it."""
        now = self._clock.now()
        refused = self._reader.refused(leased, now)
        if refused is not None:
            self._settle(visit, refused)
        elif (why := self._given_up.why(visit.host)) is not None:
            self._settle(visit, self._reader.not_requested(leased, given_up(leased, now, why)))
        else:
            try:
                await self._check_and_fetch(visit, leased)
            except asyncio.CancelledError:
                visit.cut_at = self._clock.now()
                raise

    async def _check_and_fetch(self, visit: HostVisit, leased: LeasedUrl) -> None:
        permit = await self._permission.check(leased.url, public_only=leased.public_only)
        if permit.delay is not None:
            self._apply_delay(visit, permit.delay, permit.timing)
        elif visit.cut_at is not None:
            ready_at = self._politeness.after_interruption(leased.url, permit.timing, visit.cut_at)
            visit.ready_at = max(visit.ready_at, ready_at)
        if too_slow := self._politeness.too_slow(permit.timing, self._clock.now()):
            self._given_up.leave_alone(visit.host, too_slow)
        visit.cut_at = None
        self._take_sitemaps(visit, leased.url, permit)
        self._knowledge.take_clean_params(leased.url.origin, permit.clean_params)
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
        """Ends the lease, since the host may not be requested soon. If its Visit-time is the reason, the outcome of the
        URL says so."""
        visit.hold(until)
        now = self._clock.now()
        if opens_at(timing, now) > now:
            outcome = held_off(leased, now, timing.at(now).reason, until)
            self._add(visit, self._reader.not_requested(leased, outcome))

    async def _fetch(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
        if visit.in_flight and asked_gap_s(permit.timing, self._clock.now()):  # to another origin of the host
            visit.ended = True
        if visit.ended:
            return
        self._pages_left -= 1
        answered = await self._send(visit, leased, permit)
        if answered is None:
            self._pages_left += 1
            return
        capture, wall, delay = answered
        self._apply_delay(visit, delay, permit.timing)
        self._given_up.after(visit.host, delay, walled=wall is not None)
        rendered = ahead = None
        if wall is None:
            if isinstance(capture.result, Response):
                self._permission.answered(leased.url)
            rendered = await self._renderer.render(capture) if self._renderer is not None else None
            if rendered is not None:
                visit.ready_at = max(visit.ready_at, rendered.ready_at)
            ahead = await self._reader.ahead(leased, capture, self._send_found) if rendered is None else None
        result = self._reader.read(leased, permit, capture, rendered, ahead, wall)
        self._knowledge.settled(result.outcome)
        if learned := self._knowledge.news():
            self._keep_lessons(learned)
        visit.found_more = visit.found_more or _has_new_links_to(visit.host, result.outcome)
        slower = self._slow_unproductive_site(visit, leased.url, capture, delay)
        result = self._reader.with_delay(leased, result, delay, slower)
        if result.outcome.state == "visited":
            self.visited += 1
        else:
            self._pages_left += 1
        self._add(visit, result)
        if isinstance(capture.result, Response) and len(capture.result.body) > FREE_BYTES:
            await self._sink.has_room()  # a long body stays in memory until it is committed

    def _keep_lessons(self, learned: Sequence[Lesson]) -> None:
        for lesson in learned:
            fields = {"host": lesson.host, "kind": lesson.kind, "about": lesson.about}
            _LOG.info("lesson learned about %s: %s", lesson.host, lesson.evidence, extra=fields)
        if self._lessons is not None:
            self._lessons.save_lessons(learned)

    async def _send(
        self, visit: HostVisit, leased: LeasedUrl, permit: Permit
    ) -> tuple[Capture, Wall | None, Delay] | None:
        """Returns the answer, the bot wall that gave it (None: no wall), and the new delay of the host. If the host may
        not be requested soon, ends the lease and returns only None."""
        async with self._pace.turn(leased.url) as turn:
            until = await turn.wait_until_ready(permit.timing, SHORT_DELAY_S)
            if until is not None:
                self._put_off(visit, leased, permit.timing, until)
                return None
            self.in_flight += 1
            visit.in_flight += 1
            try:
                conditions = self._reader.conditions(leased, permit, self._clock.now())
                request = Request(
                    leased.url, permit.verdict, conditions, public_only=leased.public_only, fresh=leased.tries > 0
                )
                capture = await self._transport.send(request)
            finally:
                self.in_flight -= 1
                visit.in_flight -= 1
            wall = wall_of_answer(capture)
            return capture, wall, turn.answered(capture, permit.timing, walled=wall is not None)

    def _apply_delay(self, visit: HostVisit, delay: Delay, timing: Timing) -> None:
        """Applies the delay after an answer, which can lengthen the wait of the host but not shorten it. A delay while
        other requests of the lease are in flight ends the lease: only one request at a time can keep a delay."""
        ready_at = max(delay.ready_at, self._pace.ready_at(visit.host, timing))
        visit.ready_at = max(visit.ready_at, ready_at)
        visit.ended = visit.ended or (visit.in_flight > 0 and ready_at > self._clock.now())
        if delay.too_long:
            self._given_up.leave_alone(visit.host, delay.too_long, delay.not_before)

    def _slow_unproductive_site(self, visit: HostVisit, url: Url, capture: Capture, delay: Delay) -> str:
        """Slows the crawl of a site whose pages say little that is new. Returns the reason, or an empty text."""
        pace, answered_at = self._knowledge.pace(url), capture.fetched_at + capture.elapsed_s
        gap_s = (delay.ready_at - answered_at) * pace
        if pace == 1 or gap_s <= 0:
            return ""
        visit.ready_at = max(visit.ready_at, answered_at + gap_s)
        return f"the delay of the host is {gap_s:.1f} s, {pace} times the usual: its pages say little that is new"

    def _refused(self, visit: HostVisit, leased: LeasedUrl, permit: Permit) -> None:
        """Settles a URL that robots.txt forbids. If robots.txt is unreachable, the whole host is paused."""
        outcome = disallowed(leased, self._clock.now(), permit)
        if outcome.state == "ready":
            fields, seconds = {"host": visit.host, "until": outcome.ready_at}, outcome.ready_at - outcome.at
            if seconds >= 0.5:
                _LOG.info("host %s paused for %.0f s: %s", visit.host, seconds, outcome.why, extra=fields)
            visit.hold(outcome.ready_at)
        self._add(visit, self._reader.not_requested(leased, outcome))

    def _take_sitemaps(self, visit: HostVisit, url: Url, permit: Permit) -> None:
        """Notes the sitemaps of an origin, to be sent with its next result. Each run sends them once, so what a killed
        run has not sent is sent by the next one."""
        if permit.sitemaps and url.origin not in self._sitemaps_sent and url.origin not in visit.sitemaps:
            named = self._following.sitemaps(url.robots_txt, permit.sitemaps, permit.from_public)
            visit.sitemaps[url.origin] = named

    def _add(self, visit: HostVisit, result: VisitResult) -> None:
        if visit.sitemaps:
            if len(self._sitemaps_sent) >= MAX_ORIGINS:
                self._sitemaps_sent.clear()  # sending them twice does no harm
            self._sitemaps_sent.update(visit.sitemaps)
            result = replace(result, sitemaps=tuple(chain.from_iterable(visit.sitemaps.values())))
            visit.sitemaps.clear()
        self._settle(visit, result)

    async def _send_found(self, found: FoundLinks) -> None:
        """Sends a part of the links of a sitemap or feed to the frontier."""
        await self._sink.has_room(for_list=True)
        waiting = bool(self._sink)
        self._sink.find(found)
        if not waiting:
            self._wake.set()

    def _settle(self, visit: HostVisit, result: VisitResult) -> None:
        """Adds a result to the batch. The first of a batch wakes the loop, so that it waits only until the batch is
        due."""
        waiting = bool(self._sink)
        self._sink.add(replace(result, outcome=replace(result.outcome, token=visit.token)))
        if not waiting:
            self._wake.set()


def _has_new_links_to(host: str, outcome: Outcome) -> bool:
    """Whether a page has links to URLs of its own host that were not known before."""
    return any(new.refused is None and new.inlinks == 1 and new.url.host_key == host for new in outcome.links)
