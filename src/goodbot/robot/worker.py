"""One robot process of a crawl: fetches and reads what its owner grants, and reports. Keeps nothing on disk.

    python -P -m goodbot.robot.worker FD

FD is its end of a socket pair. It ends when it is told to stop, or when the owner is gone.
"""

import asyncio
import signal
import socket
import sys
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Final

from goodbot.clock import SystemClock
from goodbot.exclusion import Access
from goodbot.live import Asked
from goodbot.ports import Clock
from goodbot.robot.assembly import crawler_of
from goodbot.robot.crawler import Crawler
from goodbot.robot.messages import Committed, Grant, Leave, Pause, Report, Setup, Stop, pack, receive, send
from goodbot.robot.reading import Reading
from goodbot.values import Encoded, Lease, Lesson, Release, Said

REPORT_S: Final = 0.05
REPORT_MOST: Final = 16
"""How long a reading waits for others, and how many go together: a report costs the owner a wake-up."""

ROBOTS_BYTES: Final = 8 * 1024 * 1024
"""Of robots.txt files that came with leases, each counted with 1 kB for itself."""


class Granted:
    """`Leases` from the owner."""

    def __init__(self) -> None:
        self._leases: deque[Lease] = deque()

    def put(self, leases: tuple[Lease, ...]) -> None:
        self._leases.extend(leases)

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """As many as have come."""
        return [self._leases.popleft() for _ in range(min(hosts, len(self._leases)))]

    def next_ready_at(self) -> float:
        """When the owner says so: it wakes the crawler."""
        return float("inf")


class GrantedRobots:
    """RobotsStore: what came with leases, and what was fetched here. Bounded: what is forgotten is fetched again."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Access] = OrderedDict()
        self._bytes = 0
        self._fetched: list[tuple[str, Access]] = []

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self._known.get(origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`; the owner is told."""
        self.learn(origin, access)
        self._fetched.append((origin, access))

    def learn(self, origin: str, access: Access) -> None:
        self._forget(origin)
        self._known[origin] = access
        self._bytes += _weight(access)
        while self._bytes > ROBOTS_BYTES and len(self._known) > 1:
            self._forget(next(iter(self._known)))

    def _forget(self, origin: str) -> None:
        access = self._known.pop(origin, None)
        self._bytes -= _weight(access) if access is not None else 0

    def news(self) -> tuple[tuple[str, Access], ...]:
        """What was fetched since it was asked last."""
        fetched, self._fetched = tuple(self._fetched), []
        return fetched


def _weight(access: Access) -> int:
    return len(access.body) + 1024


class TaughtLessons:
    """LessonStore: what comes with leases goes to the crawler at once; what it learns goes to the owner."""

    def __init__(self) -> None:
        self._learned: list[Lesson] = []

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`: they have come already."""
        return []

    def load_said(self, hosts: Iterable[str]) -> list[Said]:
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
        self._uncommitted = 0
        self._committed = asyncio.Event()
        self._robots = robots
        self.lessons = TaughtLessons()
        self._clock = clock
        self._readings: list[Reading] = []
        self._releases: list[Release] = []
        self._kept: list[Encoded] = []
        self._asked: list[Asked] = []
        self._since = clock.now()
        self.crawler: Crawler | None = None

    def __bool__(self) -> bool:
        return bool(self._readings or self._releases or self._kept or self._asked)

    def keep(self, encoded: Encoded) -> None:
        """Records of a robots.txt; they go with the next report."""
        self._begin()
        self._kept.append(encoded)

    def add(self, reading: Reading) -> None:
        self._begin()
        self._readings.append(reading)
        self._uncommitted += 1
        if len(self._readings) >= REPORT_MOST or self._uncommitted >= self._most:
            self.commit()

    def release(self, release: Release) -> None:
        self._begin()
        self._releases.append(release)

    def note(self, asked: Asked) -> None:
        """What a host was asked; it goes with the next report."""
        self._begin()
        self._asked.append(asked)

    def _begin(self) -> None:
        if not self:
            self._since = self._clock.now()

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
        send(self._writer, Report(*parts, self._robots.news(), in_flight, asked, lessons, pauses))
        self._readings, self._releases, self._kept, self._asked = [], [], [], []

    def paused(self) -> None:
        """The crawler was told to pause, or to go on: the owner is told at once what is in flight now."""
        self._report(pauses=1)

    def commit_all(self) -> None:
        self.commit()

    def committed(self, readings: int) -> None:
        """The owner has committed so many."""
        self._uncommitted -= readings
        self._committed.set()

    async def has_room(self) -> None:
        """Waits while the owner is behind."""
        while self._uncommitted >= self._most:
            self._committed.clear()
            await self._committed.wait()


async def work(connection: socket.socket) -> None:
    """Works for the owner at the other end until it is told to stop, or the owner is gone."""
    reader, writer = await asyncio.open_connection(sock=connection)
    setup = await receive(reader)
    if not isinstance(setup, Setup):
        return
    clock, robots, granted = SystemClock(), GrantedRobots(), Granted()
    reports = Reports(writer, robots, clock, setup.uncommitted_most)
    crawler, transport = crawler_of(setup, granted, reports, robots, clock, lessons=reports.lessons)
    reports.crawler = crawler
    send(writer, Report((), (), (), (), 0))  # it has begun
    run = asyncio.ensure_future(crawler.run())
    listening = asyncio.ensure_future(_listen(reader, granted, robots, reports, crawler))
    try:
        await asyncio.wait((run, listening), return_when=asyncio.FIRST_COMPLETED)
        if listening.done() and not listening.result():  # the owner is gone: nobody takes what would come
            run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        if not run.cancelled():
            run.result()
            await writer.drain()
    finally:
        listening.cancel()
        await transport.close()
        writer.close()


async def _listen(
    reader: asyncio.StreamReader, granted: Granted, robots: GrantedRobots, reports: Reports, crawler: Crawler
) -> bool:
    """Hands on what is granted; True when told to stop, False when the owner is gone."""
    while (message := await receive(reader)) is not None:
        if isinstance(message, Stop):
            crawler.stop()
            return True
        if isinstance(message, Committed):
            reports.committed(message.readings)
        if isinstance(message, Leave):
            crawler.leave(message.host)
        if isinstance(message, Pause):
            (crawler.pause if message.on else crawler.resume)()
            reports.paused()
        if isinstance(message, Grant):
            for origin, access in message.robots:
                robots.learn(origin, access)
            crawler.learn(message.lessons, message.said)
            granted.put(message.leases)
            crawler.wake()
    return False


def main() -> None:
    """Ctrl-C is the owner's business: it says when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    asyncio.run(work(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
