"""Measures the memory of a crawl over its length: how much the coordinator and the workers take after how many pages.

    make bench-memory LOCALWEB=http://127.0.0.10:8800/ PAGES=80000 INDEX_PAGES=0

LOCALWEB is a portal on loopback that links to sites on neighbouring addresses (127.0.0.*) and the same port; no other
address gets a request. goodbot crawls it with two workers, first PAGES pages without an index, then INDEX_PAGES pages
with one; 0 leaves that crawl out. Every half second the benchmark samples the memory of the processes: their PSS, in
which memory shared by several processes counts once, and the part of the PSS that no file backs (anonymous: heaps and
stacks). Other programs that use the same Python share its files and so lower the PSS; the anonymous part does not
depend on them. `others` are the processes that read PDFs.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from crawl_web import LOCALWEB, fence_of
from settings import UsageError, save, start, whole

SAMPLE_S = 0.5
PAGES = whole("PAGES", 80_000, "pages of the crawl without an index", 0, 100_000_000)
INDEX_PAGES = whole("INDEX_PAGES", 20_000, "pages of the crawl with an index", 0, 100_000_000)
MARKS = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000)


@dataclass(frozen=True)
class Sample:
    """The memory of the processes in MB, after `pages` pages were visited."""

    pages: int
    coordinator: float
    workers: tuple[float, ...]
    others: float
    anonymous: float

    @property
    def total(self) -> float:
        """PSS of all processes."""
        return self.coordinator + sum(self.workers) + self.others

    def row(self, label: str) -> str:
        """Returns a line of the table."""
        workers = " + ".join(f"{mb:.0f}" for mb in self.workers)
        return (
            f"{label:>12} {self.pages:>8,} {self.coordinator:>12.0f} {workers:>14} {self.others:>7.0f} "
            f"{self.total:>8.0f} {self.anonymous:>10.0f}"
        )


class Table:
    """Prints the first sample after each mark as soon as it is taken, and at the end the last one and the one with the
    most memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, Sample]] = []
        self._peak: Sample | None = None
        self._last: Sample | None = None

    def add(self, taken: Sample) -> None:
        """Takes the next sample."""
        before = self._last.pages if self._last else 0
        if any(before < mark <= taken.pages for mark in MARKS):
            self._print("", taken)
        if self._peak is None or taken.total > self._peak.total:
            self._peak = taken
        self._last = taken

    def end(self) -> None:
        """Prints the last sample and the peak."""
        for label, taken in (("end", self._last), ("peak", self._peak)):
            if taken is not None:
                self._print(label, taken)

    def _print(self, label: str, taken: Sample) -> None:
        self.rows.append((label, taken))
        print(taken.row(label), flush=True)


def memory_of(process: int) -> tuple[float, float]:
    """Returns the PSS of a process and its anonymous part in MB; zeros if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0, 0.0
    values = dict(line.split()[:2] for line in lines[1:])
    return int(values.get("Pss:", 0)) * 1024 / 1e6, int(values.get("Pss_Anon:", 0)) * 1024 / 1e6


def sample(root: psutil.Process, pages: int) -> Sample:
    """Measures the processes of a crawl now."""
    workers: list[float] = []
    coordinator, anonymous = memory_of(root.pid)
    others = 0.0
    for child in root.children(recursive=True):
        try:
            is_worker = child.name() == "goodbot-worker"
        except psutil.Error:
            continue
        pss, own = memory_of(child.pid)
        anonymous += own
        if is_worker:
            workers.append(pss)
        else:
            others += pss
    return Sample(pages, coordinator, tuple(workers), others, anonymous)


def pages_visited(folder: Path) -> int | None:
    """Returns how many pages a running crawl has visited; None until it reports that."""
    try:
        return int(json.loads((folder / "live.json").read_text())["pages"])
    except (OSError, ValueError, KeyError):
        return None


def crawl(portal: str, fence: str, pages: int, *options: str) -> Table:
    """Crawls with two workers, and samples the processes until the crawl ends."""
    table = Table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "crawl"
        command = [
            *(sys.executable, "-m", "goodbot", "crawl", portal, "--into", str(folder), "--scope", "all"),
            *("--include", f"{fence}*", "--allow-private", "--delay", "0", "--workers", "2"),
            *("--max-pages", str(pages), "--json", *options),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=name)
        root = psutil.Process(process.pid)
        while process.poll() is None:
            visited = pages_visited(folder)
            if visited is not None:
                taken = sample(root, visited)
                if taken.coordinator:
                    table.add(taken)
            time.sleep(SAMPLE_S)
    if process.returncode not in (0, 1):
        raise SystemExit(f"bench-memory: the crawl ended with status {process.returncode}")
    table.end()
    return table


def main() -> int:
    """Prints the tables and writes them as JSON."""
    portal, wanted = LOCALWEB.value(), (PAGES.value(), INDEX_PAGES.value())
    if not any(wanted):
        raise UsageError("PAGES and INDEX_PAGES are 0, so there is nothing to measure; set one of them")
    fence = fence_of(portal)
    runs = []
    for pages, options in zip(wanted, (["--no-index"], []), strict=True):
        if not pages:
            continue
        print(f"goodbot crawl {' '.join(options)}: MB of PSS")
        print(
            f"{'':>12} {'pages':>8} {'coordinator':>12} {'workers':>14} {'others':>7} {'sum':>8} {'anonymous':>10}",
            flush=True,
        )
        rows = crawl(portal, fence, pages, *options).rows
        runs.append({"options": options, "rows": [{"row": label, **asdict(taken)} for label, taken in rows]})
    save("memory", {"runs": runs})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (LOCALWEB, PAGES, INDEX_PAGES), main))
