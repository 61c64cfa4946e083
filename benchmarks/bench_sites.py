"""Compares goodbot and Scrapy on one site, crawled from its root: pages, pages per second, CPU per page and memory.

    make bench-sites SITES="http://127.0.0.1:8800/ http://127.0.0.2:8800/"

Both obey robots.txt, send one request at a time to each host and do not wait between requests. goodbot keeps a durable
frontier and WARC files; Scrapy keeps nothing. SITES must have loopback addresses.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from crawl_measure import measure, save

HERE = Path(__file__).parent


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


def run_goodbot(site: str, *options: str) -> Run:
    """Crawls with these options; `goodbot status` counts the pages. HTML pages are those that were read as HTML."""
    goodbot = str(Path(sys.executable).with_name("goodbot"))
    with tempfile.TemporaryDirectory() as folder:
        crawl = [goodbot, "crawl", site, "--into", f"{folder}/crawl", "--allow-private", "--delay", "0", "--json"]
        _, cost = measure([*crawl, *options], Path(folder))
        status = subprocess.run(
            [goodbot, "status", "--in", f"{folder}/crawl", "--json"], capture_output=True, check=True
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
    sites = os.environ.get("SITES", "").split()
    if not sites or any(not (urlsplit(site).hostname or "").startswith("127.") for site in sites):
        print('bench-sites: give loopback sites, such as SITES="http://127.0.0.1:8800/"', file=sys.stderr)
        return 2
    print(f"{'site':<28} {'program':<26} {'pages':>6} {'pages/s':>9} {'CPU ms/p':>9} {'peak MB':>8}")
    runs = []
    for site in sites:
        for run in (run_goodbot(site, "--no-index"), run_goodbot(site), run_scrapy(site)):
            print(run.row(), flush=True)
            print(" " * 29 + ", ".join(f"{count} {state}" for state, count in run.states.items() if count))
            runs.append(asdict(run))
    save("sites", {"runs": runs})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
