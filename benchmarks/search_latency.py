"""Runs `goodbot serve` and `goodbot crawl` as processes, and measures how long the server takes to answer queries."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

import psutil

from settings import Setting

PATHS = ("/api/search", "/search")
END_S = 30.0
"""How long a process may take to end after SIGINT, before it is killed."""


def _crawl(text: str) -> Path:
    if not (Path(text) / "index" / "meta.json").is_file():
        raise ValueError(text)
    return Path(text)


CRAWL = Setting("CRAWL", "", "the crawl that is searched", "the folder of a crawl with an index", _crawl)


@contextmanager
def copied(crawl: Path) -> Iterator[Path]:
    """Yields a copy of a crawl without its archive, because even those who only read it write lock files."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crawl"
        shutil.copytree(crawl, folder, ignore=shutil.ignore_patterns("warc", "*.lock", "control"))
        yield folder


@dataclass(frozen=True)
class Latency:
    """How long the answers to `queries` queries took. `server_cpu_ms`: CPU time of the server for each; `empty`: how
    many queries found nothing, None if the pages do not say so; `wall_s`: the time of all queries together."""

    path: str
    queries: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    server_cpu_ms: float
    wall_s: float
    empty: int | None = None

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.path:<14} {self.queries:>7,} {self.p50_ms:>8.1f} {self.p95_ms:>8.1f} {self.p99_ms:>8.1f} "
            f"{self.max_ms:>8.1f} {self.server_cpu_ms:>10.1f} {self.queries * self.server_cpu_ms / 1000:>9.1f}"
        )


HEAD = f"{'':<14} {'queries':>7} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8} {'CPU ms/q':>10} {'CPU s':>9}"


class Client:
    """Sends queries one after another on one connection that is kept alive, and keeps how long each took."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.connect()
        self._first = self._connection.sock
        self.times_ms: list[float] = []
        self.empty = 0

    def ask(self, path: str, query: str) -> None:
        """Sends one query and reads the whole answer."""
        target = f"{path}?q={quote(query)}"
        began = time.perf_counter()
        try:
            self._connection.request("GET", target)
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException) as error:
            raise SystemExit(f"bench-search-speed: {target} was not answered ({error!r})") from error
        self.times_ms.append(1000 * (time.perf_counter() - began))
        if answer.status != 200:
            raise SystemExit(f"bench-search-speed: {target} was answered with status {answer.status}")
        if self._connection.sock is not self._first:
            raise SystemExit("bench-search-speed: the server closed the connection, so the times include connecting")
        if path == "/api/search":
            self.empty += json.loads(body)["total"] == 0

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


def latency(
    url: str, server: psutil.Process, path: str, queries: Sequence[str], goes_on: Callable[[int], bool]
) -> Latency:
    """Sends the queries again and again while `goes_on(number sent)`."""
    client = Client(url)
    before, began = cpu_s(server), time.monotonic()
    for number, query in enumerate(cycle(queries)):
        if not goes_on(number):
            break
        client.ask(path, query)
    spent, wall_s = cpu_s(server) - before, time.monotonic() - began
    client.close()
    return summary(path, client.times_ms, spent, wall_s, client.empty if path == "/api/search" else None)


def summary(path: str, times_ms: Sequence[float], spent_s: float, wall_s: float, empty: int | None) -> Latency:
    """Returns the percentiles of the times."""
    ordered = sorted(times_ms)
    if not ordered:
        raise SystemExit("bench-search-speed: no query was answered in time")
    p50, p95, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.50, 0.95, 0.99))
    count = len(ordered)
    return Latency(path, count, p50, p95, p99, ordered[-1], 1000 * spent_s / count, wall_s, empty)


def cpu_s(process: psutil.Process) -> float:
    """Returns the CPU time of a process so far; 0 if it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Runs `goodbot serve` on a free port during the block. Yields its URL and its process."""
    command = [sys.executable, "-m", "goodbot", "serve", "--in", str(folder), "--port", "0", "--json", "--quiet"]
    with started(command, subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("bench-search-speed: goodbot serve ended before it served anything")
        yield json.loads(line)["url"], psutil.Process(process.pid)


@contextmanager
def crawling(seed: str, folder: Path, pages: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs `goodbot crawl` with two workers during the block."""
    parts = urlsplit(seed)
    command = [
        *(sys.executable, "-m", "goodbot", "crawl", seed, "--into", str(folder), "--allow-private", "--scope", "all"),
        *("--include", f"http://127.0.0.*:{parts.port or 80}/*", "--workers", "2", "--depth", "40", "--per-host", "4"),
        *("--max-pages", str(pages), "--quiet"),
    ]
    with started(command, subprocess.DEVNULL) as process:
        yield process


@contextmanager
def started(command: Sequence[str], output: int | IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs a command during the block; at its end, also on Ctrl-C, interrupts it, and kills it if that is not enough.

    The command has a process group of its own, so that Ctrl-C reaches it through this function alone.
    """
    process = subprocess.Popen(command, stdout=output, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
                process.kill()
                process.wait()
        if process.stdout is not None:
            process.stdout.close()


def documents(url: str) -> int:
    """Returns how many pages the server can find; 0 if it does not answer."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        connection.request("GET", "/healthz")
        return int(json.loads(connection.getresponse().read()).get("documents", 0))
    except (OSError, HTTPException, ValueError):
        return 0
    finally:
        connection.close()
