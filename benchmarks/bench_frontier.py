"""Measures the frontier as it grows: link checks and claims (URLs leased) per second, bytes per URL, memory, and the
cost of many hosts.

    make bench-frontier SIZES="1 10 30" HOSTS="1000 100000 1000000"

SIZES are millions of known URLs, in one file that grows. At each size the benchmark leases 64 hosts at a time with 64
URLs each, and settles about a hundred pages at a time, one or two of each host (see `growing_web`); each transaction is
synced to disk.

HOSTS are numbers of hosts with two pages each, to measure the cost of choosing among so many hosts. An empty list
leaves its table out.

At the end the benchmark leases 64 hosts with a delay and 200 pages each again and again, settles one page in each
lease, and packs each lease for a worker and unpacks it: first with 64 URLs in each lease, then with as many as the host
can use.

The figures are CPU time of this process; `wall` is elapsed time, which includes waiting for the disk. The benchmark
deletes all its files except the JSON file.
"""

import pickle
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from goodbot.robot.processes.messages import pack, unpack_leases
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import FakeClock, SimulatedWeb
from goodbot.values import Discovery, Outcome, Release
from growing_web import GrowingWeb, batches
from settings import numbers, save, start

SIZES = numbers("SIZES", "1 10 30", "millions of known URLs", 0.01, 1000)
HOSTS = numbers("HOSTS", "1000 100000 1000000", "numbers of hosts to choose among", 64, 100_000_000)
A = TypeVar("A")
R = TypeVar("R")
FAR = 1e10
ROUNDS = 2
CHOICES = 100


@dataclass(frozen=True)
class Size:
    """The figures at one size. µs are CPU time. `fill`: adding URLs, 640 of a host at a time."""

    urls: int
    pages: int
    fill_us_per_url: float
    settle_us_per_page: float
    settle_wall_us_per_page: float
    link_checks_per_s: float
    lease_us_per_url: float
    claims_per_s: float
    bytes_per_url: float
    peak_mb: float

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.urls / 1e6:>8.1f} {self.fill_us_per_url:>9.1f} {self.settle_us_per_page:>9.0f} "
            f"{self.settle_wall_us_per_page:>9.0f} {self.link_checks_per_s:>10,.0f} {self.claims_per_s:>10,.0f} "
            f"{self.bytes_per_url:>9.1f} {self.peak_mb:>8.0f}"
        )


@dataclass(frozen=True)
class Choice:
    """The cost of leasing one host, when 64 of `hosts` hosts are leased at a time."""

    hosts: int
    add_us_per_url: float
    lease_us_per_host: float
    peak_mb: float

    def row(self) -> str:
        """Returns a line of the table."""
        return f"{self.hosts:>9,} {self.add_us_per_url:>9.1f} {self.lease_us_per_host:>12.1f} {self.peak_mb:>8.0f}"


@dataclass(frozen=True)
class Delay:
    """The cost of one page of a host with a delay, for which each lease fetches one page. `sized`: a lease has as many
    URLs as the host can use; otherwise it has 64."""

    sized: bool
    urls_per_lease: float
    frontier_us_per_page: float
    message_us_per_page: float

    def row(self) -> str:
        """Returns a line of the table."""
        figures = f"{self.urls_per_lease:>9.1f} {self.frontier_us_per_page:>12.0f} {self.message_us_per_page:>12.1f}"
        return f"{'sized' if self.sized else 'of 64':>9} {figures}"


class Crawl:
    """A crawl of `GrowingWeb`."""

    def __init__(self, folder: Path) -> None:
        self.frontier = SqliteFrontier.open(folder / "frontier.sqlite", create=True)
        self.file = folder / "frontier.sqlite"
        self._web = GrowingWeb()

    def fill(self, urls: int) -> float:
        """Adds URLs until `urls` are known. Returns CPU µs per URL."""
        spent, before = 0.0, self._web.known
        while self._web.known < urls:
            found = self._web.discover()
            began = time.process_time()
            self.frontier.add(found)
            spent += time.process_time() - began
        return spent / max(self._web.known - before, 1) * 1e6

    def measure(self, fill_us: float) -> Size:
        """Measures the size of the file, then leases and settles pages."""
        bytes_per_url = self._bytes() / self._web.known
        lease_s = settle_s = wall_s = 0.0
        before, links = self._web.pages, 0
        for round_ in range(ROUNDS):
            began = time.process_time()
            leases = self.frontier.lease(64, 64, FAR)
            lease_s += time.process_time() - began
            for batch in batches(leases):
                outcomes = [self._web.visit(item, token) for item, token in batch]
                links += sum(len(outcome.links) for outcome in outcomes)
                cpu, wall = time.process_time(), time.monotonic()
                self.frontier.settle(outcomes, [])
                settle_s += time.process_time() - cpu
                wall_s += time.monotonic() - wall
            began = time.process_time()
            self.frontier.settle([], [Release(lease.host, 1e9 + round_, token=lease.token) for lease in leases])
            settle_s += time.process_time() - began
        pages = self._web.pages - before
        return Size(
            urls=self._web.known,
            pages=pages,
            fill_us_per_url=fill_us,
            settle_us_per_page=settle_s / pages * 1e6,
            settle_wall_us_per_page=wall_s / pages * 1e6,
            link_checks_per_s=links / settle_s,
            lease_us_per_url=lease_s / pages * 1e6,
            claims_per_s=pages / lease_s,
            bytes_per_url=bytes_per_url,
            peak_mb=_peak_mb(),
        )

    def _bytes(self) -> int:
        """Returns the size of the file, after the journal is merged into it."""
        self.frontier.close()
        size = self.file.stat().st_size
        self.frontier = SqliteFrontier.open(self.file)
        return size


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def choose(hosts: int) -> Choice:
    """Leases and releases 64 hosts at a time, of `hosts` hosts."""
    web = SimulatedWeb(hosts, FakeClock())
    source = web.url(0, 0)
    spent = 0.0
    with tempfile.TemporaryDirectory() as folder:
        frontier = SqliteFrontier.open(Path(folder) / "frontier.sqlite", create=True)
        began = time.process_time()
        for first in range(0, hosts, 1000):
            some = range(first, min(first + 1000, hosts))
            frontier.add([Discovery(web.url(host, page), 1, source) for host in some for page in (0, 1)])
        added = time.process_time() - began
        for round_ in range(CHOICES):
            began = time.process_time()
            leases = frontier.lease(64, 2, FAR)
            spent += time.process_time() - began
            frontier.settle([], [Release(lease.host, float(round_)) for lease in leases])
        frontier.close()
    return Choice(hosts, added / hosts / 2 * 1e6, spent / CHOICES / 64 * 1e6, _peak_mb())


def delay(sized: bool) -> Delay:
    """Visits one page of each of 64 hosts at a time, as if each asked for a delay."""
    web, frontier_s, message_s, leased, pages = SimulatedWeb(64, FakeClock()), 0.0, 0.0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        frontier = SqliteFrontier.open(Path(folder) / "frontier.sqlite", create=True)
        frontier.add([Discovery(web.url(host, page), 1, web.url(0, 0)) for host in range(64) for page in range(200)])
        for _ in range(CHOICES):
            began = time.process_time()
            leases = frontier.lease(64, 64, FAR, sized=sized)
            frontier_s += time.process_time() - began
            began = time.process_time()
            unpack_leases(pickle.loads(pickle.dumps(pack(tuple(leases)))))
            message_s += time.process_time() - began
            outcomes = [Outcome(lease.urls[0].url, "visited", 1e9, "status 200", 200) for lease in leases]
            releases = [Release(lease.host, 1e9, next_urls=1) for lease in leases]
            began = time.process_time()
            frontier.settle(outcomes, releases)
            frontier_s += time.process_time() - began
            leased += sum(len(lease.urls) for lease in leases)
            pages += len(leases)
        frontier.close()
    return Delay(sized, leased / pages, frontier_s / pages * 1e6, message_s / pages * 1e6)


def _in_a_child(task: Callable[[A], R], argument: A) -> R:
    """Runs one part in its own process, to measure the peak of its memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(task, argument).result()


def grow(sizes: list[float]) -> list[Size]:
    """Measures one file at all sizes, and prints the figures."""
    rows: list[Size] = []
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(Path(folder))
        for size in sizes:
            rows.append(crawl.measure(crawl.fill(int(size * 1e6))))
            print(rows[-1].row(), flush=True)
        crawl.frontier.close()
    return rows


def _values(rows: Sequence[Size | Choice | Delay]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]


def main() -> int:
    """Prints the tables and writes them as JSON."""
    print(f"{'M URLs':>8} {'fill µs':>9} {'settle µs':>9} {'wall µs':>9} {'checks/s':>10} {'claims/s':>10} ", end="")
    print(f"{'B/URL':>9} {'peak MB':>8}", flush=True)
    sizes = _in_a_child(grow, SIZES.value())
    print(f"{'hosts':>9} {'add µs':>9} {'lease µs':>12} {'peak MB':>8}", flush=True)
    choices = []
    for hosts in HOSTS.value():
        choices.append(_in_a_child(choose, int(hosts)))
        print(choices[-1].row(), flush=True)
    print(f"{'leases':>9} {'URLs':>9} {'frontier µs':>12} {'message µs':>12}")
    delays = [delay(sized) for sized in (False, True)]
    print(*(item.row() for item in delays), sep="\n")
    save("frontier", {"sizes": _values(sizes), "hosts": _values(choices), "delays": _values(delays)})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (SIZES, HOSTS), main))
