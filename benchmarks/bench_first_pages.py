"""Compares goodbot, Scrapy and wget on the first pages that each finds from a portal to many hosts: pages per second,
CPU per page and memory.

    make bench-first-pages LOCALWEB=http://127.0.0.10:8800/ PAGES=20000 PROGRAMS=goodbot,scrapy

LOCALWEB is a portal on loopback that links to sites on neighbouring addresses (127.0.0.*) and the same port; no other
address gets a request. The programs follow links in different orders, so their first pages differ, also in size;
`make bench-crawl` compares the programs on the same pages. All three obey robots.txt and do not wait between requests.
goodbot has a durable frontier and WARC files, (a) without and (b) with an index; Scrapy keeps nothing; wget writes its
files to a temporary folder. CPU and memory are those of all processes of a program. Memory is the peak of the sum over
the processes, in which shared memory counts once (PSS).
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from crawl_measure import Cost, measure
from crawl_web import FOLLOWED_TAGS, LOCALWEB, fence_of
from settings import choice, installed_of, save, start, whole

HERE = Path(__file__).parent
PAGES = whole("PAGES", 20_000, "pages after which a program ends", 1, 100_000_000)
PROGRAMS = choice("PROGRAMS", "goodbot,scrapy,wget", "the programs", ("goodbot", "scrapy", "wget"))


@dataclass(frozen=True)
class Run:
    """One crawl by one program."""

    program: str
    pages: int
    cost: Cost
    settings: str

    @property
    def rate(self) -> float:
        return self.pages / self.cost.wall_s

    def row(self, baseline: "Run | None") -> str:
        """Returns a line of the table, with the ratio to `baseline`."""
        ratio = f"{self.rate / baseline.rate:>7.2f}" if baseline else " " * 7
        return (
            f"{self.program:<28} {self.pages:>7} {self.cost.wall_s:>7.1f} {self.rate:>8.1f} {ratio} "
            f"{1000 * self.cost.cpu_s / max(self.pages, 1):>9.2f} {self.cost.peak_mb:>8.1f}"
        )


def goodbot(portal: str, fence: str, pages: int, *options: str) -> Run:
    """Crawls with goodbot. Pages are the URLs in state visited, including redirects."""
    with tempfile.TemporaryDirectory() as name:
        command = [
            *(sys.executable, "-m", "goodbot", "crawl", portal, "--into", f"{name}/crawl", "--scope", "all"),
            *(
                "--include",
                f"{fence}*",
                "--allow-private",
                "--delay",
                "0",
                "--max-pages",
                str(pages),
                "--json",
                *options,
            ),
        ]
        output, cost = measure(command, Path(name))
    end = json.loads(output.splitlines()[-1])
    return Run(" ".join(["goodbot", *options]), end["visited"], cost, " ".join(command[3:]))


def scrapy(portal: str, fence: str, pages: int) -> Run:
    """Crawls with Scrapy. Pages are HTML answers."""
    pattern = re.escape(fence).replace(r"\*", "[0-9]+")
    crawl = {"seeds": [portal], "allow": [pattern], "pages": pages}
    command = [sys.executable, str(HERE / "peers" / "scrapy_fenced.py"), json.dumps(crawl)]
    with tempfile.TemporaryDirectory() as name:
        output, cost = measure(command, Path(name))
    return Run(f"Scrapy {version('scrapy')}", json.loads(output.splitlines()[-1])["pages"], cost, "64 at once")


def wget(portal: str, fence: str, pages: int) -> Run:
    """Crawls with wget. Pages are the files it saved. wget cannot limit their number, so it is stopped at `pages`."""
    pattern = "^" + re.escape(fence).replace(r"\*", "[0-9]+")
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log"
        command = [
            *(
                "wget",
                "--no-config",
                "-nv",
                "-r",
                "-l",
                "inf",
                "-H",
                f"--follow-tags={FOLLOWED_TAGS}",
                "--accept-regex",
                pattern,
                "-o",
                str(log),
            ),
            *("--tries=1", "--timeout=30", "-P", f"{name}/files", portal),
        ]
        watched = [sys.executable, "-c", _STOP, str(log), str(pages), *command]
        output, cost = measure(watched, Path(name))
    return Run("wget -r", int(output.split()[-1]), cost, " ".join(command[1:12]))


_STOP = """
import subprocess, sys, time
log, pages, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
process, count, place = subprocess.Popen(command), 0, 0
while True:
    ended = process.poll() is not None
    try:
        with open(log, "rb") as file:
            file.seek(place)
            text = file.read()
    except FileNotFoundError:
        text = b""
    count += text.count(b" -> ")
    place += len(text)
    if count >= pages or ended:
        break
    time.sleep(0.1)
process.terminate()
process.wait()
print(count)
"""


def main() -> int:
    """Prints the table and writes it as JSON."""
    portal, pages, wanted = LOCALWEB.value(), PAGES.value(), installed_of(PROGRAMS)
    fence = fence_of(portal)
    print(
        f"{'program':<28} {'pages':>7} {'s':>7} {'pages/s':>8} {'/Scrapy':>7} {'CPU ms/p':>9} {'peak MB':>8}",
        flush=True,
    )
    runs: list[Run] = []
    baseline = None
    if "scrapy" in wanted:
        baseline = scrapy(portal, fence, pages)
        runs.append(baseline)
        print(baseline.row(baseline), flush=True)
    makers: list[Callable[[], Run]] = []
    if "wget" in wanted:
        makers.append(partial(wget, portal, fence, pages))
    if "goodbot" in wanted:
        makers += [partial(goodbot, portal, fence, pages, "--no-index"), partial(goodbot, portal, fence, pages)]
    for make in makers:
        runs.append(make())
        print(runs[-1].row(baseline), flush=True)
    save("first_pages", {"runs": [asdict(run) for run in runs]})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (LOCALWEB, PAGES, PROGRAMS), main))
