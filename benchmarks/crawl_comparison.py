"""Lets several programs crawl the same sites, one after another, several times, and prints the medians."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from crawl_measure import measure
from crawl_programs import BEFORE, PROGRAMS, Command, programs
from crawl_web import LOCALWEB, ServedWeb, copied, padded, served, sites_of
from settings import Setting, UsageError, save, whole, words

SITES = Setting("SITES", "", "the sites to crawl, by default all of the portal", "a list of addresses", words)
RUNS = whole("RUNS", 5, "how often each program crawls the sites", 1, 1000)
SETTINGS = (LOCALWEB, SITES, RUNS, PROGRAMS, BEFORE)
COLUMNS = ("pages", "MB", "s", "pages/s", "CPU ms/page", "CPU ms/MB", "pages/CPU s", "peak MB", "requests")


@dataclass(frozen=True)
class Run:
    """One crawl by one program. The server counts pages, requests and bytes."""

    program: str
    http: str
    requests: int
    pages: int
    page_bytes: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    protocol: str

    def figures(self) -> tuple[float, ...]:
        """Returns the figures of a line of the table."""
        pages, megabytes = max(self.pages, 1), max(self.page_bytes, 1) / 1e6
        return (
            *(self.pages, megabytes, self.wall_s, pages / self.wall_s, 1000 * self.cpu_s / pages),
            *(1000 * self.cpu_s / megabytes, pages / self.cpu_s, self.peak_mb, self.requests),
        )


def crawl(program: str, command: Command, web: ServedWeb, http: str) -> Run:
    """Crawls the served sites with one program."""
    web.traffic()
    with tempfile.TemporaryDirectory() as name:
        _, cost = measure(command(web, Path(name)), Path(name))
    seen = web.traffic()
    return Run(program, http, seen.requests, seen.pages, seen.page_bytes, *cost, seen.protocol)


def compare(name: str, https: Sequence[str], mean: int | None = None) -> int:
    """Compares the programs on the sites that LOCALWEB links to: runs all of them RUNS times, in turn. For each
    protocol in `https` it prints a table of medians, and writes all runs to a JSON file.

    With `mean`, pages are padded to that mean size in bytes. SITES selects sites by host, PROGRAMS selects programs.
    """
    if missing := [tool for tool in ("nginx", "wget") if shutil.which(tool) is None]:
        raise UsageError(f"install {' and '.join(missing)} first")
    sites, chosen = _selected(sites_of(LOCALWEB.value()), SITES.value()), programs()
    folder = copied(sites)
    if mean:
        folder = padded(folder, mean)
    for http in https:
        done: list[Run] = []
        with served(folder, http) as web:
            for number in range(RUNS.value()):
                for program, command in chosen.items():
                    done.append(crawl(program, command, web, http))
                    print(f"run {number + 1}: {_row(program, done[-1].figures())} {done[-1].protocol}", flush=True)
                save(f"{name}_{http}", {"sites": sites, "mean_bytes": mean, "runs": [asdict(run) for run in done]})
        _print_medians(http, done)
    return 0


def _selected(sites: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """Returns the sites with these hosts, or all sites if no hosts are given."""
    if unknown := set(hosts) - set(map(_host, sites)):
        raise UsageError(f"SITES: the portal links to no site {min(unknown)!r}; give hosts such as {_host(sites[0])}")
    return [site for site in sites if not hosts or _host(site) in hosts]


def _host(site: str) -> str:
    return urlsplit(site).hostname or ""


def _print_medians(http: str, runs: Sequence[Run]) -> None:
    print(f"\nHTTP: {http}. Medians:\n{'program':<20}" + "".join(f"{column:>12}" for column in COLUMNS))
    for program in dict.fromkeys(run.program for run in runs):
        columns = zip(*(run.figures() for run in runs if run.program == program), strict=True)
        print(_row(program, [median(column) for column in columns]))
    print(flush=True)


def _row(program: str, figures: Sequence[float]) -> str:
    return f"{program:<20}" + "".join(f"{figure:>12.{0 if figure >= 1000 else 2}f}" for figure in figures)
