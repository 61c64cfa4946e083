"""One robot process of a crawl: fetches and reads what its owner grants, and reports. Keeps nothing on disk.

    python -P -m goodbot.robot.processes.worker FD MARK

FD is its end of a socket pair, MARK a file it shares with its owner (`PageMark`). It ends when it is told to stop, or
when the owner is gone.
"""

import asyncio
import socket
import sys
from collections import deque
from collections.abc import Iterable
from typing import Final

from goodbot.archive_values import EncodedRecords
from goodbot.clock import SystemClock
from goodbot.exclusion import Access
from goodbot.interrupts import ignore_for_good
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import HostRequest
from goodbot.logs import start_logging
from goodbot.ports import Clock, Transport
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.messages import (
    Committed,
    Grant,
    LeaveHost,
    Packed,
    Pause,
    Stop,
    WorkerReport,
    pack,
    pack_found,
    receive,
    send,
    weight_of,
)
from goodbot.url import Url
from goodbot.values import FoundLinks, Lease, Release
from goodbot.visit_values import VisitResult

REPORT_S: Final = 0.05
REPORT_MOST: Final = 16
"""How long a reading waits for others, and how much goes together (`weight_of`): a report costs the owner a wake-up."""


class Granted:
    """`Leases` from the owner."""

    def __init__(self) -> None:
        self._leases: deque[Lease] = deque()

    def put(self, leases: tuple[Lease, ...]) -> None:
        self._leases.extend(leases)

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """As many as have come."""
        return [self._leases.popleft() for _ in range(min(hosts, len(self._leases)))]

    def take_back(self) -> tuple[Lease, ...]:
        """Those not begun."""
        leases = tuple(self._leases)
        self._leases.clear()
        return leases

    def next_ready_at(self) -> float:
        """When the owner says so: it wakes the crawler."""
        return float("inf")


class GrantedRobots:
    """RobotsStore: what came with leases, and what was fetched during them, until they end. So what a lease needs is
    at hand, and memory holds what the leases of one worker need."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, Access]] = {}
        self._fetched: list[tuple[str, Access]] = []

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._held.get(_host_of(origin), {}).get(origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`; the owner is told."""
        self.learn(origin, access)
        self._fetched.append((origin, access))

    def learn(self, origin: str, access: Access) -> None:
        """Kept until the host is let go."""
        self._held.setdefault(_host_of(origin), {})[origin] = access

    def let_go(self, host: str) -> None:
        """The lease of the host has ended."""
        self._held.pop(host, None)

    def news(self) -> tuple[tuple[str, Access], ...]:
        """What was fetched since it was asked last."""
        fetched, self._fetched = tuple(self._fetched), []
        return fetched


def _host_of(origin: str) -> str:
    return Url(origin + "/").host_key


class TaughtLessons:
    """LessonStore: what comes with leases goes to the crawler at once; what it learns goes to the owner."""

    def __init__(self) -> None:
        self._learned: list[Lesson] = []

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`: they have come already."""
        return []

    def load_said(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_said`: it has come already."""
        return []

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`."""
        self._learned += lessons

    def news(self) -> tuple[Lesson, ...]:
        """What was learned since it was asked last."""
        learned, self._learned = tuple(self._learned), []
        return learned


class Reports:
    """The `Sink` of a worker: readings gather for a moment and go to the owner."""

    def __init__(
        self, writer: asyncio.StreamWriter, robots: GrantedRobots, clock: Clock, uncommitted_most: int
    ) -> None:
        self._writer = writer
        self._most = uncommitted_most
        self._uncommitted = self._weight = 0
        self._committed = asyncio.Event()
        self._robots = robots
        self.lessons = TaughtLessons()
        self._clock = clock
        self._readings: list[VisitResult] = []
        self._found: list[Packed] = []
        self._releases: list[Release] = []
        self._kept: list[EncodedRecords] = []
        self._asked: list[HostRequest] = []
        self._since = clock.now()
        self.crawler: Crawler | None = None

    def __bool__(self) -> bool:
        return bool(self._readings or self._found or self._releases or self._kept or self._asked)

    def keep(self, encoded: EncodedRecords) -> None:
        """Records of a robots.txt; they go with the next report."""
        self._begin()
        self._kept.append(encoded)

    def add(self, reading: VisitResult) -> None:
        self._begin()
        self._readings.append(reading)
        self._weigh(weight_of(len(reading.outcome.links), reading.encoded))

    def find(self, found: FoundLinks) -> None:
        """See `Sink`."""
        self._begin()
        self._found.append(pack_found(found))
        self._weigh(weight_of(len(found.links)))

    def _weigh(self, weight: int) -> None:
        self._weight += weight
        self._uncommitted += weight
        if self._weight >= REPORT_MOST or self._uncommitted >= self._most:
            self.commit()

    def release(self, release: Release) -> None:
        self._begin()
        self._releases.append(release)
        self._robots.let_go(release.host)

    def note(self, asked: HostRequest) -> None:
        """What a host was asked; it goes with the next report."""
        self._begin()
        self._asked.append(asked)

    def _begin(self) -> None:
        """The first of a report wakes the loop, which then waits until that is due: it may have gone to sleep for a
        minute."""
        if not self:
            self._since = self._clock.now()
            if self.crawler is not None:
                self.crawler.wake()

    def give_back(self) -> None:
        """A host that waits to be given back goes at once: there is room for another."""
        if self._releases:
            self.commit()

    def due_in_s(self) -> float:
        return max(self._since + REPORT_S - self._clock.now(), 0.0)

    def commit_if_due(self) -> None:
        if self and self.due_in_s() <= 0:
            self.commit()

    def commit(self) -> None:
        """Sends what there is."""
        if self:
            self._report()

    def _report(self, pauses: int = 0) -> None:
        in_flight = self.crawler.in_flight if self.crawler else 0
        parts = tuple(map(pack, self._readings)), tuple(self._releases), tuple(self._kept)
        asked, lessons = tuple(self._asked), self.lessons.news()
        found, weight = tuple(self._found), self._weight
        send(self._writer, WorkerReport(*parts, self._robots.news(), in_flight, asked, lessons, pauses, found, weight))
        self._readings, self._releases, self._kept, self._asked = [], [], [], []
        self._found, self._weight = [], 0

    def paused(self, not_begun: Iterable[Lease]) -> None:
        """The crawler was told to pause, or to go on: the owner learns at once what is in flight now, and gets the
        leases back that were not begun."""
        for lease in not_begun:
            self.release(Release(lease.host, self._clock.now(), lease.backoff_s, lease.cut_at))
        self._report(pauses=1)

    def commit_all(self) -> None:
        self.commit()

    def committed(self, weight: int) -> None:
        """The owner has committed so much."""
        self._uncommitted -= weight
        self._committed.set()

    async def has_room(self, *, for_list: bool = False) -> None:
        """Waits while the owner is behind. Parts of lists take half of the room, so that pages have the rest."""
        most = max(self._most // 2, 1) if for_list else self._most
        while self._uncommitted >= most:
            self.commit()
            self._committed.clear()
            await self._committed.wait()


async def work(
    connection: socket.socket, mark: PageMark, clock: Clock | None = None, transport: Transport | None = None
) -> None:
    """Works for the owner at the other end until it is told to stop, or the owner is gone. By the real clock and over
    the network, if no others are given."""
    reader, writer = await asyncio.open_connection(sock=connection)
    setup = await receive(reader)
    if not isinstance(setup, WorkerSetup):
        return
    start_logging(setup.logs)
    clock, robots, granted = clock or SystemClock(), GrantedRobots(), Granted()
    reports = Reports(writer, robots, clock, setup.uncommitted_most)
    crawler, fetching = crawler_of(
        setup, granted, reports, robots, clock, lessons=reports.lessons, mark=mark, transport=transport
    )
    reports.crawler = crawler
    send(writer, WorkerReport((), (), (), (), 0))  # it has begun
    run = asyncio.ensure_future(crawler.run())
    listening = asyncio.ensure_future(_listen(reader, granted, robots, reports, crawler))
    try:
        await asyncio.wait((run, listening), return_when=asyncio.FIRST_COMPLETED)
        if listening.done():  # the owner is gone: nobody takes what would come
            listening.result()
            run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        if not run.cancelled():
            run.result()
            await writer.drain()
    finally:
        listening.cancel()
        await fetching.close()
        writer.close()


async def _listen(
    reader: asyncio.StreamReader, granted: Granted, robots: GrantedRobots, reports: Reports, crawler: Crawler
) -> None:
    """Hands on what the owner says until it is gone. After `Stop` too: what is still being read waits for commits."""
    while (message := await receive(reader)) is not None:
        if isinstance(message, Stop):
            crawler.stop()
        if isinstance(message, Committed):
            reports.committed(message.weight)
        if isinstance(message, LeaveHost):
            crawler.leave(message.host)
        if isinstance(message, Pause):
            (crawler.pause if message.on else crawler.resume)()
            reports.paused(granted.take_back() if message.on else ())
        if isinstance(message, Grant):
            for origin, access in message.robots:
                robots.learn(origin, access)
            crawler.learn(message.lessons, message.indexed_pages)
            granted.put(message.leases)
            crawler.wake()


def main() -> None:
    """Ctrl-C is the owner's business: it says when to stop."""
    ignore_for_good()
    connection, mark = map(int, sys.argv[1:])
    asyncio.run(work(socket.socket(fileno=connection), PageMark(mark)))


if __name__ == "__main__":
    main()
