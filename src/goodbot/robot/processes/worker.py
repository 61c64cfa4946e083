"""Runs one worker process of a crawl: it fetches and reads what the coordinator grants, and reports the results.

    python -P -m goodbot.robot.processes.worker FD MARK

FD and MARK are descriptors: the worker's end of a socket pair, and a file that it shares with the coordinator
(`PageMark`). `forking` runs the same code in a forked process. The worker stores nothing in the crawl's folder. It ends
on the message `Stop`, or when the coordinator is gone.
"""

import asyncio
import socket
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from goodbot.archive_values import EncodedRecords
from goodbot.clock import SharedClock, SystemClock
from goodbot.exclusion import Access
from goodbot.interrupts import ignore_for_good
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Holding, HostRequest
from goodbot.logs import start_logging
from goodbot.ports import Clock, Transport
from goodbot.process_memory import keep_freed_blocks, return_free_pages
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.fetch.standing import Standing
from goodbot.robot.processes.messages import (
    Committed,
    Confirmed,
    Grant,
    LeaveHost,
    Pause,
    Stop,
    WorkerReport,
    pack,
    receive,
    send,
    unpack_leases,
    weight_of,
)
from goodbot.url import Url
from goodbot.values import FoundLinks, Lease, Release
from goodbot.visit_values import VisitResult

REPORT_S: Final = 0.05
REPORT_WEIGHT: Final = 16
"""A worker sends a report after `REPORT_S` seconds, or as soon as its results have the weight `REPORT_WEIGHT` (see
`weight_of`). It does not report each result alone, because each report wakes the coordinator."""

PROCESS_NAME: Final = "goodbot-worker"

HOLDINGS_INTERVAL_S: Final = 5.0
"""The time between two reports that say what the worker holds in memory."""


class GrantedLeases:
    """Implements `Leases` over what the coordinator has granted."""

    def __init__(self) -> None:
        self._leases: deque[Lease] = deque()

    def put(self, leases: tuple[Lease, ...]) -> None:
        self._leases.extend(leases)

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Leases.lease`. Returns leases that were granted and not started yet."""
        return [self._leases.popleft() for _ in range(min(hosts, len(self._leases)))]

    def take_back(self) -> tuple[Lease, ...]:
        """Removes and returns the leases that were not started."""
        leases = tuple(self._leases)
        self._leases.clear()
        return leases

    def next_ready_at(self) -> float:
        """See `Leases.next_ready_at`. Always infinity, since the crawler wakes when a lease arrives."""
        return float("inf")

    def is_finished(self) -> bool:
        """See `Leases.is_finished`. Always False, since the coordinator says when the crawl ends."""
        return False


class GrantedRobots:
    """Implements `RobotsStore` over the robots.txt files that came with leases or were fetched during them.

    They are dropped when the lease ends, so memory holds only what the current leases need.
    """

    def __init__(self) -> None:
        self._held: dict[str, dict[str, Access]] = {}
        self._fetched: list[tuple[str, Access]] = []

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._held.get(host_of_origin(origin), {}).get(origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        found = ((origin, self.load_robots(origin)) for origin in dict.fromkeys(origins))
        return {origin: access for origin, access in found if access is not None}

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`. The coordinator gets it with the next report."""
        self.learn(origin, access)
        self._fetched.append((origin, access))

    def learn(self, origin: str, access: Access) -> None:
        """Keeps a robots.txt until `let_go` of its host."""
        self._held.setdefault(host_of_origin(origin), {})[origin] = access

    def let_go(self, host: str) -> None:
        """Drops the files of the host: its lease has ended."""
        self._held.pop(host, None)

    def take_new(self) -> tuple[tuple[str, Access], ...]:
        """Returns the files fetched since the last call."""
        fetched, self._fetched = tuple(self._fetched), []
        return fetched


def host_of_origin(origin: str) -> str:
    """Returns the host (`Url.host_key`) of an origin."""
    return Url(origin + "/").host_key


class WorkerLessons:
    """Implements `LessonStore`: lessons that come with leases go to the crawler directly, those that it learns go to
    the coordinator."""

    def __init__(self) -> None:
        self._learned: list[Lesson] = []

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`. Empty, since the coordinator has sent the lessons with the lease."""
        return []

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_indexed_pages`. Empty, since the coordinator has sent these pages with the lease."""
        return []

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`."""
        self._learned += lessons

    def take_new(self) -> tuple[Lesson, ...]:
        """Returns the lessons learned since the last call."""
        learned, self._learned = tuple(self._learned), []
        return learned


class ReportingSink:
    """Implements `Sink`: collects results for a moment and sends them to the coordinator together."""

    def __init__(
        self, writer: asyncio.StreamWriter, robots: GrantedRobots, clock: Clock, uncommitted_most: int
    ) -> None:
        self._writer = writer
        self._uncommitted_limit = uncommitted_most
        self._uncommitted = self._weight = 0
        self._committed = asyncio.Event()
        self._robots = robots
        self.lessons = WorkerLessons()
        self._clock = clock
        self._results: list[VisitResult] = []
        self._found: list[bytes | FoundLinks] = []
        self._releases: list[Release] = []
        self._robots_records: list[EncodedRecords] = []
        self._requests: list[HostRequest] = []
        self._first_at = clock.now()
        self._holdings_at = 0.0
        self.crawler: Crawler | None = None

    def __bool__(self) -> bool:
        return bool(self._results or self._found or self._releases or self._robots_records or self._requests)

    def keep(self, encoded: EncodedRecords) -> None:
        """Takes the archive records of a robots.txt; the next report has them."""
        self._wake_for_first()
        self._robots_records.append(encoded)

    def add(self, result: VisitResult) -> None:
        self._wake_for_first()
        self._results.append(result)
        self._add_weight(weight_of(len(result.outcome.links), result.encoded))

    def find(self, found: FoundLinks) -> None:
        """See `Sink`."""
        self._wake_for_first()
        self._found.append(pack(found))
        self._add_weight(weight_of(len(found.links)))

    def _add_weight(self, weight: int) -> None:
        self._weight += weight
        self._uncommitted += weight
        if self._weight >= REPORT_WEIGHT or self._uncommitted >= self._uncommitted_limit:
            self.commit()

    def release(self, release: Release) -> None:
        self._wake_for_first()
        self._releases.append(release)
        self._robots.let_go(release.host)

    def note(self, request: HostRequest) -> None:
        """Takes a request that was sent; the next report has it."""
        self._wake_for_first()
        self._requests.append(request)

    def _wake_for_first(self) -> None:
        """Wakes the crawler's loop for the first entry of a report, so that it waits only until the report is due.
        Otherwise the loop may sleep for up to a minute."""
        if not self:
            self._first_at = self._clock.now()
            if self.crawler is not None:
                self.crawler.wake()

    def give_back(self) -> None:
        """Reports at once if the end of a lease waits to be reported, since there is room for another host."""
        if self._releases:
            self.commit()

    def due_in_s(self) -> float:
        return max(self._first_at + REPORT_S - self._clock.now(), 0.0)

    def commit_if_due(self) -> None:
        if self and self.due_in_s() <= 0:
            self.commit()

    def commit(self) -> None:
        """Sends a report if there is something to report."""
        if self:
            self._report()

    def _report(self, pauses: int = 0) -> None:
        in_flight = self.crawler.in_flight if self.crawler else 0
        report = WorkerReport(
            results=tuple(map(pack, self._results)),
            releases=pack(tuple(self._releases)),
            robots_records=tuple(self._robots_records),
            robots=self._robots.take_new(),
            in_flight=in_flight,
            requests=pack(tuple(self._requests)),
            lessons=self.lessons.take_new(),
            pauses=pauses,
            found=tuple(self._found),
            weight=self._weight,
            holdings=self._due_holdings(),
        )
        send(self._writer, report)
        self._results, self._releases, self._robots_records, self._requests = [], [], [], []
        self._found, self._weight = [], 0

    def _due_holdings(self) -> tuple[Holding, ...]:
        """Returns what the worker holds in memory, if that is due to be reported; else nothing. As often, returns free
        memory to the system."""
        now = self._clock.now()
        if self.crawler is None or now < self._holdings_at:
            return ()
        self._holdings_at = now + HOLDINGS_INTERVAL_S
        return_free_pages()
        return tuple(held for part in self.crawler.holdings().values() for held in part)

    def paused(self, not_begun: Iterable[Lease]) -> None:
        """Acknowledges `Pause` at once with the number of pages in flight, and gives back the leases that were not
        started."""
        for lease in not_begun:
            self.release(Release(lease.host, self._clock.now(), lease.backoff_s, lease.cut_at, token=lease.token))
        self._report(pauses=1)

    def commit_all(self) -> None:
        self.commit()

    def committed(self, weight: int) -> None:
        """Notes that the coordinator has committed results of this weight."""
        self._uncommitted -= weight
        self._committed.set()

    async def has_room(self, *, for_list: bool = False) -> None:
        """Waits while the coordinator is behind. Links of sitemaps and feeds use at most half of the room, so that some
        is left for pages."""
        limit = max(self._uncommitted_limit // 2, 1) if for_list else self._uncommitted_limit
        while self._uncommitted >= limit:
            self.commit()
            self._committed.clear()
            await self._committed.wait()


async def work(
    connection: socket.socket, mark: PageMark, clock: Clock | None = None, transport: Transport | None = None
) -> None:
    """Works for the coordinator at the other end of `connection` until the message `Stop`, or until the coordinator is
    gone. Without `clock` and `transport`, uses the real clock and the network."""
    reader, writer = await asyncio.open_connection(sock=connection)
    setup = await receive(reader)
    if not isinstance(setup, WorkerSetup):
        return
    start_logging(setup.logs)
    shared = SharedClock(setup.clock_offset_s) if setup.clock_offset_s is not None else None
    clock, robots, granted = clock or shared or SystemClock(), GrantedRobots(), GrantedLeases()
    standing = Standing(setup.until)
    reports = ReportingSink(writer, robots, clock, setup.uncommitted_most)
    crawler, fetching = crawler_of(
        *(setup, granted, reports, robots, clock),
        lessons=reports.lessons,
        mark=mark,
        transport=transport,
        standing=standing,
    )
    reports.crawler = crawler
    send(writer, WorkerReport())  # the worker has started
    run = asyncio.ensure_future(crawler.run())
    listener = _Listener(granted, robots, reports, crawler, standing)
    listening = asyncio.ensure_future(listener.listen(reader))
    try:
        await asyncio.wait((run, listening), return_when=asyncio.FIRST_COMPLETED)
        if listening.done():  # the coordinator is gone: no process would take the results
            listening.result()
            run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        if not run.cancelled():
            run.result()
    finally:
        listening.cancel()
        await fetching.close()
        writer.close()
        with suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()  # until everything is sent: `drain` does not wait for the last 64 KiB


class _Listener:
    """Handles the messages of the coordinator."""

    def __init__(
        self,
        granted: GrantedLeases,
        robots: GrantedRobots,
        reports: ReportingSink,
        crawler: Crawler,
        standing: Standing,
    ) -> None:
        self._granted = granted
        self._robots = robots
        self._reports = reports
        self._crawler = crawler
        self._standing = standing

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Handles messages until the coordinator is gone, even after `Stop`, since pages that are still being read wait
        for commits."""
        while (message := await receive(reader)) is not None:
            self._handle(message)

    def _handle(self, message: object) -> None:
        match message:
            case Stop():
                self._crawler.stop()
            case Committed(weight):
                self._reports.committed(weight)
            case Confirmed(until):
                self._standing.until = until
            case LeaveHost(host):
                self._crawler.leave(host)
            case Pause(on):
                (self._crawler.pause if on else self._crawler.resume)()
                self._reports.paused(self._granted.take_back() if on else ())
            case Grant():
                for origin, access in message.robots:
                    self._robots.learn(origin, access)
                self._crawler.learn(message.lessons, message.indexed_pages)
                self._granted.put(unpack_leases(message.leases))
                self._crawler.wake()


def run_worker(connection: int, mark: int) -> None:
    """Works with these descriptors until the crawl ends, in a process of its own. On Linux, `top` and `ps -e` show the
    process as `PROCESS_NAME`."""
    with suppress(OSError):  # another system, or a confined process
        Path("/proc/self/comm").write_text(PROCESS_NAME)
    keep_freed_blocks()
    asyncio.run(work(socket.socket(fileno=connection), PageMark(mark)))


if __name__ == "__main__":
    ignore_for_good()  # Ctrl-C is for the coordinator: it stops its workers
    run_worker(*map(int, sys.argv[1:]))
