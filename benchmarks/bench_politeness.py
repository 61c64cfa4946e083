"""Measures whether several machines ever ask a site sooner than it wants, or lose a URL, while machines fail.

    make bench-politeness HOSTS=500 PAGES=40 FETCHES=1000000

`crawl`: three machines crawl HOSTS sites together, as processes of one worker each, over a PostgreSQL server that the
benchmark starts. Each site asks for a delay of 0.2 to 1 s and logs its requests. Machine a is killed (-9) and started
again; b is stopped for 45 s (SIGSTOP), c is cut off from the database for 45 s, so others take their hosts over; the
server is restarted. `repeated` may be up to `allowed_repeats`: the URLs that these machines had leased then.

`simulation`: machines and sites are simulated, in simulated time; the frontiers in PostgreSQL are the real ones. It
ends when everything is crawled, or after MINUTES.

The exit status is 1 if a site was asked too soon, if a URL was lost, or if more was repeated than may be.
"""

import logging
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from machines_under_faults import Cluster, Judgement, Step, counting
from postgres_server import postgres_server, programs
from settings import UsageError, choice, number, save, start, whole
from simulated_machines import Simulated, Simulation, simulated
from unreliable_proxy import UnreliableProxy

PARTS = choice("PARTS", "crawl simulation", "what to run", ("crawl", "simulation"))
HOSTS = whole("HOSTS", 500, "sites of the crawl", 10, 1000)
PAGES = whole("PAGES", 40, "pages of each site", 2, 10_000)
FETCHES = whole("FETCHES", 1_000_000, "pages of the simulation", 1000, 10_000_000)
MACHINES = whole("MACHINES", 5, "machines of the simulation", 2, 50)
SEED = whole("SEED", 1, "the seed of the simulation", 0, 1_000_000)
MINUTES = number("MINUTES", 10, "minutes that the simulation may take", 0.1, 1000)
MOST_S = 900.0
"""The crawl may take so many seconds."""
STEPS = (
    Step(5.0, "kill"),
    Step(45.0, "start"),
    Step(50.0, "stop"),
    Step(60.0, "cut"),
    Step(95.0, "continue"),
    Step(105.0, "mend"),
    Step(115.0, "restart"),
)


def crawl(sites: int, pages: int) -> Judgement:
    """Crawls the sites with three machines."""
    with (
        tempfile.TemporaryDirectory() as name,
        postgres_server() as server,
        UnreliableProxy(server.port) as proxy,
        counting(sites, pages, Path(name)) as (port, log),
    ):
        return Cluster(Path(name), server, proxy, sites, pages).run(port, log, STEPS, MOST_S)


def simulate(fetches: int, machines: int, seed: int, minutes: float) -> Simulated:
    """Crawls the simulated web."""
    with postgres_server() as server:
        dsn = simulated(server.dsn())
        return Simulation(dsn, pages=fetches, machines_=machines, seed=seed, most_s=minutes * 60.0).run()


def print_crawl(result: Judgement) -> bool:
    """Prints the figures of the crawl. Returns whether all is well."""
    print(f"{'pages':>7} {'too soon':>8} {'spare ms':>8} {'lost':>5} {'repeated':>8} {'allowed':>7} ", end="")
    print(f"{'seconds':>8} {'pages/s':>8} {'CPU s':>7} {'db CPU s':>8}")
    print(
        f"{result.pages:>7} {result.too_soon:>8} {result.least_spare_s * 1000:>8.1f} {result.lost:>5} "
        f"{result.repeated:>8} {result.allowed_repeats:>7} {result.duration_s:>8} {result.pages_per_s:>8} "
        f"{result.machines_cpu_s:>7} {result.database_cpu_s:>8}",
        flush=True,
    )
    if len(result.steps) < len(STEPS):
        left = ", ".join(step.what for step in STEPS[len(result.steps) :])
        print(f"the crawl ended before everything had happened ({left}): set more PAGES", file=sys.stderr)
    wrong = result.too_soon or result.lost or result.twice_in_table or result.not_archived
    return not wrong and result.repeated <= result.allowed_repeats and len(result.steps) == len(STEPS)


def print_simulation(result: Simulated) -> bool:
    """Prints the figures of the simulation. Returns whether all is well."""
    print(f"{'requests':>9} {'hosts':>6} {'repeated':>8} {'rejected':>8} {'faults':>7} {'wrong':>6} ", end="")
    print(f"{'simulated s':>11} {'seconds':>8} {'requests/s':>10}")
    print(
        f"{result.requests:>9} {result.hosts:>6} {result.repeated:>8} {result.rejected:>8} "
        f"{sum(result.faults_made.values()):>7} {sum(result.wrong.values()):>6} {result.simulated_s:>11} "
        f"{result.wall_s:>8} {result.requests_per_s:>10}",
        flush=True,
    )
    print(*result.examples, sep="\n", end="\n" if result.examples else "", file=sys.stderr)
    return not result.wrong


def main() -> int:
    """Prints the tables and writes them as JSON."""
    if programs() is None:
        raise UsageError("PostgreSQL is not installed: install Debian's package postgresql")
    logging.getLogger("goodbot").setLevel(logging.ERROR)
    figures: dict[str, object] = {}
    is_well = True
    if "crawl" in PARTS.value():
        crawled = crawl(HOSTS.value(), PAGES.value())
        is_well &= print_crawl(crawled)
        figures["crawl"] = asdict(crawled)
    if "simulation" in PARTS.value():
        run = simulate(FETCHES.value(), MACHINES.value(), SEED.value(), MINUTES.value())
        is_well &= print_simulation(run)
        figures["simulation"] = asdict(run)
    save("politeness", figures)
    return 0 if is_well else 1


if __name__ == "__main__":
    settings = (PARTS, HOSTS, PAGES, FETCHES, MACHINES, SEED, MINUTES)
    raise SystemExit(start(__file__, __doc__, settings, main))
