"""Compares goodbot and Scrapy on sites, each crawled from its root: pages, pages per second, CPU per page and memory.

    make bench-sites SITES="http://127.0.0.1:8800/ http://127.0.0.2:8800/"

Both obey robots.txt, send one request at a time to each host and do not wait between requests. goodbot keeps a durable
frontier and WARC files; Scrapy keeps nothing. If Scrapy is not installed, it is left out.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from crawl_measure import measure
from crawl_web import is_loopback, page_at
from settings import Setting, installed, save, start, words

HERE = Path(__file__).parent


def _sites(text: str) -> list[str]:
    sites = words(text)
    if not sites or not all(map(is_loopback, sites)):
        raise ValueError(text)
    return sites


SITES = Setting("SITES", "", "the roots of the sites", "URLs on loopback, such as http://127.0.0.1:8800/", _sites)


@dataclass(frozen=True)
class Run:
    """One crawl of one site by one program."""

    site: str
    program: str
    pages: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    states: dict[str, int]

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.site:<28} {self.program:<26} {self.pages:>6} {self.pages / self.wall_s:>9.1f} "
            f"{1000 * self.cpu_s / max(self.pages, 1):>9.2f} {self.peak_mb:>8.1f}"
        )


def run_goodbot(site: str, options: Sequence[str] = ()) -> Run:
    """Crawls with these options; `goodbot status` counts the pages. HTML pages are those that were read as HTML."""
    goodbot = (sys.executable, "-m", "goodbot")
    with tempfile.TemporaryDirectory() as folder:
        crawl = [*goodbot, "crawl", site, "--into", f"{folder}/crawl", "--allow-private", "--delay", "0", "--json"]
        _, cost = measure([*crawl, *options], Path(folder))
        status = subprocess.run(
            [*goodbot, "status", "--in", f"{folder}/crawl", "--json"], capture_output=True, check=True
        )
        states = json.loads(status.stdout)["states"]
    return Run(site, " ".join(["goodbot", *options]), states["visited"], *cost, states)


def run_scrapy(site: str) -> Run:
    """Crawls the same site with Scrapy."""
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    crawl = {"seeds": [site], "allow": [re.escape(site)], "pages": 0, "settings": settings}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "peers" / "scrapy_fenced.py"), json.dumps(crawl)]
        output, cost = measure(command, Path(folder))
    counts = json.loads(output.splitlines()[-1])
    return Run(site, f"Scrapy {version('scrapy')}", counts["pages"], *cost, counts)


def main() -> int:
    """Prints the table and writes it as JSON."""
    sites = SITES.value()
    for site in sites:
        page_at(site, SITES.name)
    programs: list[Callable[[str], Run]] = [partial(run_goodbot, options=("--no-index",)), run_goodbot]
    programs += [run_scrapy] if installed(["scrapy"]) else []
    print(f"{'site':<28} {'program':<26} {'pages':>6} {'pages/s':>9} {'CPU ms/p':>9} {'peak MB':>8}")
    runs = []
    for site in sites:
        for program in programs:
            done = program(site)
            print(done.row(), flush=True)
            print(" " * 29 + ", ".join(f"{count} {state}" for state, count in done.states.items() if count))
            runs.append(asdict(done))
    save("sites", {"runs": runs})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (SITES,), main))
