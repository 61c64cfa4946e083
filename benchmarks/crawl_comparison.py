"""Lets several programs crawl the same sites, one after another, several times, and prints the medians."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from crawl_measure import measure, save
from crawl_programs import Command, programs
from crawl_web import ServedWeb, copied, padded, portal_for, served, sites_of

PROGRAMS = "scrapy,wget,wget2,goodbot"
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
    portal, runs = portal_for(name), int(os.environ.get("RUNS", "5"))
    if portal is None:
        return 2
    if missing := [tool for tool in ("nginx", "wget") if shutil.which(tool) is None]:
        print(f"bench-{name}: not installed: {', '.join(missing)}", file=sys.stderr)
        return 2
    selected = os.environ.get("SITES", "").split()
    sites = [site for site in sites_of(portal) if not selected or site.split("/")[2].split(":")[0] in selected]
    folder = copied(sites)
    if mean:
        folder = padded(folder, mean)
    chosen = programs(os.environ.get("PROGRAMS", PROGRAMS).split(","))
    for http in https:
        done: list[Run] = []
        with served(folder, http) as web:
            for number in range(runs):
                for program, command in chosen.items():
                    done.append(crawl(program, command, web, http))
                    print(f"run {number + 1}: {_row(program, done[-1].figures())} {done[-1].protocol}", flush=True)
                save(f"{name}_{http}", {"sites": sites, "mean_bytes": mean, "runs": [asdict(run) for run in done]})
        _print_medians(http, done)
    return 0


def _print_medians(http: str, runs: Sequence[Run]) -> None:
    print(f"\nHTTP: {http}. Medians:\n{'program':<20}" + "".join(f"{column:>12}" for column in COLUMNS))
    for program in dict.fromkeys(run.program for run in runs):
        columns = zip(*(run.figures() for run in runs if run.program == program), strict=True)
        print(_row(program, [median(column) for column in columns]))
    print(flush=True)


def _row(program: str, figures: Sequence[float]) -> str:
    return f"{program:<20}" + "".join(f"{figure:>12.{0 if figure >= 1000 else 2}f}" for figure in figures)
