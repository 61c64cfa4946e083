"""Measures crawl cycles on Spark: what each cycle costs, what each page costs, and what a larger crawl table costs.

    make bench-spark LOCALWEB=http://127.0.0.10:8800/ SIZES="500 2000 8000" TABLE="0.1 1 4"

First, goodbot goes on with a crawl of all sites that the portal LOCALWEB links to, without a delay, with archive and
index: with its frontier in SQLite, in PostgreSQL, and in cycles on Spark. Each crawl has visited the same number of
pages before, and visits as many more as SIZES says. From these runs the fixed cost is told apart from the cost of a
page by a straight line (least squares). Two more runs on Spark, of one cycle and of three that request a few URLs,
tell the start of Spark from a cycle.

Then a crawl table grows to TABLE million URLs of 250 hosts, and a cycle requests four URLs of each host. Every part of
the table is read and written again, so what such cycles cost more than each other is the cost of the rows.

CPU time is that of all processes of the command, Java and the database server included. Spark runs on this machine,
with as many threads as CPUs. The benchmark starts a PostgreSQL server of its own (Debian's package `postgresql`), needs
Java, and deletes all files except the JSON file.
"""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression
from threading import Thread
from typing import Final

from bench_cluster import cpu_of, new_database
from crawl_measure import measure
from crawl_web import LOCALWEB, sites_of
from postgres_server import PostgresServer, postgres_server, programs
from settings import UsageError, numbers, save, start, whole

SIZES = numbers("SIZES", "500 2000 8000", "pages of one run", 100, 1_000_000)
TABLE = numbers("TABLE", "0.1 1 4", "millions of URLs in the crawl table", 0.01, 1000)
BEFORE = whole("BEFORE", 2000, "pages that a crawl has visited before it is measured", 100, 1_000_000)
SERVER: Final = {"shared_buffers": "1GB", "max_wal_size": "8GB"}
HOSTS: Final = tuple(f"127.3.0.{number}" for number in range(1, 251))
URLS_OF_HOST: Final = 4
FEW: Final = 20
"""So many URLs that a cycle has something to do."""


@dataclass(frozen=True)
class Run:
    """One command. `pages`: visited by it. `known`: URLs in the crawl table afterwards."""

    store: str
    workers: int
    cycles: int
    pages: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    known: int = 0

    def row(self) -> str:
        """Returns a line of the table."""
        per_page = f"{self.cpu_s / self.pages * 1e3:.1f}" if self.pages >= FEW else ""
        return (
            f"{self.store:<12}{self.workers:>8}{self.cycles:>8}{self.pages:>9,}{self.wall_s:>9.1f}{self.cpu_s:>9.1f}"
            f"{per_page:>13}{self.peak_mb:>9.0f}"
        )


@dataclass(frozen=True)
class Line:
    """The straight line through the runs of a store: CPU seconds of a run, and CPU milliseconds of each page."""

    store: str
    workers: int
    fixed_s: float
    page_ms: float

    @classmethod
    def through(cls, runs: Sequence[Run]) -> "Line":
        """Fits it."""
        slope, intercept = linear_regression([run.pages for run in runs], [run.cpu_s for run in runs])
        return cls(runs[0].store, runs[0].workers, intercept, slope * 1e3)

    def row(self) -> str:
        """Returns a line of the table."""
        return f"{self.store:<12}{self.workers:>8}{self.fixed_s:>14.1f}{self.page_ms:>14.1f}"


RUNS_HEAD: Final = (
    f"{'store':<12}{'workers':>8}{'cycles':>8}{'pages':>9}{'s':>9}{'CPU s':>9}{'CPU ms/page':>13}{'peak MB':>9}"
)


# ---- what a cycle and a page cost -----------------------------------------------------------------------------------


class OneMachine:
    """Crawls with `goodbot crawl`. `server`: of the database with the frontier; None: SQLite."""

    def __init__(self, roots: Sequence[str], folder: Path, workers: int, server: PostgresServer | None) -> None:
        self._roots, self._folder, self._workers, self._server = roots, folder, workers, server
        self._into, self._dsn = folder / "crawl", new_database(server) if server else None

    def visit(self, pages: int) -> Run:
        """Visits so many more pages."""
        command = [sys.executable, "-m", "goodbot", "crawl", *self._roots, "--into", str(self._into), "--json"]
        command += ["--allow-private", "--delay", "0", "--workers", str(self._workers), "--max-pages", str(pages)]
        command += ["--frontier", self._dsn] if self._dsn else []
        before = cpu_of(self._server) if self._server else 0.0
        output, cost = measure(command, self._folder)
        server_s = cpu_of(self._server) - before if self._server else 0.0
        visited = sum('"state": "visited"' in line for line in output.splitlines())
        if not visited:
            raise UsageError("no page was visited: look at what goodbot wrote above")
        name = "PostgreSQL" if self._server else "SQLite"
        return Run(name, self._workers, 0, visited, cost.wall_s, cost.cpu_s + server_s, cost.peak_mb)


class OnSpark:
    """Crawls with `goodbot cluster cycle`."""

    def __init__(self, roots: Sequence[str], folder: Path, host_urls: int) -> None:
        self._roots, self._folder = roots, folder
        self._options = ["--store", str(folder / "store"), "--allow-private", "--delay", "0", "--json", "--tasks", "2"]
        self._options += ["--host-urls", str(host_urls)]

    def visit(self, urls: int | None, cycles: int = 1, more: Sequence[str] = ()) -> Run:
        """Runs cycles of so many URLs."""
        command = [sys.executable, "-m", "goodbot", "cluster", "cycle", *self._roots, *self._options, *more]
        command += ["--cycles", str(cycles), *(["--cycle-urls", str(urls)] if urls else [])]
        output, cost = measure(command, self._folder)
        lines = [json.loads(line) for line in output.splitlines()]
        done = [line for line in lines if line["event"] == "cycle"]
        if len(done) < cycles:
            raise UsageError("a cycle did not run: look at what goodbot wrote above")
        pages, known = sum(line["pages"] for line in done), sum(done[-1]["states"].values())
        return Run("Spark", 2, len(done), pages, cost.wall_s, cost.cpu_s, cost.peak_mb, known)


def crawl_all(server: PostgresServer) -> tuple[list[Run], list[Line], dict[str, float]]:
    """Measures each store with each size, and prints the tables. Returns the runs, the lines through them, and the
    costs of Spark: CPU and elapsed seconds of its start, and of a cycle."""
    roots = sites_of(LOCALWEB.value())
    print(RUNS_HEAD, flush=True)
    runs = []
    for size in SIZES.value():
        for workers, database in ((1, None), (2, None), (2, server)):
            with tempfile.TemporaryDirectory() as name:
                crawl = OneMachine(roots, Path(name), workers, database)
                crawl.visit(BEFORE.value())
                runs.append(shown(crawl.visit(int(size))))
        with tempfile.TemporaryDirectory() as name:
            cycles = OnSpark(roots, Path(name), host_urls=int(size))
            cycles.visit(BEFORE.value(), cycles=4)
            runs.append(shown(cycles.visit(int(size))))
            if size == SIZES.value()[0]:
                one, three = shown(cycles.visit(FEW)), shown(cycles.visit(FEW, cycles=3))
                runs += [one, three]
    cycle_cpu_s, cycle_wall_s = (three.cpu_s - one.cpu_s) / 2, (three.wall_s - one.wall_s) / 2
    costs = {
        "start_cpu_s": one.cpu_s - cycle_cpu_s,
        "start_s": one.wall_s - cycle_wall_s,
        "cycle_cpu_s": cycle_cpu_s,
        "cycle_s": cycle_wall_s,
    }
    print(f"\n{'store':<12}{'workers':>8}{'fixed CPU s':>14}{'CPU ms/page':>14}", flush=True)
    kinds = dict.fromkeys((run.store, run.workers) for run in runs)
    lines = [
        Line.through([run for run in runs if (run.store, run.workers) == kind and run.cycles < 2 and run.pages > FEW])
        for kind in kinds
    ]
    for line in lines:
        print(line.row(), flush=True)
    print(
        f"\nSpark: its start takes {costs['start_cpu_s']:.1f} s of CPU time ({costs['start_s']:.1f} s elapsed), "
        f"each cycle {costs['cycle_cpu_s']:.1f} s ({costs['cycle_s']:.1f} s elapsed)",
        flush=True,
    )
    return runs, lines, costs


def shown(run: Run) -> Run:
    """Prints a run and returns it."""
    print(run.row(), flush=True)
    return run


# ---- what the rows of the table cost --------------------------------------------------------------------------------


@contextmanager
def small_hosts() -> Iterator[int]:
    """Serves all HOSTS, which answer 404 to everything, in a thread. Yields the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(_answer, HOSTS[:1], 0, backlog=1000))
    port = int(server.sockets[0].getsockname()[1])
    others = loop.run_until_complete(asyncio.start_server(_answer, HOSTS[1:], port, backlog=1000))
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield port
    finally:
        for each in (server, others):
            loop.call_soon_threadsafe(each.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nno\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def grow() -> list[dict[str, float]]:
    """Measures cycles on tables of each size, and prints them."""
    print(
        f"\n{'M URLs':>8}{'add CPU s':>11}{'CPU µs/URL':>12}{'cycle s':>9}{'cycle CPU s':>13}{'CPU µs/row':>12}"
        f"{'peak MB':>9}{'B/URL':>8}",
        flush=True,
    )
    rows: list[dict[str, float]] = []
    with small_hosts() as port:
        for size in TABLE.value():
            with tempfile.TemporaryDirectory() as name:
                rows.append(_grown(Path(name), int(size * 1e6), port, rows))
    return rows


def _grown(folder: Path, urls: int, port: int, before: Sequence[dict[str, float]]) -> dict[str, float]:
    seeds = folder / "seeds.txt"
    with seeds.open("w") as out:
        for number in range(urls):
            out.write(f"http://{HOSTS[number % len(HOSTS)]}:{port}/a-folder/of-pages/{number // len(HOSTS)}.html\n")
    cycles = OnSpark((), folder, URLS_OF_HOST)
    added = cycles.visit(None, more=("--seeds", str(seeds)))
    cycle = cycles.visit(None)
    table = sum(file.stat().st_size for file in (folder / "store" / "table").rglob("*") if file.is_file()) / 2
    row = {
        "urls": cycle.known,
        "add_cpu_s": added.cpu_s - cycle.cpu_s,
        "cycle_s": cycle.wall_s,
        "cycle_cpu_s": cycle.cpu_s,
        "peak_mb": cycle.peak_mb,
        "bytes_per_url": table / cycle.known,
    }
    per_row = ""
    if before:
        row["cpu_us_per_row"] = (cycle.cpu_s - before[0]["cycle_cpu_s"]) / (cycle.known - before[0]["urls"]) * 1e6
        per_row = f"{row['cpu_us_per_row']:.2f}"
    print(
        f"{cycle.known / 1e6:>8.2f}{row['add_cpu_s']:>11.1f}{row['add_cpu_s'] / cycle.known * 1e6:>12.1f}"
        f"{row['cycle_s']:>9.1f}{row['cycle_cpu_s']:>13.1f}{per_row:>12}{row['peak_mb']:>9.0f}"
        f"{row['bytes_per_url']:>8.0f}",
        flush=True,
    )
    return row


def main() -> int:
    """Prints the tables and writes them as JSON."""
    if programs() is None:
        raise UsageError("install PostgreSQL first (Debian's package postgresql)")
    if shutil.which("java") is None:
        raise UsageError("install Java first (Debian's package openjdk-17-jre-headless)")
    with postgres_server(SERVER) as server:
        runs, lines, costs = crawl_all(server)
    tables = grow()
    save(
        "spark",
        {"runs": [asdict(run) for run in runs], "lines": [asdict(line) for line in lines], **costs, "tables": tables},
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (LOCALWEB, BEFORE, SIZES, TABLE), main))
