"""Public fakes for tests of programs that use goodbot: each implements a port and passes its contract suite."""

import asyncio
import heapq
import re
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import islice
from zlib import crc32

from goodbot.ports import Clock, Transport
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.worker import work
from goodbot.store.memory.memory_archive import MemoryArchive
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

__all__ = ["FakeClock", "FakeResolver", "FakeWeb", "MemoryArchive", "MemoryFrontier", "SimulatedWeb", "TaskWorkers"]


class FakeClock:
    """A clock that stands still until all tasks sleep, then jumps to the time at which the first one wakes. Sleeping
    takes no real time."""

    _TURNS = 20  # passes of the event loop without a new sleeper, after which all tasks count as asleep

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self._jumper: asyncio.Task[None] | None = None

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves the time forward; sleepers whose time has passed wake at the next jump."""
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._now + max(seconds, 0.0), self._count, future))
        if self._jumper is None or self._jumper.done():
            self._jumper = asyncio.create_task(self._jump())
        await future

    async def _jump(self) -> None:
        while self._sleepers:
            if self._sleepers[0][2].done():  # it was cancelled
                heapq.heappop(self._sleepers)
                continue
            count = self._count
            for _ in range(self._TURNS):
                await asyncio.sleep(0)
            if self._count != count:
                continue
            at, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                self._now = max(self._now, at)
                future.set_result(None)


class TaskWorkers:
    """Starts the workers of a `Coordinator` as tasks of its event loop, with one clock and one transport. `tasks` are
    those started, in order; cancelling one simulates the death of a process."""

    def __init__(self, clock: Clock, transport: Transport) -> None:
        self._clock = clock
        self._transport = transport
        self.tasks: list[_TaskWorker] = []

    async def __call__(self, connection: socket.socket, mark: PageMark) -> "_TaskWorker":
        self.tasks.append(_TaskWorker(work(connection.dup(), mark, self._clock, self._transport), len(self.tasks)))
        return self.tasks[-1]


class _TaskWorker:
    """A task in the role of a worker process."""

    def __init__(self, working: Coroutine[object, object, None], number: int) -> None:
        self.pid = -1 - number
        self.returncode: int | None = None
        self._killed = False
        self._task = asyncio.ensure_future(working)

    async def wait(self) -> int:
        await asyncio.wait((self._task,))
        if not self._killed:
            self._task.result()
        self.returncode = -9 if self._killed else 0
        return self.returncode

    def kill(self) -> None:
        self._killed = True
        self._task.cancel()


class FakeResolver:
    """A Resolver that finds only `addresses`, by name; they may be changed at any time. `lookups` are the names looked
    up, in order."""

    def __init__(self, addresses: Mapping[str, Sequence[str]]) -> None:
        self.addresses = dict(addresses)
        self.lookups: list[str] = []

    async def resolve(self, host: str) -> tuple[str, ...] | Failure:
        self.lookups.append(host)
        found = tuple(self.addresses.get(host, ()))
        return found or Failure("dns", f"the name has no address ({host}): it is not in `addresses`")

    async def close(self) -> None:
        return None


class FakeWeb:
    """A Transport over answers in memory: a response, a failure, or a function of the request, by URL text.

    Other URLs are answered with 404. `requests` are those sent, in order, and `times` their times; `most_in_flight` is
    the highest number in flight at once.
    """

    def __init__(
        self,
        answers: Mapping[str, Response | Failure | Callable[[Request], Response | Failure]],
        clock: Clock,
        *,
        elapsed_s: float = 0.0,
        peer: str | None = None,
    ) -> None:
        self._answers = answers
        self._clock = clock
        self._elapsed_s = elapsed_s
        self._peer = peer
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.most_in_flight = 0
        self._in_flight = 0

    async def send(self, request: Request) -> Capture:
        started = self._clock.now()
        self.requests.append(request)
        self.times.append(started)
        answer = self._answers.get(request.url.text, Response(404, (("content-type", "text/plain"),), b"not found"))
        result = answer(request) if callable(answer) else answer
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await self._clock.sleep(self._elapsed_s)
        finally:
            self._in_flight -= 1
        return Capture(request, result, started, self._elapsed_s, self._peer)

    async def close(self) -> None:
        return None


_OPEN = Response(200, (("content-type", "text/plain"),), b"User-agent: *\nAllow: /\n")


class SimulatedWeb:
    """A Transport over a web of any size that is computed, not stored: the same arguments give the same web.

    `hosts` hosts have `pages` pages on average (1 to 2 × `pages` - 1), each page `links` different links, or as many as
    there are pages to link to. Every page can be reached from `url(0, 0)`. No page or host is stored. An answer takes
    `elapsed_s`; `robots` gives the robots.txt of a host by its number.
    """

    _NAVIGATION = 20  # the same pages from every page of a host
    _CHILDREN = 8
    _FOLDER = 50
    _NAME = re.compile(r"h(\d{1,15})\.example")
    _PLACE = re.compile(r"https://h(\d{1,15})\.example/\d+/(\d{1,15})\.html")

    def __init__(
        self,
        hosts: int,
        clock: Clock,
        *,
        pages: int = 100,
        links: int = 84,
        elapsed_s: float = 0.0,
        robots: Callable[[int], Response] = lambda host: _OPEN,
    ) -> None:
        self._elapsed_s = elapsed_s
        self._robots = robots
        self._hosts = hosts
        self._clock = clock
        self._pages = pages
        self._links = links

    def url(self, host: int, page: int) -> Url:
        """Returns the URL of page `page` of host `host`, both counted from 0."""
        return Url(f"https://h{host}.example/{page // self._FOLDER}/{page}.html")

    def pages_of(self, host: int) -> int:
        """Returns how many pages a host has."""
        return 1 + crc32(b"%d" % host) % (2 * self._pages - 1)

    def links_of(self, host: int, page: int) -> list[Url]:
        """Returns the links of a page: most lead to its own folder, as on real sites, a few to other hosts."""
        size = self.pages_of(host)
        near = page - page % self._FOLDER
        targets = dict.fromkeys(self._links_to_other_hosts(host, page))
        own = [
            *range(page * self._CHILDREN + 1, page * self._CHILDREN + self._CHILDREN + 1),
            *range(self._NAVIGATION),
            *range(near, near + self._FOLDER),
            *range(near + self._FOLDER, near + self._FOLDER + self._links),
        ]
        targets |= dict.fromkeys((host, other) for other in own if other < size)
        return [self.url(*place) for place in islice(targets, self._links)]

    def _links_to_other_hosts(self, host: int, page: int) -> list[tuple[int, int]]:
        """Returns links to other hosts: from a first page to those of two more hosts (so all hosts form a tree), and
        from every page to two hosts chosen by hash."""
        children = [2 * host + 1, 2 * host + 2] if page == 0 else []
        chance = [crc32(b"%d/%d/%d" % (host, page, number)) % self._hosts for number in range(2)]
        return [(other, 0) for other in (*children, *chance) if other < self._hosts]

    async def send(self, request: Request) -> Capture:
        now = self._clock.now()
        if self._elapsed_s:
            await self._clock.sleep(self._elapsed_s)
        return Capture(request, self._answer(request.url), now, self._elapsed_s)

    async def close(self) -> None:
        return None

    def _answer(self, url: Url) -> Response:
        place = self._PLACE.fullmatch(url.text)
        host, page = map(int, place.groups()) if place else (-1, -1)
        if url.path == "/robots.txt":
            name = self._NAME.fullmatch(url.host)
            return self._robots(int(name[1])) if name else _OPEN
        if not 0 <= host < self._hosts or page >= self.pages_of(host) or url != self.url(host, page):
            return Response(404, (("content-type", "text/plain"),), b"not found")
        anchors = "\n".join(f'<a href="{link}">{link.path}</a>' for link in self.links_of(host, page))
        body = f"<!doctype html><title>Page {page} of host {host}</title>\n{anchors}\n"
        return Response(200, (("content-type", "text/html; charset=utf-8"),), body.encode())
