"""Measures a broad crawl in real time over loopback: many named hosts, one second between two requests to a host, and
errors and slow hosts as on the Web.

    make bench-broad-web MINUTES=30 HOSTS=20000 PROGRAMS=goodbot

`broad_server` describes the simulated Web and serves it in a process with a lower priority, whose CPU time is not
counted. A portal links to all hosts, and the programs send their DNS queries to the name server of `broad_server`.

`allowed_per_s` is the highest rate of requests that is allowed, the smaller of two numbers: CONCURRENCY divided by the
mean time until an answer, as the server measured it (with many hosts), and the sum of 1 / (answer time + 1 s) over the
hosts that answer (with few hosts). `share` is the rate of all requests (pages and robots.txt) divided by
`allowed_per_s`, after the first minute (or the first fifth of a run of less than five minutes). `early` counts requests
for pages that came less than 1 s after the answer with the previous page of the same host. `needless` counts requests
for a robots.txt that had already been answered with status 200 or 404. Memory is the PSS of all processes: at the end
of each quarter of the run, and at its peak.

wget is not compared, since it has only one request in flight and does not obey Crawl-delay.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from broad_server import ADDRESSES, DELAY_S, answer_s, kind_of
from crawl_measure import Cost, Limit, measure
from settings import choice, installed_of, number, save, start, whole

HERE = Path(__file__).parent
MINUTES = number("MINUTES", 30, "how long each program crawls", 0.1, 100_000)
HOSTS = whole("HOSTS", 20_000, "hosts of the simulated Web", 1, 1_000_000)
WORKERS = whole("WORKERS", 2, "goodbot's workers", 1, 256)
CONCURRENCY = whole("CONCURRENCY", 64, "requests in flight at once", 1, 10_000)
PAGE_KB = number("PAGE_KB", 30, "the mean size of a page in kB", 1, 1000)
PROGRAMS = choice("PROGRAMS", "goodbot,scrapy", "the programs", ("goodbot", "scrapy"))


@dataclass(frozen=True)
class Plan:
    """What is crawled, and for how long."""

    hosts: int
    minutes: float
    workers: int
    concurrency: int
    page_kb: float


class Asked(NamedTuple):
    """One request, as the server saw it. `status` is 0 if the client gave up."""

    began: float
    ended: float
    host: str
    kind: str
    status: int
    size: int


@dataclass(frozen=True)
class Figures:
    """The result of one crawl; see the top of this module."""

    program: str
    hosts_seen: int
    pages: int
    page_bytes: int
    robots: int
    errors: int
    pages_per_s: float
    allowed_per_s: float
    share: float
    in_flight: float
    early: int
    needless: int
    cpu_ms_per_page: float
    cpu_ms_per_request: float
    peak_mb: float
    quarters_mb: tuple[float, ...]


class Server(NamedTuple):
    """Where the simulated Web is: the URL of the portal, the address of the name server, and the log of requests."""

    portal: str
    names: str
    log: Path


@contextmanager
def server(plan: Plan, folder: Path) -> Iterator[Server]:
    """Runs the server during the block. A request is in its log as soon as it is answered."""
    log = folder / "requests"
    command = ["nice", "-n", "5", sys.executable, str(HERE / "broad_server.py")]
    process = subprocess.Popen([*command, str(plan.hosts), str(plan.page_kb), str(log)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        ports = json.loads(process.stdout.readline())
        portal = f"http://{ADDRESSES[0]}:{ports['port']}/"
        yield Server(portal, f"{ADDRESSES[0]}:{ports['dns']}", log)
    finally:
        process.terminate()
        process.communicate()


def goodbot(plan: Plan, web: Server, folder: Path, *options: str) -> list[str]:
    """Returns the command that runs goodbot."""
    settings = folder / "goodbot.toml"
    settings.write_text(f'nameservers = ["{web.names}"]\n')
    command = [sys.executable, "-m", "goodbot", "crawl", web.portal, "--into", str(folder / "crawl"), "--scope", "all"]
    command += ["--allow-private", "--delay", str(DELAY_S), "--workers", str(plan.workers), "--quiet", "--json"]
    return [*command, "--concurrency", str(plan.concurrency), "--config", str(settings), *options]


def scrapy(plan: Plan, web: Server, folder: Path) -> list[str]:
    """Returns the command that runs Scrapy, with the settings that its manual recommends for broad crawls."""
    settings = {
        "CONCURRENT_REQUESTS": plan.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": DELAY_S,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "DOWNLOAD_TIMEOUT": 20,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "DNS_RESOLVER": "scrapy_names.Names",
        "DNSCACHE_SIZE": 100_000,
        "NAME_SERVER": web.names,
    }
    crawl = {"seeds": [web.portal], "allow": ["http://"], "pages": 0, "settings": settings}
    return [sys.executable, str(HERE / "peers" / "scrapy_fenced.py"), json.dumps(crawl)]


def crawl(program: str, plan: Plan) -> Figures:
    """Crawls for the time of the plan with one program."""
    memory: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(plan, folder) as web:
            index = [] if program == "goodbot" else ["--no-index"]
            command = scrapy(plan, web, folder) if program == "Scrapy" else goodbot(plan, web, folder, *index)
            seconds = Limit(plan.minutes * 60, lambda: web.log.stat().st_size > 0)
            _, cost = measure(command, folder, sampled=memory.append, sample_s=1.0, limit=seconds)
        asked = [_read(line) for line in web.log.read_text().splitlines()]
    return judge(program, plan, asked, cost, memory)


def _read(line: str) -> Asked:
    began, ended, host, kind, status, size = line.split("\t")
    return Asked(float(began), float(ended), host, kind, int(status), int(size))


def judge(program: str, plan: Plan, asked: Sequence[Asked], cost: Cost, memory: Sequence[int]) -> Figures:
    """Computes the figures from the server's log, the cost of the program, and samples of its memory in bytes."""
    first, lasted_s = min(one.began for one in asked), plan.minutes * 60
    warm_s = min(60.0, lasted_s / 5)
    begin, end = first + warm_s, first + lasted_s
    window_s = end - begin
    inside = [one for one in asked if begin <= one.began < end]
    busy_s = sum(min(one.ended, end) - max(one.began, begin) for one in asked if one.ended > begin and one.began < end)
    pages = [one for one in asked if one.kind == "page" and one.status == 200]
    robots = [one for one in asked if one.kind == "robots"]
    by_hosts = sum(1 / (answer_s(host) + DELAY_S) for host in range(plan.hosts) if kind_of(host) == "honest")
    answer_mean_s = sum(one.ended - one.began for one in inside) / len(inside)
    allowed = min(by_hosts, plan.concurrency / answer_mean_s)
    answered = [one.host for one in robots if one.status in (200, 404)]
    return Figures(
        *(program, len({one.host for one in asked}), len(pages), sum(one.size for one in pages), len(robots)),
        sum(one.status in (0, 404, 500, 503) for one in asked if one.kind == "page"),
        sum(begin <= one.began < end for one in pages) / window_s,
        *(allowed, len(inside) / window_s / allowed, busy_s / window_s),
        *(count_early(asked), len(answered) - len(set(answered))),
        *(1000 * cost.cpu_s / max(len(pages), 1), 1000 * cost.cpu_s / len(asked), cost.peak_mb),
        tuple(memory[len(memory) * quarter // 4 - 1] / 1e6 for quarter in range(1, 5) if memory),
    )


def count_early(asked: Sequence[Asked]) -> int:
    """Counts the requests for pages that came less than `DELAY_S` after the answer with the host's previous page, or
    before that answer."""
    last: dict[str, float] = {}
    early = 0
    for one in sorted(asked):
        if one.kind == "page":
            early += one.began < last.get(one.host, -math.inf) + DELAY_S
            last[one.host] = max(one.ended, last.get(one.host, -math.inf))
    return early


def main() -> int:
    """Prints the figures and writes them as JSON."""
    plan = Plan(HOSTS.value(), MINUTES.value(), WORKERS.value(), CONCURRENCY.value(), PAGE_KB.value())
    wanted = installed_of(PROGRAMS)
    names = ["goodbot --no-index", "goodbot"] if "goodbot" in wanted else []
    names += ["Scrapy"] if "scrapy" in wanted else []
    results = []
    for name in names:
        figures = crawl(name, plan)
        results.append(figures)
        print("\n".join(f"{key:>16}  {_shown(value)}" for key, value in asdict(figures).items()), "\n", flush=True)
        save("broad_web", {"plan": asdict(plan), "runs": [asdict(one) for one in results]})
    return 0


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_shown, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    settings = (MINUTES, HOSTS, WORKERS, CONCURRENCY, PAGE_KB, PROGRAMS)
    raise SystemExit(start(__file__, __doc__, settings, main))
