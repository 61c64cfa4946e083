"""Measures how fresh a crawl stays and at what cost: goodbot's revisit times against daily and weekly visits to every
page.

    make bench-freshness PAGES=1000 DAYS=60 SEED=1

One site has PAGES pages that change about as often as pages of the Web: 2 % hourly, 10 % daily, 20 % weekly, 28 %
monthly, 40 % not at all. Half of the pages of each kind change at random times (Poisson), half at regular intervals.
The mix is between those of Cho and Garcia-Molina (VLDB 2000: 23 % of pages changed daily, 30 % not in four
months) and of Fetterly and others (WWW 2003: two thirds did not change in eleven weeks). Every page has an ETag. The
crawler is the real one, with its frontier in memory and a simulated clock that skips waits. The plans with fixed
intervals use the same crawler, with `revisit_first`, `revisit_least` and `revisit_most` equal.

Freshness is the share of copies that equal the page on the server, averaged over pages and time. Requests are all that
the server gets, including those for robots.txt and those answered with 304.
"""

import asyncio
import random
import time
from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import Final

from goodbot.config import Settings
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.scope.scope import Scope
from goodbot.testing import FakeClock, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, Discovery, Outcome, Request, Response
from settings import number, save, start, whole

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
MIX: Final = ((0.02, HOUR), (0.10, DAY), (0.20, 7 * DAY), (0.28, 30 * DAY), (0.40, 0.0))
"""For each kind of page its share, and the seconds between changes; 0: these pages never change."""
KINDS: Final = ("hourly", "daily", "weekly", "monthly", "never")
ROOT: Final = "http://site.example"
PAGES: Final = whole("PAGES", 1000, "pages of the site", 10, 1_000_000)
DAYS: Final = number("DAYS", 60, "simulated days", 1, 10_000)
SEED: Final = whole("SEED", 1, "the same seed gives the same changes", 0, 1_000_000_000)


def fixed(wait_s: float) -> dict[str, float]:
    """Returns settings with which every page is visited every `wait_s` seconds: all bounds are equal."""
    return {"revisit_first": wait_s, "revisit_least": wait_s, "revisit_most": wait_s}


PLANS: Final[dict[str, dict[str, float]]] = {
    "a day": fixed(DAY),
    "ours": {},
    "a week": fixed(7 * DAY),
    "ours, thrifty": {"revisit_first": 7 * DAY, "revisit_least": 78 * HOUR},
}


class ChangingSite:
    """A Transport to one site of `pages` pages over `days` days; the same `seed` gives the same changes."""

    def __init__(self, clock: FakeClock, pages: int, days: float, seed: int) -> None:
        dice = random.Random(seed)
        self._clock = clock
        self._began_at = clock.now()
        self.until = self._began_at + days * DAY
        self.kinds: list[int] = [kind for kind, (share, _) in enumerate(MIX) for _ in range(round(share * pages))]
        self._changes = [self._times(dice, MIX[kind][1], number % 2 == 0) for number, kind in enumerate(self.kinds)]
        self._pages = {self.url(number).text: number for number in range(len(self.kinds))}
        self._copies: list[float | None] = [None] * len(self.kinds)
        self.fresh_s = [0.0] * len(self.kinds)
        self.requests = 0
        self.not_modified = 0

    def url(self, number: int) -> Url:
        """Returns the URL of one page. The first page links to all others."""
        return Url(f"{ROOT}/{number or ''}")

    def _times(self, dice: random.Random, every_s: float, by_chance: bool) -> list[float]:
        times: list[float] = []
        at = self._began_at + (dice.random() * every_s if every_s else float("inf"))
        while at < self.until:
            times.append(at)
            at += dice.expovariate(1 / every_s) if by_chance else every_s
        return times

    async def send(self, request: Request) -> Capture:
        """Answers with the current version of the page, or with 304 if the crawler has it."""
        self.requests += 1
        now = self._clock.now()
        number = self._pages.get(request.url.text)
        if number is None:
            return Capture(request, Response(404, (), b""), now, 0.0)
        self._count(number, now)
        version = bisect_right(self._changes[number], now)
        tag = f'"{version}"'
        if ("If-None-Match", tag) in request.headers:
            self.not_modified += 1
            return Capture(request, Response(304, (("ETag", tag),), b""), now, 0.0)
        return Capture(request, self._page(number, version, tag), now, 0.0)

    def _page(self, number: int, version: int, tag: str) -> Response:
        links = range(1, len(self.kinds)) if number == 0 else ()
        body = f"<title>Page {number}</title><p>Version {version}</p>" + "".join(
            f'<a href="/{n}">{n}</a>' for n in links
        )
        return Response(200, (("Content-Type", "text/html"), ("ETag", tag)), body.encode())

    def _count(self, number: int, now: float) -> None:
        """Counts how long the previous copy was fresh, when a new one replaces it."""
        at = self._copies[number]
        if at is not None:
            changes = self._changes[number]
            following = bisect_right(changes, at)
            self.fresh_s[number] += min(now, changes[following] if following < len(changes) else now) - at
        self._copies[number] = now

    def end(self) -> None:
        """Counts the last copies up to the end."""
        for page in range(len(self.kinds)):
            self._count(page, self.until)

    async def close(self) -> None:
        return None


@dataclass(frozen=True)
class Result:
    """The figures of one plan. `by_kind`: mean freshness and visits of a page, for each kind of page."""

    plan: str
    settings: dict[str, float]
    freshness: float
    requests: int
    not_modified: int
    cpu_s: float
    by_kind: dict[str, tuple[float, float]]


def run(plan: str, pages: int, days: float, seed: int) -> Result:
    """Crawls the site for `days` of simulated time."""
    began = time.process_time()
    clock = FakeClock()
    site = ChangingSite(clock, pages, days, seed)
    visits = [0] * len(site.kinds)

    def observe(outcome: Outcome) -> None:
        visits[int(outcome.url.path.strip("/") or 0)] += 1

    asyncio.run(_crawl(site, clock, Settings(seeds=(f"{ROOT}/",), delay=0.0, **PLANS[plan]), observe))  # type: ignore[arg-type]
    site.end()
    by_kind: dict[str, tuple[float, float]] = {}
    for kind, name in enumerate(KINDS):
        those = [number for number, its in enumerate(site.kinds) if its == kind]
        fresh = sum(site.fresh_s[number] for number in those) / max(len(those), 1) / (days * DAY)
        by_kind[name] = (round(fresh, 4), round(sum(visits[number] for number in those) / max(len(those), 1), 1))
    freshness = sum(site.fresh_s) / len(site.kinds) / (days * DAY)
    cpu_s = time.process_time() - began
    return Result(plan, PLANS[plan], round(freshness, 4), site.requests, site.not_modified, round(cpu_s, 1), by_kind)


async def _crawl(site: ChangingSite, clock: FakeClock, settings: Settings, observe: object) -> None:
    home = site.url(0)
    frontier = MemoryFrontier(now=clock.now, revisit_until=site.until)
    frontier.add([Discovery(home, 0)])
    crawler = Crawler(
        settings,
        leases=frontier,
        sink=Batch(frontier, frontier, None, None, clock, observe),  # type: ignore[arg-type]
        transport=site,
        permission=Permission(settings, "goodbot", site, frontier, clock),
        politeness=Politeness(settings),
        **readers_of(settings, "goodbot", Scope(settings, [home], AddressGuard()))._asdict(),
        clock=clock,
    )
    crawler.max_sleep_s = DAY  # nothing happens but what is due
    await crawler.run()


def main() -> int:
    """Prints the table and writes it as JSON."""
    pages, days, seed = PAGES.value(), DAYS.value(), SEED.value()
    print(f"{pages} pages, {days:g} days, seed {seed}; freshness/visits of a page by kind")
    names = "  ".join(f"{kind:>13}" for kind in KINDS)
    print(f"{'plan':<15}{'freshness':>10}{'requests':>10}{'304 of these':>13}{'CPU s':>8}  {names}")
    results = []
    for plan in PLANS:
        result = run(plan, pages, days, seed)
        kinds = "  ".join(f"{fresh:>6.3f} {count:>6.1f}" for fresh, count in result.by_kind.values())
        cost = f"{result.requests:>10}{result.not_modified:>13}{result.cpu_s:>8.1f}"
        print(f"{plan:<15}{result.freshness:>10.4f}{cost}  {kinds}", flush=True)
        results.append(asdict(result))
    save("freshness", {"pages": pages, "days": days, "seed": seed, "results": results})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (PAGES, DAYS, SEED), main))
