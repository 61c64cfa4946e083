"""Runs a crawl with several workers. Only this process writes to the frontier, the archive and the index.

Each partition of hosts belongs to one worker, so the process that requests a host also keeps its delays and its
robots.txt. The coordinator hands out leases, takes reports, and commits as a crawl without workers does. It replaces a
worker that dies; the hosts of that worker wait as after any kill.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from socket import socketpair
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import EndReason, Holding
from goodbot.partitions import share_of_partition
from goodbot.ports import Clock, Leases, LessonStore, Membership, RobotsStore
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import MAX_OUTCOMES, Batch
from goodbot.robot.crawl.loop import CrawlLoop
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.crawl.store_calls import DirectCalls, StoreCalls
from goodbot.robot.processes.ended_workers import EndedWorkers
from goodbot.robot.processes.host_leasing import HostLeasing
from goodbot.robot.processes.messages import (
    Committed,
    Confirmed,
    Grant,
    LeaveHost,
    Stop,
    WorkerReport,
    pack,
    receive,
    send,
    unpack_found,
    unpack_releases,
    unpack_requests,
    unpack_result,
)
from goodbot.robot.processes.participation import Participation
from goodbot.robot.processes.spawning import Start, start_process
from goodbot.robot.processes.worker import host_of_origin
from goodbot.robot.processes.worker_records import HeldLease, WorkerRecord
from goodbot.url import Url
from goodbot.values import Lease, Release
from goodbot.visit_values import VisitResult

MAX_WAITING_PER_PLACE: Final = 4
"""How many leases for each place (see `WorkerRecord.places`) may wait for workers that are full. The coordinator goes
on leasing until then, so that the other workers still get leases."""

_MIN_BODIES_BYTES: Final = 1024 * 1024

_LOG: Final = logging.getLogger(__name__)


class Coordinator(CrawlLoop):
    """Runs a crawl with `workers` worker processes. It is used like a `Crawler`."""

    def __init__(
        self,
        settings: Settings,
        workers: int,
        *,
        setup: WorkerSetup,
        frontier: Leases,
        robots: RobotsStore,
        batch: Batch,
        clock: Clock,
        lessons: LessonStore | None = None,
        start: Start = start_process,
        keep_deadly: Callable[[Url, bytes], str] | None = None,
        calls: StoreCalls | None = None,
        membership: Membership | None = None,
    ) -> None:
        """`calls` runs the calls on the stores; without it, they are run at once. `keep_deadly` stores the records of
        an answer that killed the workers reading it, and returns a clause for the outcome that says where they are.
        `membership`: if several machines share the crawl."""
        super().__init__(frontier, batch, clock)
        self._calls = calls or DirectCalls()
        self._membership = membership
        self._participation = None if membership is None else Participation(membership, self, self._calls, clock)
        self._leasing = HostLeasing(
            frontier,
            robots,
            lessons,
            self._calls,
            clock,
            without_lessons=self._without_lessons,
            keep=self._keep_lease,
            wake=self._wake.set,
            lose=self._lose,
        )
        self._settings = settings
        self._setup = replace(setup, uncommitted_most=max(MAX_OUTCOMES // workers, 1), processes=workers)
        self._robots = robots
        self._batch = batch
        self._lessons = lessons
        self._count = workers
        self._start = start
        self._workers: dict[int, WorkerRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = EndedWorkers(settings, setup, batch, clock, keep_deadly)
        batch.on_commit = self._commit_begins
        self._left: set[str] = set()

    @property
    def in_flight(self) -> int:
        """The number of pages in flight, as the workers last reported. After `pause` it is 0 only if none is in
        flight."""
        return sum(worker.in_flight_at_most for worker in self._workers.values())

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers.values()]

    def holdings(self) -> dict[int, tuple[Holding, ...]]:
        """Returns what the caches and queues of each process hold, by process id, this process first; see
        `HOLDINGS`."""
        workers = self._workers.values()
        unsent = [worker.writer.transport.get_write_buffer_size() for worker in workers]
        own = (
            Holding("leased_urls", self._outstanding()),
            Holding("uncommitted_pages", sum(worker.uncommitted for worker in workers)),
            Holding("unsent_messages", sum(size > 0 for size in unsent), sum(unsent)),
        )
        return {os.getpid(): own, **{worker.process.pid: worker.holdings for worker in workers}}

    def leave(self, host: str) -> None:
        """Sends no more requests to the host in this run. Those in flight finish."""
        self._left.add(host)
        for worker in self._workers.values():
            send(worker.writer, LeaveHost(host))

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        """See `Crawler.unlearn`."""
        for worker in self._workers.values():
            send(worker.writer, Grant(lessons=tuple(lessons)))
        self.wake()

    def take_notices(self) -> Sequence[str]:
        """See `RunnableCrawl.take_notices`."""
        return self._participation.take_notices() if self._participation else ()

    def pause(self) -> None:
        """See `CrawlLoop.pause`."""
        super().pause()
        self._send_pause()

    def resume(self) -> None:
        """See `CrawlLoop.resume`."""
        super().resume()
        self._send_pause()

    def _send_pause(self) -> None:
        for worker in self._workers.values():
            worker.send_pause(self._paused)

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Runs the crawl and returns why it ended. However it ends, the pages visited are committed; except when it is
        cancelled while the server that keeps the frontier does not answer."""
        if max_pages is not None:
            self._pages_left = max_pages
        is_cancelled = False
        try:
            for number in range(self._count):
                await self._start_worker(number)
            if self._participation is not None:
                self._begin_task(self._participation.run())
            reason = await self._run_loop()
            await self._stop_workers()
        except asyncio.CancelledError:
            is_cancelled = True
            raise
        finally:
            await self._end()
            if not (is_cancelled and self._calls.away):
                await self._commit_rest()
        return reason

    def wake(self) -> None:
        """See `CrawlLoop.wake`."""
        self._leasing.note_news()
        super().wake()

    async def _commit_rest(self) -> None:
        """Commits what was reported. A commit under way is awaited first."""
        await self._calls.finish()
        self._batch.commit_all()
        await self._calls.finish()

    def _begin(self) -> None:
        self._acknowledge()
        self._grant()

    def _is_busy(self) -> bool:
        waits = self._leasing.is_waiting or self._is_rejoining or self._batch.is_committing
        return waits or any(worker.held or worker.waiting for worker in self._workers.values())

    def _has_finished(self) -> bool:
        return self._leasing.is_finished

    def _next_ready_at(self) -> float | None:
        return self._leasing.next_ready_at()

    def _is_full(self) -> bool:
        return self._free_places() <= 0 or self._pages_left <= self._outstanding()

    # ---- leases -----------------------------------------------------------------------------------------------------

    def _free_places(self) -> int:
        """How many hosts may be leased now: one per free place, and some that wait for a place."""
        free = sum(max(worker.room, 0) for worker in self._workers.values())
        waiting = sum(len(worker.waiting) for worker in self._workers.values())
        return min(free, MAX_WAITING_PER_PLACE * self._places() - waiting) if free else 0

    def _places(self) -> int:
        return sum(worker.places for worker in self._workers.values())

    def _grant(self) -> None:
        if self._stopping or self._paused or self._pages_left <= 0:
            self._return_unstarted()
            return
        if self._free_places() > 0:
            self._batch.give_back()
        self._send_waiting()
        while self._lease_more():
            self._send_waiting()
        self._send_waiting()

    def _lease_more(self) -> bool:
        """Leases hosts for the free places. Returns whether more can be leased at once; False while the call waits."""
        room, share = self._free_places(), self._urls_per_lease()
        return not self._is_rejoining and room > 0 and share > 0 and self._leasing.lease(room, share)

    def _without_lessons(self, lease: Lease) -> list[str]:
        return self._worker_of(lease.partition).hosts_without_lessons([lease])

    def _keep_lease(self, held: HeldLease) -> None:
        """Keeps a lease for its worker, until that has room."""
        self._worker_of(held.lease.partition).waiting.append(held)

    def _worker_of(self, partition: int) -> WorkerRecord:
        return self._workers[share_of_partition(partition, self._count)]

    def _send_waiting(self) -> None:
        for worker in self._workers.values():
            self._send_leases(worker)

    def _outstanding(self) -> int:
        """Leased URLs without an outcome: each may become one more page."""
        return sum(worker.outstanding for worker in self._workers.values())

    def _urls_per_lease(self) -> int:
        """How many URLs a lease may have. Of the pages left to visit each place gets its share, so that all places have
        work until the end; 0 if every page left is covered by a leased URL."""
        most = self._settings.max_lease_urls
        if self._pages_left == float("inf"):
            return most
        left = int(self._pages_left) - self._outstanding()
        return min(most, max(left // (2 * max(self._places(), 1)), 1)) if left > 0 else 0

    def _send_leases(self, worker: WorkerRecord) -> None:
        sent: list[HeldLease] = []
        while worker.waiting and worker.room > 0 and (share := self._urls_per_lease()):
            held = worker.waiting.popleft()
            if len(held.lease.urls) > share:  # the other URLs are ready again when the lease ends
                held.lease = replace(held.lease, urls=held.lease.urls[:share], is_full=True)
            held.urls = {leased.url: leased for leased in held.lease.urls}
            worker.held[held.lease.host] = held
            sent.append(held)
        if sent:
            leases = tuple(held.lease for held in sent)
            robots = tuple(item for held in sent for item in held.robots.items())
            lessons = tuple(lesson for held in sent for lesson in held.lessons)
            pages = tuple(page for held in sent for page in held.indexed_pages)
            send(worker.writer, Grant(pack(leases), robots, lessons, pages))

    def _return_unstarted(self) -> None:
        """Releases the leases that were not sent to a worker."""
        now = self._clock.now()
        for worker in self._workers.values():
            for held in worker.waiting:
                lease = held.lease
                self._batch.release(Release(lease.host, now, lease.backoff_s, lease.cut_at, token=lease.token))
            worker.waiting.clear()
            if self._stopping and not self._leasing.is_waiting:
                self._send_stop(worker)

    def _send_stop(self, worker: WorkerRecord) -> None:
        if not worker.stop_sent:
            worker.stop_sent = True
            send(worker.writer, Stop())

    # ---- workers ----------------------------------------------------------------------------------------------------

    async def _start_worker(self, number: int) -> None:
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
        _LOG.info("worker %d started as process %d", number, process.pid, extra={"worker": number, "pid": process.pid})
        settings = self._worker_settings(places)
        send(writer, self._setup_of(settings))
        for host in self._left:
            send(writer, LeaveHost(host))
        if self._paused:
            worker.send_pause(True)
        self._begin_task(self._listen(worker, reader))

    def _setup_of(self, settings: Settings) -> WorkerSetup:
        if self._membership is None:
            return replace(self._setup, settings=settings)
        until, clock_offset_s = self._membership.until, self._membership.clock_offset_s
        return replace(self._setup, settings=settings, until=until, clock_offset_s=clock_offset_s)

    def _worker_settings(self, places: int) -> Settings:
        """The settings of one worker: its share of the limits that hold for the whole crawl."""
        return replace(
            self._settings,
            concurrency=places,
            bodies_limit=max(self._settings.bodies_limit // self._count, _MIN_BODIES_BYTES),
            documents_at_once=max(self._settings.documents_at_once // self._count, 1),
        )

    def _begin_task(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._task_ended(task)

    async def _listen(self, worker: WorkerRecord, reader: asyncio.StreamReader) -> None:
        """Takes the reports of one worker until it ends, and replaces it if it died."""
        while (message := await receive(reader)) is not None:
            if isinstance(message, WorkerReport):
                self._take_report(worker, message)
        worker.places = 0  # it gets no more leases; its successor does
        await worker.process.wait()
        worker.writer.close()
        if worker.stop_sent:
            self._ended.stopped(worker)
        else:
            self._ended.died(worker, self.visited)
            await self._start_worker(worker.number)
        worker.mark.close()
        worker.has_ended.set()
        self._wake.set()

    def _take_report(self, worker: WorkerRecord, report: WorkerReport) -> None:
        worker.has_begun = True
        worker.in_flight = report.in_flight
        worker.holdings = report.holdings or worker.holdings
        worker.unacknowledged_pauses -= report.pauses
        self._learn(worker, report)
        for encoded in report.robots_records:
            self._batch.keep(encoded)
        for request in unpack_requests(report.requests):
            self._batch.note(request)
        for part in report.found:
            self._batch.find(unpack_found(part))
        for packed in report.results:
            self._take_result(worker, unpack_result(packed))
        for release in unpack_releases(report.releases):
            self._take_release(worker, release)
        worker.uncommitted += report.weight
        if worker.uncommitted >= self._setup.uncommitted_most // 2:
            self._batch.commit()
        self._acknowledge()
        self._wake.set()

    def _learn(self, worker: WorkerRecord, report: WorkerReport) -> None:
        """Saves what the worker learned about hosts."""
        for origin, access in report.robots:
            if (held := worker.held.get(host_of_origin(origin))) is not None:
                held.robots[origin] = access
        if report.robots or report.lessons:
            self._calls.run(partial(self._save, report.robots, report.lessons))

    def _save(self, robots: Sequence[tuple[str, Access]], lessons: Sequence[Lesson]) -> None:
        for origin, access in robots:
            self._robots.save_robots(origin, access)
        if lessons and self._lessons is not None:
            self._lessons.save_lessons(lessons)

    def _take_release(self, worker: WorkerRecord, release: Release) -> None:
        worker.held.pop(release.host, None)
        if release.partition is not None and share_of_partition(release.partition, self._count) != worker.number:
            worker.hosts.pop(release.host)  # if the host comes back, its lessons are sent again
        self._batch.release(release)

    def _take_result(self, worker: WorkerRecord, result: VisitResult) -> None:
        outcome = result.outcome
        held = worker.held.get(outcome.url.host_key)
        if held is not None:
            held.urls.pop(outcome.url, None)
        if outcome.state == "visited":
            self.visited += 1
            self._pages_left -= 1
        self._batch.add(result)

    def _acknowledge(self) -> None:
        """Acknowledges to the workers that all their reports are committed, if that is so, so that they may go on."""
        is_reported = any(worker.uncommitted for worker in self._workers.values())
        if is_reported and not self._batch and not self._batch.is_committing:
            self._commit_begins()()

    def _commit_begins(self) -> Callable[[], None]:
        """Returns what follows the commit of all reports so far: it acknowledges them."""
        reported = [(worker, worker.uncommitted) for worker in self._workers.values() if worker.uncommitted]
        for worker, _ in reported:
            worker.uncommitted = 0

        def committed() -> None:
            self._leasing.note_news()
            for worker, weight in reported:
                if self._workers.get(worker.number) is worker:
                    send(worker.writer, Committed(weight))
            self._wake.set()

        return committed

    async def _stop_workers(self) -> None:
        """Stops the workers, which have reported everything, and waits until they have ended."""
        while self._error is None and not all(worker.has_ended.is_set() for worker in self._workers.values()):
            for worker in self._workers.values():
                self._send_stop(worker)
            await self._wait()
        if self._error is not None:
            raise self._error

    async def _end(self) -> None:
        """Ends the workers after an error, or when `run` is cancelled."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._workers.values():
            worker.writer.close()
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.wait()

    # ---- several machines: the part of `Machine` -------------------------------------------------------------------

    @property
    def is_stopping(self) -> bool:
        """See `Machine`."""
        return self._stopping

    @property
    def _is_rejoining(self) -> bool:
        return self._participation is not None and self._participation.is_rejoining

    def confirm(self, until: float) -> None:
        """See `Machine`."""
        for worker in self._workers.values():
            send(worker.writer, Confirmed(until))

    def bar(self, hosts: Sequence[str]) -> None:
        """See `Machine`."""
        for host in hosts:
            if host not in self._left:
                self.leave(host)

    def drop(self) -> None:
        """See `Machine`."""
        self._leasing.forget()
        for worker in self._workers.values():
            worker.waiting.clear()
            worker.stop_sent = True
            if worker.process.returncode is None:
                worker.process.kill()

    async def ended(self) -> None:
        """See `Machine`."""
        for worker in self._workers.values():
            await worker.has_ended.wait()

    async def begin_anew(self) -> None:
        """See `Machine`."""
        for number in range(self._count):
            await self._start_worker(number)

    def _lose(self) -> None:
        if self._participation is not None:
            self._participation.lose()
