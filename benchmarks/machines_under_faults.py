"""Machines that crawl counting sites together, as processes, while one is killed, one is stopped, one is cut off from
the database, and the database server is restarted.

What they do is judged by the logs of the sites, by the table of URLs, and by the archives.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import psutil
import psycopg
from fastwarc.warc import ArchiveIterator, WarcRecordType

import counting_sites
from counting_sites import Request, read_log, repeated, too_soon
from postgres_server import PostgresServer
from unreliable_proxy import UnreliableProxy

NAMES: Final = ("a", "b", "c")
"""The machines: a is killed, b is stopped, c is cut off from the database."""
OPTIONS: Final = ("--allow-private", "--scope", "all", "--delay", "0.1", "--workers", "1")
LOOK_S: Final = 0.5
_LEASED: Final = """SELECT count(*) FROM leased JOIN hosts ON hosts.id = leased.host
  JOIN partitions ON number = partition JOIN machines ON machines.id = machine WHERE writer = %s"""
_URLS: Final = "SELECT origin || path, state IN (3, 8) FROM urls JOIN hosts ON hosts.id = host"


class Step(NamedTuple):
    """What happens so many seconds after all machines have begun: `kill`, `start`, `stop`, `continue`, `cut`, `mend`
    or `restart`."""

    at_s: float
    what: str


@dataclass
class Judgement:
    """What the sites, the table and the archives say. `allowed_repeats`: URLs that were leased by machines when they
    were killed, stopped or cut off. `steps`: what happened before the crawl ended. CPU times are in seconds."""

    sites: int = 0
    requests: int = 0
    pages: int = 0
    too_soon: int = 0
    least_spare_s: float = 0.0
    lost: int = 0
    twice_in_table: int = 0
    not_archived: int = 0
    repeated: int = 0
    allowed_repeats: int = 0
    duration_s: float = 0.0
    pages_per_s: float = 0.0
    machines_cpu_s: float = 0.0
    database_cpu_s: float = 0.0
    statuses: dict[str, int | None] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)


@contextmanager
def counting(sites: int, pages: int, folder: Path) -> Iterator[tuple[int, Path]]:
    """Starts the sites in a process of their own; yields their port and their log."""
    log = folder / "requests.log"
    command = [sys.executable, counting_sites.__file__, str(sites), str(pages), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), log
        finally:
            process.terminate()


class Cluster:
    """The machines of a crawl of counting sites. `folder` gets the folder of each, and its messages."""

    def __init__(self, folder: Path, server: PostgresServer, proxy: UnreliableProxy, sites: int, pages: int) -> None:
        self._folder = folder
        self._server = server
        self._proxy = proxy
        self._sites = sites
        self._pages = pages
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._cpu: Counter[tuple[str, int]] = Counter()
        self._allowed = 0

    # ---- what happens to machines -----------------------------------------------------------------------------------

    def run(self, port: int, log: Path, steps: Sequence[Step], most_s: float) -> Judgement:
        """Crawls, lets the steps happen, waits for the end, and judges. Raises TimeoutError after `most_s` seconds."""
        seeds = [counting_sites.start_page(site, port) for site in range(self._sites)]
        judgement = Judgement(sites=self._sites)
        began = time.monotonic()
        try:
            (self._folder / "seeds.txt").write_text("\n".join(seeds))
            self._start("a", "--seeds", str(self._folder / "seeds.txt"), *OPTIONS)
            self._wait(lambda: self._has_begun(log), began + most_s)
            for name in NAMES[1:]:
                self._start(name, "--workers", "1")
            self._wait(lambda: all((self._folder / name / "writer").exists() for name in NAMES), began + most_s)
            self._do(steps, judgement, began + most_s)
            self._wait(self._all_ended, began + most_s)
        finally:
            self._end()
        judgement.duration_s = round(time.monotonic() - began, 1)
        judgement.statuses = {name: process.returncode for name, process in self._running.items()}
        judgement.allowed_repeats = self._allowed
        self._judge(judgement, read_log(log))
        return judgement

    def _do(self, steps: Sequence[Step], judgement: Judgement, until: float) -> None:
        began = time.monotonic()
        for step in sorted(steps):
            due = began + step.at_s
            self._wait(lambda due=due: time.monotonic() >= due or self._all_ended(), until)  # type: ignore[misc]
            if self._all_ended():
                return
            self._happens(step.what)
            judgement.steps.append(step.what)

    def _happens(self, what: str) -> None:
        if what == "restart":
            self._server.stop()
            self._server.start()
        elif what == "start":
            self._start("a")
        elif what == "kill":
            self._allowed += self.leased("a")
            os.killpg(self._running["a"].pid, signal.SIGKILL)
            self._running["a"].wait()
        elif what in ("stop", "continue"):
            self._allowed += self.leased("b") if what == "stop" else 0
            os.killpg(self._running["b"].pid, signal.SIGSTOP if what == "stop" else signal.SIGCONT)
        else:
            self._allowed += self.leased("c") if what == "cut" else 0
            self._proxy.silent = what == "cut"

    def leased(self, name: str) -> int:
        """Returns how many URLs the machine with this folder has leased."""
        writer = (self._folder / name / "writer").read_text().strip()
        with psycopg.connect(self._server.dsn()) as connection:
            (count,) = connection.execute(_LEASED, (writer,)).fetchone() or (0,)
            return int(count)

    def _start(self, name: str, *options: str) -> None:
        port = self._proxy.port if name == "c" else self._server.port
        dsn = self._server.dsn().replace(f":{self._server.port}/", f":{port}/")
        command = [sys.executable, "-m", "goodbot", "crawl", *options]
        command += ["--into", str(self._folder / name), "--frontier", dsn]
        with (self._folder / f"{name}.log").open("ab") as messages:
            self._running[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages, start_new_session=True
            )

    def _has_begun(self, log: Path) -> bool:
        if self._all_ended():
            raise ChildProcessError((self._folder / "a.log").read_text())
        return log.exists() and log.stat().st_size > 0

    def _all_ended(self) -> bool:
        return all(process.poll() is not None for process in self._running.values())

    def _wait(self, is_over: Callable[[], bool], until: float) -> None:
        """Waits, and notes the CPU time of all processes meanwhile."""
        while not is_over():
            if time.monotonic() > until:
                raise TimeoutError("the crawl takes too long")
            self._note_cpu()
            time.sleep(LOOK_S)

    def _end(self) -> None:
        self._proxy.silent = False
        for process in self._running.values():
            if process.poll() is None:
                for number in (signal.SIGCONT, signal.SIGKILL):
                    os.killpg(process.pid, number)
                process.wait()

    # ---- what they did ----------------------------------------------------------------------------------------------

    def _note_cpu(self) -> None:
        roots = {"machines": [process.pid for process in self._running.values()], "database": [self._server.pid]}
        for of, pids in roots.items():
            for pid in pids:
                with suppress(psutil.Error):
                    root = psutil.Process(pid)
                    for process in (root, *root.children(recursive=True)):
                        times = process.cpu_times()
                        self._cpu[of, process.pid] = max(self._cpu[of, process.pid], times.user + times.system)

    def _judge(self, judgement: Judgement, requests: list[Request]) -> None:
        pages = [request for request in requests if request.path != "/robots.txt"]
        judgement.requests, judgement.pages = len(requests), len(pages)
        judgement.pages_per_s = round(len(pages) / judgement.duration_s, 1)
        judgement.too_soon = len(list(too_soon(requests)))
        judgement.least_spare_s = round(counting_sites.least_spare_s(requests), 4)
        judgement.repeated = repeated(requests)
        with psycopg.connect(self._server.dsn()) as connection:
            rows = connection.execute(_URLS).fetchall()
        known = Counter(url for url, _ in rows)
        visited = {url for url, is_visited in rows if is_visited}
        judgement.lost = self._sites * self._pages - len(visited)
        judgement.twice_in_table = known.total() - len(known)
        judgement.not_archived = len(visited - self._archived())
        for of in ("machines", "database"):
            seconds = round(sum(value for (kind, _), value in self._cpu.items() if kind == of), 1)
            setattr(judgement, f"{of}_cpu_s", seconds)

    def _archived(self) -> set[str]:
        found: set[str] = set()
        for name in NAMES:
            found.update(_archived_urls(self._folder / name / "warc"))
        return found


def _archived_urls(folder: Path) -> Iterator[str]:
    """Yields the URLs of the answers in an archive."""
    for file in sorted(folder.glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                yield record.headers["WARC-Target-URI"]
