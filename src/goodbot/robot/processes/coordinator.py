"""The process that owns a crawl with several workers: frontier, archive and index are its alone.

Each host belongs to one worker (rendezvous hash), so politeness and permission are kept where the host is asked. The
owner hands out leases, takes reports, and commits as a crawl without workers does. A worker that dies is replaced, and
the hosts it held rest as after any kill.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from socket import socketpair
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import EndReason
from goodbot.ports import Clock, Frontier, LessonStore, RobotsStore
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import BATCH_MOST, Batch
from goodbot.robot.crawl.loop import CrawlLoop
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.crawl.revisit import Revisits
from goodbot.robot.manners.politeness import NOTHING_ASKED, Politeness, heeded
from goodbot.robot.processes.messages import (
    Committed,
    Grant,
    LeaveHost,
    Stop,
    WorkerReport,
    receive,
    send,
    unpack,
    unpack_found,
)
from goodbot.robot.processes.spawning import Start, start_process
from goodbot.robot.processes.worker_deaths import WorkerDeaths, named
from goodbot.robot.processes.worker_records import Held, WorkerRecord, home_of
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl, Outcome, Release
from goodbot.visit_values import VisitResult

WAITING_MOST: Final = 4
"""Leases that may wait for each place of a worker that is full, while the others get theirs."""


_LEAST_BODIES: Final = 1024 * 1024

_log = logging.getLogger(__name__)


class Coordinator(CrawlLoop):
    """Runs a crawl with `workers` robot processes. The same to its caller as a `Crawler`."""

    def __init__(
        self,
        settings: Settings,
        workers: int,
        *,
        setup: WorkerSetup,
        frontier: Frontier,
        robots: RobotsStore,
        batch: Batch,
        clock: Clock,
        lessons: LessonStore | None = None,
        start: Start = start_process,
        keep_deadly: Callable[[Url, bytes], str] | None = None,
    ) -> None:
        """`keep_deadly` keeps the records of an answer that killed its readers, and gives a clause that says where."""
        super().__init__(frontier, batch, clock)
        self._settings = settings
        self._setup = replace(setup, uncommitted_most=max(BATCH_MOST // workers, 1), processes=workers)
        self._frontier = frontier
        self._robots = robots
        self._batch = batch
        self._lessons = lessons
        self._politeness = Politeness(settings)
        self._revisits = Revisits(settings, keeps=setup.encode is not None)
        self._count = workers
        self._start = start
        self._keep_deadly = keep_deadly
        self._workers: dict[int, WorkerRecord] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._deaths = WorkerDeaths(settings)
        self._left: set[str] = set()

    @property
    def in_flight(self) -> int:
        """Pages under way, as last reported; after `pause` 0 only if none is."""
        return sum(worker.may_be_in_flight for worker in self._workers.values())

    @property
    def processes(self) -> list[int]:
        """The workers' process ids."""
        return [worker.process.pid for worker in self._workers.values()]

    def leave(self, host: str) -> None:
        """What is in flight to the host finishes, and nothing more is asked of it in this run."""
        self._left.add(host)
        for worker in self._workers.values():
            send(worker.writer, LeaveHost(host))

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        """See `Crawler.unlearn`."""
        for worker in self._workers.values():
            send(worker.writer, Grant((), (), tuple(lessons)))
        self.wake()

    def pause(self) -> None:
        """See `CrawlLoop.pause`."""
        super().pause()
        self._tell_pause()

    def resume(self) -> None:
        """See `CrawlLoop.resume`."""
        super().resume()
        self._tell_pause()

    def _tell_pause(self) -> None:
        for worker in self._workers.values():
            worker.tell_pause(self._paused)

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Gives why it ended. What was visited is committed, however it ends."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            for number in range(self._count):
                await self._hire(number)
            reason = await self._rounds()
            await self._dismiss()
            return reason
        finally:
            await self._end()
            self._batch.commit_all()

    def _begin(self) -> None:
        if not self._batch:
            self._acknowledge()
        self._grant()

    def _is_busy(self) -> bool:
        return any(worker.held or worker.waiting for worker in self._workers.values())

    def _is_full(self) -> bool:
        return self._room() <= 0 or self._pages_left <= self._outstanding()

    # ---- leases -----------------------------------------------------------------------------------------------------

    def _room(self) -> int:
        """How many hosts may be leased: as many as have a place, and some that wait for one."""
        free = sum(max(worker.room, 0) for worker in self._workers.values())
        waiting = sum(len(worker.waiting) for worker in self._workers.values())
        return min(free, WAITING_MOST * self._places() - waiting) if free else 0

    def _places(self) -> int:
        return sum(worker.places for worker in self._workers.values())

    def _grant(self) -> None:
        if self._stopping or self._paused or self._pages_left <= 0:
            self._take_back()
            return
        if self._room() > 0:
            self._batch.give_back()
        self._send_waiting()
        while (room := self._room()) > 0 and (share := self._share()):
            leases = self._frontier.lease(room, share, self._clock.now())
            for lease in leases:
                self._workers[home_of(lease.host, self._count)].waiting.append(lease)
            self._send_waiting()
            if len(leases) < room:
                return

    def _send_waiting(self) -> None:
        for worker in self._workers.values():
            self._send_leases(worker)

    def _outstanding(self) -> int:
        """URLs in the hands of workers: each may become one more page."""
        return sum(worker.outstanding for worker in self._workers.values())

    def _share(self) -> int:
        """How many URLs a lease may have: of the pages that are still to be visited each place gets its part, so that
        all work to the end; 0 if every one of them is in somebody's hands."""
        most = self._settings.max_lease_urls
        if self._pages_left == float("inf"):
            return most
        left = int(self._pages_left) - self._outstanding()
        return min(most, max(left // (2 * max(self._places(), 1)), 1)) if left > 0 else 0

    def _send_leases(self, worker: WorkerRecord) -> None:
        leases: list[Lease] = []
        while worker.waiting and worker.room > 0 and (share := self._share()):
            lease = worker.waiting.popleft()
            if len(lease.urls) > share:  # the others are ready again when the lease ends
                lease = replace(lease, urls=lease.urls[:share])
            worker.held[lease.host] = Held(lease, {leased.url: leased for leased in lease.urls})
            leases.append(lease)
        if leases:
            lessons, said = self._learned_of(worker, leases)
            robots = tuple(self._robots_of(leases))
            send(worker.writer, Grant(tuple(leases), robots, tuple(lessons), tuple(said)))

    def _robots_of(self, leases: Sequence[Lease]) -> Iterator[tuple[str, Access]]:
        """What is known of every origin granted, each time: a worker keeps it for as long as it holds the lease. See
        docs/decisions/0021."""
        for origin in dict.fromkeys(leased.url.origin for lease in leases for leased in lease.urls):
            if access := self._robots.load_robots(origin):
                yield origin, access

    def _learned_of(self, worker: WorkerRecord, leases: list[Lease]) -> tuple[Sequence[Lesson], Sequence[IndexedPage]]:
        """What was learned about hosts that this worker has not had lately, and what their pages said."""
        if self._lessons is None or not (hosts := worker.new_hosts(leases)):
            return (), ()
        return self._lessons.load_lessons(hosts), self._lessons.load_said(hosts)

    def _take_back(self) -> None:
        """Leases nobody began."""
        now = self._clock.now()
        for worker in self._workers.values():
            for lease in worker.waiting:
                self._batch.release(Release(lease.host, now, lease.backoff_s, lease.cut_at))
            worker.waiting.clear()
            if self._stopping:
                self._tell_to_stop(worker)

    def _tell_to_stop(self, worker: WorkerRecord) -> None:
        if not worker.told_to_stop:
            worker.told_to_stop = True
            send(worker.writer, Stop())

    # ---- workers ----------------------------------------------------------------------------------------------------

    async def _hire(self, number: int) -> None:
        ours, theirs = socketpair()
        mark = PageMark.new()
        try:
            process = await self._start(theirs, mark)
        except BaseException:
            ours.close()
            mark.close()
            raise
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        each, over = divmod(self._settings.concurrency, self._count)
        places = max(each + (number < over), 1)
        worker = WorkerRecord(number, process, writer, mark, places)
        before = self._workers.get(number)
        if before is not None:
            worker.waiting = before.waiting
        self._workers[number] = worker
        _log.info("worker %d started as process %d", number, process.pid, extra={"worker": number, "pid": process.pid})
        settings = self._part_of(places)
        send(writer, replace(self._setup, settings=settings))
        for host in self._left:
            send(writer, LeaveHost(host))
        if self._paused:
            worker.tell_pause(True)
        task = asyncio.create_task(self._listen(worker, reader))
        self._listening.add(task)
        task.add_done_callback(self._heard)

    def _part_of(self, places: int) -> Settings:
        """What one worker is told: its part of what holds for all of them."""
        return replace(
            self._settings,
            concurrency=places,
            bodies_limit=max(self._settings.bodies_limit // self._count, _LEAST_BODIES),
            documents_at_once=max(self._settings.documents_at_once // self._count, 1),
        )

    def _heard(self, task: asyncio.Task[None]) -> None:
        self._listening.discard(task)
        self._ended(task)

    async def _listen(self, worker: WorkerRecord, reader: asyncio.StreamReader) -> None:
        """Takes the reports of one worker to its end."""
        while (message := await receive(reader)) is not None:
            if isinstance(message, WorkerReport):
                self._take(worker, message)
        worker.places = 0  # it gets no more leases; the one in its place does
        await worker.process.wait()
        worker.writer.close()
        if worker.told_to_stop:
            self._give_back(worker)
        else:
            self._bury(worker)
            await self._hire(worker.number)
        worker.mark.close()

    def _give_back(self, worker: WorkerRecord) -> None:
        """Leases that were on their way when it was told to stop, or that it held when it died then."""
        now, died = self._clock.now(), worker.process.returncode != 0
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            rested_at = self._rested_at(first.url, now) if died and first is not None else now
            cut_at = now if died else held.lease.cut_at
            self._batch.release(Release(host, rested_at, held.lease.backoff_s, cut_at))
        worker.held.clear()

    def _take(self, worker: WorkerRecord, report: WorkerReport) -> None:
        worker.has_begun = True
        worker.in_flight = report.in_flight
        worker.deaf -= report.pauses
        for origin, access in report.robots:
            self._robots.save_robots(origin, access)
        if report.lessons and self._lessons is not None:
            self._lessons.save_lessons(report.lessons)
        for encoded in report.robots_records:
            self._batch.keep(encoded)
        for asked in report.requests:
            self._batch.note(asked)
        for part in report.found:
            self._batch.find(unpack_found(part))
        for packed in report.results:
            self._take_reading(worker, unpack(packed))
        for release in report.releases:
            worker.held.pop(release.host, None)
            self._batch.release(release)
        worker.uncommitted += report.weight
        if worker.uncommitted >= self._setup.uncommitted_most // 2:
            self._batch.commit()
            self._acknowledge()
        self._wake.set()

    def _take_reading(self, worker: WorkerRecord, reading: VisitResult) -> None:
        outcome = reading.outcome
        held = worker.held.get(outcome.url.host_key)
        if held is not None:
            held.urls.pop(outcome.url, None)
        if outcome.state == "visited":
            self.visited += 1
            self._pages_left -= 1
        self._batch.add(reading)

    def _acknowledge(self) -> None:
        """Everything taken is committed: the workers may go on."""
        for worker in self._workers.values():
            if worker.uncommitted:
                send(worker.writer, Committed(worker.uncommitted))
                worker.uncommitted = 0

    def _bury(self, worker: WorkerRecord) -> None:
        """The hosts it held may have been asked until now. Only the page it was reading is charged for its death."""
        now, status = self._clock.now(), worker.process.returncode
        self._deaths.count(now, self.visited, status, has_begun=worker.has_begun)
        killer = next((leased for leased in _in_hand(worker) if worker.mark.is_on(leased.url)), None)
        _log_death(worker, killer)
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            rested_at, blamed = now, None
            if killer is not None and killer.url.host_key == host:
                rested_at = self._rested_at(killer.url, now, self._deaths.host_kills(host))
                blamed = self._with_evidence(worker, self._deaths.killed(killer, status, now, rested_at))
            elif first is not None and worker.has_begun:
                rested_at = self._rested_at(first.url, now)
                blamed = self._deaths.present(first, status, now, rested_at) if killer is None else None
            if blamed is not None:
                self._lose(held.urls[blamed.url], blamed)
            cut_at = now if worker.has_begun else held.lease.cut_at
            self._batch.release(Release(host, rested_at, held.lease.backoff_s, cut_at))
        worker.held.clear()

    def _with_evidence(self, worker: WorkerRecord, outcome: Outcome) -> Outcome:
        """Keeps the answer of a page that is not read again, and says where."""
        answer = worker.mark.answer()
        if self._keep_deadly is None or not answer or outcome.state != "failed":
            return outcome
        return replace(outcome, why=f"{outcome.why}; {self._keep_deadly(outcome.url, answer)}")

    def _lose(self, leased: LeasedUrl, outcome: Outcome) -> None:
        self._batch.add(VisitResult(self._revisits.settle(leased, outcome)))

    def _rested_at(self, url: Url, now: float, kills: int = 0) -> float:
        access = self._robots.load_robots(url.origin)
        timing = access.rules.timing(self._setup.identity.token) if access else NOTHING_ASKED
        return self._politeness.after_cut(url, heeded(timing), now, kills)

    async def _dismiss(self) -> None:
        """All is reported: they may go."""
        for worker in self._workers.values():
            self._tell_to_stop(worker)
        while self._listening:
            await asyncio.wait(self._listening)
        if self._error is not None:
            raise self._error

    async def _end(self) -> None:
        """After an error, or when `run` is cancelled: workers whose owner is gone end by themselves, at once."""
        for task in list(self._listening):
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        for worker in self._workers.values():
            worker.writer.close()
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.wait()


def _log_death(worker: WorkerRecord, page: LeasedUrl | None) -> None:
    url = page.url.text if page is not None else None
    _log.error(
        "worker %d (process %d) died with %s %s",
        worker.number,
        worker.process.pid,
        named(worker.process.returncode),
        f"while it read {url}" if url else "while it read no page",
        extra={"worker": worker.number, "pid": worker.process.pid, "url": url},
    )


def _in_hand(worker: WorkerRecord) -> Iterator[LeasedUrl]:
    return (leased for held in worker.held.values() for leased in held.urls.values())
