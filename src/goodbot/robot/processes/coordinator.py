"""Runs a crawl with several workers. Only this process writes to the frontier, the archive and the index.

Each partition of hosts belongs to one worker, so the process that requests a host also keeps its delays and its
robots.txt. The coordinator hands out leases, takes reports, and commits as a crawl without workers does. It replaces a
worker that dies; the hosts of that worker wait as after any kill.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from socket import socketpair
from typing import Final

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import EndReason, Holding
from goodbot.partitions import share_of_partition
from goodbot.ports import Clock, Frontier, LessonStore, RobotsStore
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import MAX_OUTCOMES, Batch
from goodbot.robot.crawl.loop import CrawlLoop
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.ended_workers import EndedWorkers
from goodbot.robot.processes.messages import (
    Committed,
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
from goodbot.robot.processes.spawning import Start, start_process
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
        frontier: Frontier,
        robots: RobotsStore,
        batch: Batch,
        clock: Clock,
        lessons: LessonStore | None = None,
        start: Start = start_process,
        keep_deadly: Callable[[Url, bytes], str] | None = None,
    ) -> None:
        """`keep_deadly` stores the records of an answer that killed the workers reading it, and returns a clause for
        the outcome that says where they are."""
        super().__init__(frontier, batch, clock)
        self._settings = settings
        self._setup = replace(setup, uncommitted_most=max(MAX_OUTCOMES // workers, 1), processes=workers)
        self._frontier = frontier
        self._robots = robots
        self._batch = batch
        self._lessons = lessons
        self._count = workers
        self._start = start
        self._workers: dict[int, WorkerRecord] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._ended = EndedWorkers(settings, setup, robots, batch, clock, keep_deadly)
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
        """Runs the crawl and returns why it ended. However it ends, the pages visited are committed."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            for number in range(self._count):
                await self._start_worker(number)
            reason = await self._run_loop()
            await self._stop_workers()
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
        while (room := self._free_places()) > 0 and (share := self._urls_per_lease()):
            leases = self._frontier.lease(room, share, self._clock.now(), sized=True)
            for lease in leases:
                self._workers[share_of_partition(lease.partition, self._count)].waiting.append(lease)
            self._send_waiting()
            if len(leases) < room:
                return

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
        leases: list[Lease] = []
        while worker.waiting and worker.room > 0 and (share := self._urls_per_lease()):
            lease = worker.waiting.popleft()
            if len(lease.urls) > share:  # the other URLs are ready again when the lease ends
                lease = replace(lease, urls=lease.urls[:share], is_full=True)
            worker.held[lease.host] = HeldLease(lease, {leased.url: leased for leased in lease.urls})
            leases.append(lease)
        if leases:
            lessons, indexed = self._lessons_for(worker, leases)
            robots = tuple(self._robots_for(leases))
            send(worker.writer, Grant(pack(tuple(leases)), robots, tuple(lessons), tuple(indexed)))

    def _robots_for(self, leases: Sequence[Lease]) -> Iterator[tuple[str, Access]]:
        """Yields the known robots.txt of each origin of the leases. It is sent with every lease, since a worker keeps
        it only as long as it holds the lease (docs/decisions/0021)."""
        for origin in dict.fromkeys(leased.url.origin for lease in leases for leased in lease.urls):
            if access := self._robots.load_robots(origin):
                yield origin, access

    def _lessons_for(self, worker: WorkerRecord, leases: list[Lease]) -> tuple[Sequence[Lesson], Sequence[IndexedPage]]:
        """Returns the lessons about hosts whose lessons were not sent to this worker recently, and the indexed pages of
        these hosts."""
        if self._lessons is None or not (hosts := worker.hosts_without_lessons(leases)):
            return (), ()
        return self._lessons.load_lessons(hosts), self._lessons.load_indexed_pages(hosts)

    def _return_unstarted(self) -> None:
        """Releases the leases that were not sent to a worker."""
        now = self._clock.now()
        for worker in self._workers.values():
            for lease in worker.waiting:
                self._batch.release(Release(lease.host, now, lease.backoff_s, lease.cut_at, token=lease.token))
            worker.waiting.clear()
            if self._stopping:
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
        send(writer, replace(self._setup, settings=settings))
        for host in self._left:
            send(writer, LeaveHost(host))
        if self._paused:
            worker.send_pause(True)
        task = asyncio.create_task(self._listen(worker, reader))
        self._listening.add(task)
        task.add_done_callback(self._listener_done)

    def _worker_settings(self, places: int) -> Settings:
        """The settings of one worker: its share of the limits that hold for the whole crawl."""
        return replace(
            self._settings,
            concurrency=places,
            bodies_limit=max(self._settings.bodies_limit // self._count, _MIN_BODIES_BYTES),
            documents_at_once=max(self._settings.documents_at_once // self._count, 1),
        )

    def _listener_done(self, task: asyncio.Task[None]) -> None:
        self._listening.discard(task)
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

    def _take_report(self, worker: WorkerRecord, report: WorkerReport) -> None:
        worker.has_begun = True
        worker.in_flight = report.in_flight
        worker.holdings = report.holdings or worker.holdings
        worker.unacknowledged_pauses -= report.pauses
        for origin, access in report.robots:
            self._robots.save_robots(origin, access)
        if report.lessons and self._lessons is not None:
            self._lessons.save_lessons(report.lessons)
        for encoded in report.robots_records:
            self._batch.keep(encoded)
        for request in unpack_requests(report.requests):
            self._batch.note(request)
        for part in report.found:
            self._batch.find(unpack_found(part))
        for packed in report.results:
            self._take_result(worker, unpack_result(packed))
        for release in unpack_releases(report.releases):
            worker.held.pop(release.host, None)
            if release.partition is not None and share_of_partition(release.partition, self._count) != worker.number:
                worker.hosts.pop(release.host)  # if the host comes back, its lessons are sent again
            self._batch.release(release)
        worker.uncommitted += report.weight
        if worker.uncommitted >= self._setup.uncommitted_most // 2:
            self._batch.commit()
            self._acknowledge()
        self._wake.set()

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
        """Acknowledges to the workers that all their reports are committed, so that they may go on."""
        for worker in self._workers.values():
            if worker.uncommitted:
                send(worker.writer, Committed(worker.uncommitted))
                worker.uncommitted = 0

    async def _stop_workers(self) -> None:
        """Stops the workers, which have reported everything, and waits until they have ended."""
        for worker in self._workers.values():
            self._send_stop(worker)
        while self._listening:
            await asyncio.wait(self._listening)
        if self._error is not None:
            raise self._error

    async def _end(self) -> None:
        """Ends the workers after an error, or when `run` is cancelled."""
        for task in list(self._listening):
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        for worker in self._workers.values():
            worker.writer.close()
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.wait()
