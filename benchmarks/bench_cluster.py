"""Measures one crawl by several machines: 20,000 pages with 1 and 2 machines, and what PostgreSQL takes each second.

    make bench-cluster LOCALWEB=http://127.0.0.10:8800/ SIZES="1 10"

First, goodbot crawls PAGES pages of all sites that the portal LOCALWEB links to, without a delay, with archive and
index: one machine with its frontier in its folder (SQLite), one and two machines with a frontier in PostgreSQL. The
machines are processes on this computer, and the servers run on the same cores.

Then frontiers of both kinds grow to SIZES millions of URLs (see `growing_web`), 10,240 URLs in each transaction. At
each size 1 and 2 machines lease 64 hosts with 64 URLs each, and settle about a hundred pages at a time, several rounds
each. Every transaction is synced to disk. The figures are of elapsed time; CPU time is that of the machines and of the
database server.

The benchmark starts a PostgreSQL server of its own (Debian's package `postgresql`) and deletes all files except the
JSON file.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Final, NamedTuple

import psutil
import psycopg

from crawl_measure import measure
from crawl_web import LOCALWEB, sites_of
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.values import Release
from growing_web import GrowingWeb, batches
from postgres_server import PostgresServer, postgres_server, programs
from settings import UsageError, numbers, save, start, whole

PAGES = whole("PAGES", 20_000, "how many pages are crawled", 100, 1_000_000)
SIZES = numbers("SIZES", "1 10", "millions of known URLs", 0.02, 100)
ROUNDS: Final = 3
FAR: Final = 1e10
SERVER: Final = {"shared_buffers": "1GB", "max_wal_size": "8GB", "max_connections": "50"}
"""The settings of the server; the others are PostgreSQL's own, so that each transaction is synced."""
NAMES: Final = count(1)


@dataclass(frozen=True)
class Crawled:
    """One crawl of the local web. `cpu_s`: of the machines, and of the server."""

    frontier: str
    machines: int
    workers: int
    pages: int
    wall_s: float
    machines_cpu_s: float
    server_cpu_s: float
    peak_mb: float

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.frontier:<12}{self.machines:>9}{self.workers:>9}{self.pages:>9,}{self.wall_s:>9.1f}"
            f"{self.pages / self.wall_s:>9.0f}{self.machines_cpu_s / self.pages * 1e3:>12.2f}"
            f"{self.server_cpu_s / self.pages * 1e3:>12.2f}{self.peak_mb:>9.0f}"
        )


@dataclass(frozen=True)
class Grown:
    """A frontier of one size. `us`: CPU time, of the machines and the server together. `log_bytes_per_page`: what the
    database wrote to its write-ahead log."""

    frontier: str
    machines: int
    urls: int
    upserts_per_s: float | None
    claims_per_s: float
    settled_per_s: float
    links_per_s: float
    settle_us_per_page: float
    bytes_per_url: float
    log_bytes_per_page: float | None

    def row(self) -> str:
        """Returns a line of the table."""
        upserts = "" if self.upserts_per_s is None else f"{self.upserts_per_s:,.0f}"
        log = "" if self.log_bytes_per_page is None else f"{self.log_bytes_per_page / 1000:.1f}"
        return (
            f"{self.frontier:<12}{self.machines:>9}{self.urls / 1e6:>8.1f}{upserts:>12}{self.claims_per_s:>12,.0f}"
            f"{self.settled_per_s:>10,.0f}{self.links_per_s:>12,.0f}{self.settle_us_per_page:>12,.0f}"
            f"{self.bytes_per_url:>9.0f}{log:>12}"
        )


# ---- the crawl of the local web -------------------------------------------------------------------------------------


def crawl_all(server: PostgresServer, pages: int) -> list[Crawled]:
    """Crawls with each kind of frontier, and prints the table."""
    print(
        f"{'frontier':<12}{'machines':>9}{'workers':>9}{'pages':>9}{'s':>9}{'pages/s':>9}{'CPU ms/page':>12}"
        f"{'server ms':>12}{'peak MB':>9}",
        flush=True,
    )
    roots = sites_of(LOCALWEB.value())
    rows = []
    for frontier, machines, workers in (
        *(("SQLite", 1, 1), ("SQLite", 1, 2)),
        *(("PostgreSQL", 1, 1), ("PostgreSQL", 1, 2), ("PostgreSQL", 2, 1)),
    ):
        dsn = new_database(server) if frontier == "PostgreSQL" else None
        rows.append(crawl(server, roots, pages, frontier, dsn, machines, workers))
        print(rows[-1].row(), flush=True)
    return rows


def crawl(
    server: PostgresServer,
    roots: Sequence[str],
    pages: int,
    frontier: str,
    dsn: str | None,
    machines: int,
    workers: int,
) -> Crawled:
    """Crawls once; each machine visits its share of the pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = []
        for machine in range(machines):
            command = [sys.executable, "-m", "goodbot", "crawl", *roots, "--into", str(folder / f"machine{machine}")]
            command += ["--allow-private", "--delay", "0", "--json", "--workers", str(workers)]
            command += ["--max-pages", str(pages // machines), *(["--frontier", dsn] if dsn else [])]
            commands.append(f"{_quoted(command)} > output{machine} 2> errors{machine} &")
        before = cpu_of(server)
        _, cost = measure(["sh", "-c", " ".join([*commands, "wait"])], folder)
        after = cpu_of(server)
        visited = sum(_visited(folder / f"output{machine}") for machine in range(machines))
        if not visited:
            raise UsageError(f"no page was visited: {(folder / 'errors0').read_text().strip()}")
    return Crawled(frontier, machines, workers, visited, cost.wall_s, cost.cpu_s, after - before, cost.peak_mb)


def _quoted(command: Sequence[str]) -> str:
    return " ".join(f"'{word}'" for word in command)


def _visited(output: Path) -> int:
    return sum('"state": "visited"' in line for line in output.read_text().splitlines())


# ---- frontiers that grow --------------------------------------------------------------------------------------------


class Spent(NamedTuple):
    """What one machine did in one kind of call: `done` pages or URLs, in so many seconds of elapsed and CPU time."""

    done: int
    wall_s: float
    cpu_s: float


class Worked(NamedTuple):
    """What one machine did: URLs leased, pages settled, and the links of these."""

    leased: Spent
    settled: Spent
    links: int


class Sqlite:
    """A frontier in a file."""

    name = "SQLite"
    machines = (1,)

    def __init__(self, folder: Path) -> None:
        self._file = folder / "frontier.sqlite"
        SqliteFrontier.open(self._file, create=True).close()

    @contextmanager
    def opened(self, machine: int, ready: Barrier | None = None) -> Iterator[SqliteFrontier]:
        """Opens it."""
        frontier = SqliteFrontier.open(self._file)
        try:
            yield frontier
        finally:
            frontier.close()

    def size_bytes(self) -> int:
        """Returns the size of the file."""
        return self._file.stat().st_size

    def server_cpu_s(self) -> float:
        """Returns 0: there is no server."""
        return 0.0

    def log_bytes(self) -> None:
        """Returns None: SQLite merges its log into the file."""


class Postgres:
    """A frontier in a database."""

    name = "PostgreSQL"
    machines = (1, 2)

    def __init__(self, server: PostgresServer) -> None:
        self._dsn, self._server = new_database(server), server

    @contextmanager
    def opened(self, machine: int, ready: Barrier | None = None) -> Iterator[PostgresFrontier]:
        """Joins as one machine; if others join too, waits until each has its share of the partitions."""
        identity = Identity(f"{machine:08x}", f"machine {machine}", os.getpid())
        with PostgresFrontier.open(self._dsn, identity, now=lambda: 1e9) as frontier:
            if ready:
                ready.wait()
            frontier.take_part()
            for _ in range(4):  # the second machine gets what the first has given up
                if ready:
                    ready.wait()
                frontier.balance()
            if ready:
                ready.wait()
            yield frontier

    def size_bytes(self) -> int:
        """Returns the size of the database."""
        with psycopg.connect(self._dsn) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(row[0]) if row else 0

    def log_bytes(self) -> int:
        """Returns how much was written to the write-ahead log so far."""
        with psycopg.connect(self._dsn) as connection:
            row = connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()
            return int(row[0]) if row else 0

    def server_cpu_s(self) -> float:
        """Returns the CPU time of the server so far."""
        return cpu_of(self._server)


def grow(store: Sqlite | Postgres, sizes: Sequence[float]) -> list[Grown]:
    """Grows a frontier to each size, and works on it with each number of machines; prints the rows."""
    rows: list[Grown] = []
    web = GrowingWeb()
    for size in sizes:
        with store.opened(0) as frontier:
            before, wall_s = web.known, 0.0
            while web.known < size * 1e6:
                found = web.discover()
                began = time.monotonic()
                frontier.add(found)
                wall_s += time.monotonic() - began
        upserts: float | None = (web.known - before) / wall_s if wall_s else None
        for machines in store.machines:
            size_bytes, server_s, log = store.size_bytes(), store.server_cpu_s(), store.log_bytes()
            done = work_together(store, web.counts, machines)
            pages = sum(each.settled.done for each in done)
            log_after = store.log_bytes()
            cpu_s = store.server_cpu_s() - server_s + sum(each.settled.cpu_s + each.leased.cpu_s for each in done)
            rows.append(
                Grown(
                    *(store.name, machines, web.known, upserts),
                    sum(each.leased.done / each.leased.wall_s for each in done),
                    sum(each.settled.done / each.settled.wall_s for each in done),
                    sum(each.links / each.settled.wall_s for each in done),
                    cpu_s / pages * 1e6,
                    size_bytes / web.known,
                    None if log is None or log_after is None else (log_after - log) / pages,
                )
            )
            print(rows[-1].row(), flush=True)
            upserts = None
    return rows


def work_together(store: Sqlite | Postgres, counts: Sequence[int], machines: int) -> list[Worked]:
    """Has machines, as processes, lease and settle at the same time."""
    context = get_context("fork")
    barrier, queue = context.Barrier(machines), context.Queue()

    def run(machine: int) -> None:
        try:
            with store.opened(machine, barrier) as frontier:
                queue.put(work(frontier, GrowingWeb(counts, machine)))
        except BaseException as error:
            barrier.abort()
            queue.put(error)
            raise

    processes = [context.Process(target=run, args=(next(NAMES),)) for _ in range(machines)]
    for process in processes:
        process.start()
    done = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    for each in done:
        if isinstance(each, BaseException):
            raise each
    return done


def work(frontier: SqliteFrontier | PostgresFrontier, web: GrowingWeb) -> Worked:
    """Leases and settles ROUNDS times."""
    leased = settled = Spent(0, 0.0, 0.0)
    links = 0
    for round_ in range(ROUNDS):
        wall, cpu = time.monotonic(), time.process_time()
        leases = frontier.lease(64, 64, FAR)
        leased = _added(leased, sum(len(lease.urls) for lease in leases), wall, cpu)
        for batch in batches(leases):
            outcomes = [web.visit(item, token) for item, token in batch]
            links += sum(len(outcome.links) for outcome in outcomes)
            wall, cpu = time.monotonic(), time.process_time()
            frontier.settle(outcomes, [])
            settled = _added(settled, len(outcomes), wall, cpu)
        wall, cpu = time.monotonic(), time.process_time()
        frontier.settle([], [Release(lease.host, 1e9 + round_, token=lease.token) for lease in leases])
        settled = _added(settled, 0, wall, cpu)
    return Worked(leased, settled, links)


def _added(before: Spent, done: int, wall: float, cpu: float) -> Spent:
    return Spent(before.done + done, before.wall_s + time.monotonic() - wall, before.cpu_s + time.process_time() - cpu)


# ---- both -----------------------------------------------------------------------------------------------------------


def new_database(server: PostgresServer) -> str:
    """Makes a database; returns its DSN."""
    name = f"crawl{next(NAMES)}"
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.dsn(name)


def cpu_of(server: PostgresServer) -> float:
    """Returns the CPU seconds of all processes of a server, those that have ended included."""
    root = psutil.Process(server.pid)
    times = root.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for process in root.children(recursive=True):
        try:
            own = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += own.user + own.system
    return float(total)


def main() -> int:
    """Prints the tables and writes them as JSON."""
    if programs() is None:
        raise UsageError("install PostgreSQL first (Debian's package postgresql)")
    with tempfile.TemporaryDirectory() as folder, postgres_server(SERVER) as server:
        crawled = crawl_all(server, PAGES.value())
        print(
            f"\n{'frontier':<12}{'machines':>9}{'M URLs':>8}{'upserts/s':>12}{'claims/s':>12}{'pages/s':>10}"
            f"{'links/s':>12}{'CPU µs/page':>12}{'B/URL':>9}{'log kB/page':>12}",
            flush=True,
        )
        grown = [row for store in (Sqlite(Path(folder)), Postgres(server)) for row in grow(store, SIZES.value())]
    save("cluster", {"crawled": [asdict(row) for row in crawled], "grown": [asdict(row) for row in grown]})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (LOCALWEB, PAGES, SIZES), main))
