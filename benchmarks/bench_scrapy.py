"""Compares goodbot's scheduler for Scrapy with Scrapy's own in a JOBDIR: what a kill loses and repeats, and the speed.

    make bench-scrapy PAGES=2000 KILLS=10

A spider follows all links of a site of PAGES pages on loopback. First it crawls RUNS times without a kill, both in
turn. Then it is killed (kill -9) at KILLS random moments of one crawl, the same for both, and started again each time;
then it runs until it ends by itself. `lost` are pages whose callback never ran, `repeated` are requests beyond those of
a crawl without a kill, by the log of the server.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median

from settings import save, start, whole

PAGES = whole("PAGES", 3000, "pages of the site", 10, 1_000_000)
KILLS = whole("KILLS", 10, "how often each crawl is killed", 1, 1000)
RUNS = whole("RUNS", 3, "crawls without a kill", 1, 100)
SEED = whole("SEED", 1, "chooses the moments of the kills", 0, 1_000_000)
SPIDER = Path(__file__).with_name("peers") / "scrapy_kept.py"
SCHEDULERS = ("goodbot", "jobdir")
TITLES = {"goodbot": "goodbot's scheduler", "jobdir": "Scrapy's, JOBDIR"}
LINKS = 30
WORDS = b"<p>A page of a site that is there to be crawled, with a few words on it.</p>" * 30


class Site:
    """Serves the pages in a thread of its own, and counts the requests for each."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self.requests: Counter[str] = Counter()
        self.url = ""
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        ready.wait()

    def paths(self) -> set[str]:
        """Returns the paths of all pages."""
        return {f"/{number}" for number in range(self._pages)}

    def _page(self, number: int) -> bytes:
        """A page links to two new ones, which lead to all others, and to some old or new ones."""
        chance = random.Random(number)
        new = [to for to in (2 * number + 1, 2 * number + 2) if to < self._pages]
        others = (chance.randrange(self._pages) for _ in range(LINKS - len(new)))
        links = "".join(f'<a href="/{to}">page {to}</a>\n' for to in (*new, *others))
        body = b"<html><body>" + links.encode() + WORDS
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    async def _serve(self, ready: threading.Event) -> None:
        pages = {f"/{number}": self._page(number) for number in range(self._pages)}

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
                    self.requests[path] += 1
                    writer.write(pages[path])
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await server.serve_forever()


@dataclass
class Crawl:
    """One crawl with one scheduler, possibly in several runs."""

    site: Site
    scheduler: str
    folder: Path
    kills: int = 0
    cpu_s: list[float] = field(default_factory=list)

    def run(self, kill_after: int | None = None) -> None:
        """Runs the spider to its end, or until `kill_after` more requests have come."""
        until = None if kill_after is None else self.site.requests.total() + kill_after
        command = (sys.executable, str(SPIDER), self.scheduler, str(self.folder / "kept"), f"{self.site.url}/0")
        process = subprocess.Popen([*command, str(self.folder / "read")])
        while until is not None and self.site.requests.total() < until and process.poll() is None:
            time.sleep(0.002)
        if until is not None and process.poll() is None:
            process.kill()
            self.kills += 1
        if process.returncode is None:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s.append(used.ru_utime + used.ru_stime)

    def read(self) -> set[str]:
        """Returns the paths of the pages whose callback has run."""
        lines = (self.folder / "read").read_text().splitlines()
        return {line.removeprefix(self.site.url) for line in lines}


def whole_crawl(site: Site, scheduler: str) -> tuple[float, float, int]:
    """Crawls without a kill; returns the elapsed seconds, the CPU seconds and the number of requests."""
    site.requests.clear()
    with tempfile.TemporaryDirectory() as name:
        crawl, begun = Crawl(site, scheduler, Path(name)), time.monotonic()
        crawl.run()
        elapsed_s = time.monotonic() - begun
        if crawl.read() != site.paths():
            raise RuntimeError(f"{scheduler} has not read all pages")
        return elapsed_s, crawl.cpu_s[0], site.requests.total()


def killed_crawl(site: Site, scheduler: str, moments: list[int]) -> tuple[int, int, int]:
    """Kills a crawl at these moments, then lets it end; returns the kills, the pages lost and all requests."""
    site.requests.clear()
    with tempfile.TemporaryDirectory() as name:
        crawl = Crawl(site, scheduler, Path(name))
        for moment in moments:
            crawl.run(moment)
        crawl.run()
        return crawl.kills, len(site.paths() - crawl.read()), site.requests.total()


def main() -> int:
    """Prints a row for each scheduler."""
    site, chance = Site(PAGES.value()), random.Random(SEED.value())
    whole_ones: dict[str, list[tuple[float, float, int]]] = {name: [] for name in SCHEDULERS}
    for _ in range(RUNS.value()):
        for name in SCHEDULERS:
            whole_ones[name].append(whole_crawl(site, name))
    most = max(2, PAGES.value() // KILLS.value())
    moments = [chance.randrange(1, most) for _ in range(KILLS.value())]
    print(f"{'scheduler':<20} {'pages/s':>8} {'CPU s':>7} {'kills':>6} {'lost':>6} {'repeated':>9}")
    rows = []
    for name in SCHEDULERS:
        elapsed_s, cpu_s, requests = (median(column) for column in zip(*whole_ones[name], strict=True))
        kills, lost, all_requests = killed_crawl(site, name, moments)
        repeated = (
            max(0, all_requests - int(requests))
            if not lost
            else sum(times - 1 for path, times in site.requests.items() if path != "/0")
        )
        rate = PAGES.value() / elapsed_s
        print(f"{TITLES[name]:<20} {rate:>8.0f} {cpu_s:>7.2f} {kills:>6} {lost:>6} {repeated:>9}")
        rows.append(
            {
                "scheduler": TITLES[name],
                "pages_per_s": rate,
                "cpu_s": cpu_s,
                "kills": kills,
                "lost": lost,
                "repeated": repeated,
            }
        )
    ours, theirs = rows
    print(f"CPU of goodbot's / Scrapy's: {ours['cpu_s'] / theirs['cpu_s']:.2f}")
    settings = {setting.name.lower(): setting.value() for setting in (PAGES, KILLS, RUNS, SEED)}
    save("scrapy", {"scrapy": version("scrapy"), **settings, "rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (PAGES, KILLS, RUNS, SEED), main))
