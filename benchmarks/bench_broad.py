"""Compares the request rate of a broad crawl (many hosts, few pages of each, several workers) with the rate that
politeness allows, in simulated time.

    make bench-broad HOSTS=20000 MINUTES=30 WORKERS=2

The coordinator, its workers and the SQLite frontier are the real ones; the workers are tasks of one event loop,
connected by real socket pairs. Time and the web are simulated: each answer takes ANSWER_S (1 s). The hosts' robots.txt
files have 2 to 50 kB and ask for a Crawl-delay of 1 s; one in thirty may be cached only for a minute. All hosts are
seeds.

The crawl may send the next request to a host 1 s after the last answer of that host, and may have CONCURRENCY (64)
requests in flight. So it may send min(HOSTS / (ANSWER_S + 1 s), CONCURRENCY / ANSWER_S) requests a second. A request is
useful if it is for a page, or for a robots.txt that was unknown or stale. A request for a robots.txt is not useful if
the previous copy was still fresh, or if no page was fetched with that copy: a crawl that forgets its robots.txt files
has a useful rate near 0. `peak MB` is the memory of the one process in which coordinator, workers and web run.
"""

import asyncio
import resource
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

from goodbot.config import Settings
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.scope.scope import Scope
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import FakeClock, SimulatedWeb, TaskWorkers
from goodbot.values import Capture, Discovery, Request, Response
from settings import number, save, start, whole

HOSTS = whole("HOSTS", 20_000, "hosts, all of them seeds", 1, 1_000_000)
MINUTES = number("MINUTES", 30, "simulated minutes", 0.1, 100_000)
WORKERS = whole("WORKERS", 2, "workers", 1, 256)
CONCURRENCY = whole("CONCURRENCY", 64, "requests in flight at once", 1, 10_000)
ANSWER_S = number("ANSWER_S", 1, "simulated seconds until an answer", 0, 3600)
DELAY_S = 1.0
KEPT_S = 60.0
HEAD = b"User-agent: *\nCrawl-delay: 1\n"
RULES = tuple(b"Disallow: /no-such-folder/%d/\n" % number for number in range(1600))
SIZES = (2_000, 2_000, 2_000, 2_000, 2_000, 5_000, 5_000, 5_000, 15_000, 50_000)
TYPE = ("content-type", "text/plain")


def robots_of(host: int) -> Response:
    """Returns the robots.txt of a host. Its size, and how long it may be kept, depend on the number of the host."""
    rules = RULES[: SIZES[crc32(b"size %d" % host) % len(SIZES)] // len(RULES[-1])]
    headers = (TYPE, ("cache-control", "no-cache")) if _is_short_lived(host) else (TYPE,)
    return Response(200, headers, b"# host %d\n%s%s" % (host, HEAD, b"".join(rules)))


def _is_short_lived(host: int) -> bool:
    return crc32(b"lifetime %d" % host) % 30 == 0


class CountedWeb(SimulatedWeb):
    """Answers and counts requests. Of each host it remembers when it last sent the robots.txt, and whether a request
    for a page has followed."""

    def __init__(self, hosts: int, clock: FakeClock, answer_s: float) -> None:
        super().__init__(hosts, clock, pages=1000, links=12, elapsed_s=answer_s, robots=robots_of)
        self._fetched_at: dict[str, float] = {}
        self._unused: set[str] = set()
        self.pages = self.robots = self.needless = 0

    async def send(self, request: Request) -> Capture:
        """See `SimulatedWeb`."""
        host = request.url.host
        if request.url.path == "/robots.txt":
            self.robots += 1
            kept_s = KEPT_S if _is_short_lived(int(host[1:].partition(".")[0])) else 86400.0
            is_fresh = self._clock.now() < self._fetched_at.get(host, 0.0) + kept_s
            self.needless += is_fresh or host in self._unused
            self._unused.add(host)
        else:
            self.pages += 1
            self._unused.discard(host)
        capture = await super().send(request)
        if request.url.path == "/robots.txt":
            self._fetched_at[host] = self._clock.now()
        return capture


@dataclass(frozen=True)
class Broad:
    """The figures of one crawl. Rates are requests per simulated second."""

    hosts: int
    workers: int
    minutes: float
    pages: int
    robots: int
    needless_robots: int
    allowed_per_s: float
    useful_per_s: float
    share_of_allowed: float
    cpu_ms_per_page: float
    peak_mb: float


async def crawl(hosts: int, minutes: float, workers: int, concurrency: int, answer_s: float, folder: Path) -> Broad:
    """Crawls for `minutes` of simulated time."""
    clock = FakeClock()
    web = CountedWeb(hosts, clock, answer_s)
    settings = Settings(
        seeds=(web.url(0, 0).text,), scope="all", contact="bench@example.org", concurrency=concurrency, index=False
    )
    frontier = SqliteFrontier.open(folder / "frontier.sqlite", create=True, now=clock.now)
    frontier.add(Discovery(web.url(host, 0), 0) for host in range(hosts))
    guard = AddressGuard()
    setup = WorkerSetup(settings, identity_of(settings, "1.0"), guard, Scope(settings, (), guard), None, None)
    batch = Batch(frontier, frontier, None, None, clock, lambda outcome: None, courtesies=frontier)
    parts = {"setup": setup, "frontier": frontier, "robots": frontier, "batch": batch, "clock": clock}
    owner = Coordinator(settings, workers, **parts, lessons=frontier, start=TaskWorkers(clock, web))  # type: ignore[arg-type]
    began, cpu = clock.now(), time.process_time()
    run = asyncio.ensure_future(owner.run())
    end = asyncio.ensure_future(clock.sleep(minutes * 60.0))
    await asyncio.wait((run, end), return_when=asyncio.FIRST_COMPLETED)
    lasted_s, cpu_s = clock.now() - began, time.process_time() - cpu
    pages, robots, needless = web.pages, web.robots, web.needless
    owner.stop()
    await run
    frontier.close()
    allowed = min(hosts / (answer_s + DELAY_S), concurrency / answer_s if answer_s else float("inf"))
    useful = (pages + robots - needless) / lasted_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Broad(
        *(hosts, workers, lasted_s / 60.0, pages, robots, needless, round(allowed, 2), round(useful, 2)),
        *(round(useful / allowed, 4), round(cpu_s / max(pages, 1) * 1000, 3), round(peak_mb, 1)),
    )


def main() -> int:
    """Prints the figures and writes them as JSON."""
    sizes = HOSTS.value(), MINUTES.value(), WORKERS.value(), CONCURRENCY.value(), ANSWER_S.value()
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(crawl(*sizes, Path(folder)))
    print(
        f"{'hosts':>7} {'workers':>7} {'pages':>8} {'robots':>8} {'allowed/s':>9} {'useful/s':>9} {'share':>7} ", end=""
    )
    print(f"{'CPU ms':>7} {'peak MB':>8}")
    print(
        f"{result.hosts:>7} {result.workers:>7} {result.pages:>8} {result.robots:>8} {result.allowed_per_s:>9} "
        f"{result.useful_per_s:>9} {result.share_of_allowed:>7.1%} {result.cpu_ms_per_page:>7} {result.peak_mb:>8}"
    )
    save("broad", asdict(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (HOSTS, MINUTES, WORKERS, CONCURRENCY, ANSWER_S), main))
