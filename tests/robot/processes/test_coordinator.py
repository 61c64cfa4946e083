"""The coordinator and its workers in one loop, over a fake clock and a fake web: leases, budgets, reports, deaths."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.partitions import partition_of, share_of_partition
from goodbot.robot.crawl.assembly import WorkerSetup, crawler_of
from goodbot.robot.crawl.batch import BATCH_S, Batch
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import Identity
from goodbot.robot.manners.permission import MEMORY_BYTES
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.processes.worker import REPORT_S
from goodbot.robot.scope.scope import Scope
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier, TaskWorkers
from goodbot.url import Url
from goodbot.values import Capture, Discovery, Failure, Lease, Outcome, Request, Response
from programs import ROOT

HTML = (("content-type", "text/html"),)
PLAIN = (("content-type", "text/plain"),)
PAGES = 40
Answer = Response | Failure | Callable[[Request], Response | Failure]


def home(host: int, page: int = 0) -> str:
    return f"http://h{host}.example/{page}"


def site(host: int, robots: Answer | None = None) -> dict[str, Answer]:
    """A host of which every page links to the next."""
    answers: dict[str, Answer] = {
        home(host, page): Response(200, HTML, f'<title>{page}</title><a href="/{page + 1}">on</a>'.encode())
        for page in range(PAGES)
    }
    answers[f"http://h{host}.example/robots.txt"] = robots or Response(200, PLAIN, b"User-agent: *\nDisallow: /no\n")
    return answers


class Frontier(MemoryFrontier):
    """Counts how often it is asked."""

    leases = looks = 0

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        self.leases += 1
        leases = super().lease(hosts, urls_per_host, now, sized=sized)
        self.sizes += (len(lease.urls) for lease in leases)
        return leases

    def next_ready_at(self) -> float | None:
        self.looks += 1
        return super().next_ready_at()


class Scene:
    """A coordinator with two workers, and everything that they need."""

    def __init__(
        self,
        hosts: int | Sequence[int],
        *,
        elapsed_s: float = 0.5,
        seeds: int = 1,
        web: type[FakeWeb] = FakeWeb,
        peer: str | None = None,
        **settings: object,
    ) -> None:
        numbers = range(hosts) if isinstance(hosts, int) else hosts
        self.clock = FakeClock()
        self.answers = {url: answer for host in numbers for url, answer in site(host).items()}
        self.web = web(self.answers, self.clock, elapsed_s=elapsed_s, peer=peer)
        self.frontier = Frontier()
        self.outcomes: list[Outcome] = []
        self.seen_at: list[float] = []
        urls = [Url(home(host, page)) for host in numbers for page in range(seeds)]
        self.frontier.add(Discovery(url, 0) for url in urls)
        self.settings = Settings(seeds=(home(0),), scope="all", index=False, archive=False, **settings)  # type: ignore[arg-type]
        guard = AddressGuard()
        identity = Identity("goodbot", "goodbot", None)
        setup = WorkerSetup(self.settings, identity, guard, Scope(self.settings, (), guard), None, None)
        self.workers = TaskWorkers(self.clock, self.web)
        self.coordinator = Coordinator(
            self.settings,
            2,
            setup=setup,
            frontier=self.frontier,
            robots=self.frontier,
            batch=Batch(self.frontier, self.frontier, None, None, self.clock, self.observe),
            clock=self.clock,
            lessons=self.frontier,
            start=self.workers,
        )

    def observe(self, outcome: Outcome) -> None:
        """An outcome is committed."""
        self.outcomes.append(outcome)
        self.seen_at.append(self.clock.now())

    def sent(self, ending: str) -> list[tuple[str, float]]:
        """Which requests were sent, and when, of URLs that end so."""
        sent = zip(self.web.requests, self.web.times, strict=True)
        return [(request.url.text, at) for request, at in sent if request.url.text.endswith(ending)]

    async def run_for(self, seconds: float) -> None:
        """Stops after so long, if it has not ended before."""
        run = asyncio.ensure_future(self.coordinator.run())
        timer = asyncio.ensure_future(self.clock.sleep(seconds))
        await asyncio.wait((run, timer), return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        self.coordinator.stop()
        await run


async def test_each_host_gets_one_request_a_second_and_its_robots_txt_is_fetched_once() -> None:
    scene = Scene(30, elapsed_s=0.0)
    await scene.run_for(20.0)
    assert len(scene.sent("/robots.txt")) == 30
    pages = len(scene.web.requests) - 30
    assert pages >= 0.95 * 30 * 19
    for host in range(30):
        times = [
            at
            for url, at in zip(scene.web.requests, scene.web.times, strict=True)
            if url.url.host == f"h{host}.example"
        ]
        assert all(later - sooner >= 1.0 for sooner, later in pairwise(times))


async def test_a_host_with_a_delay_is_leased_one_url_for_each_page_a_fast_one_more_and_more() -> None:
    slow, fast = Scene(2, elapsed_s=0.0, seeds=60), Scene(2, elapsed_s=0.0, seeds=60, delay=0.0)
    for scene in (slow, fast):
        await scene.run_for(10.0)
    assert slow.frontier.sizes[2:] == [1] * (len(slow.frontier.sizes) - 2)
    assert fast.frontier.sizes[::2][:3] == [2, 8, 32]


async def test_places_are_never_empty_while_hosts_wait() -> None:
    scene = Scene(60, elapsed_s=0.2, concurrency=8)
    await scene.run_for(20.0)
    assert len(scene.web.requests) >= 0.95 * 20.0 * 8 / 0.2
    assert scene.web.most_in_flight <= 8


async def test_hosts_that_wait_for_one_worker_get_their_turn_while_the_other_has_none() -> None:
    of_one = [host for host in range(100) if share_of_partition(partition_of(f"h{host}.example"), 2) == 0][:30]
    scene = Scene(of_one, concurrency=4)
    await scene.run_for(120.0)
    assert {request.url.host for request in scene.web.requests} == {f"h{host}.example" for host in of_one}
    assert len(scene.web.requests) >= 0.95 * 120.0 * 2 / 0.5


async def test_hosts_at_one_address_come_to_one_worker_which_requests_one_after_another() -> None:
    scene = Scene(10, elapsed_s=0.3, delay=0.0, peer="8.8.8.8")
    await scene.run_for(60.0)
    times = [at for at in scene.web.times if at > scene.web.times[0] + 10.0]
    assert len(times) >= 0.9 * 50.0 / (0.3 + scene.settings.address_delay)
    assert all(later - sooner >= 0.3 + scene.settings.address_delay - 1e-6 for sooner, later in pairwise(times))


async def test_robots_txt_that_may_be_kept_for_a_minute_does_not_cost_every_turn() -> None:
    """Each host's turn comes every 100 s: its robots.txt is stale by then, and has served no page."""
    scene = Scene(40, elapsed_s=10.0, concurrency=4)
    for host in range(40):
        short = Response(200, (*PLAIN, ("cache-control", "no-cache")), b"User-agent: *\nDisallow: /no\n")
        scene.answers[f"http://h{host}.example/robots.txt"] = short
    await scene.run_for(1000.0)
    robots = len(scene.sent("/robots.txt"))
    assert len(scene.web.requests) - robots >= 0.4 * len(scene.web.requests)


@pytest.mark.parametrize("most", [1, 2, 7, 33, 64])
async def test_max_pages_are_visited_exactly_and_side_by_side(most: int) -> None:
    scene = Scene(12, seeds=3)
    reason = await scene.coordinator.run(most)
    assert (reason, scene.coordinator.visited) == ("max-pages", most)
    assert sum(outcome.state == "visited" for outcome in scene.outcomes) == most
    assert len(scene.web.requests) - len(scene.sent("/robots.txt")) == most
    assert scene.web.most_in_flight >= min(most, 12)


async def test_nothing_polls_while_the_last_pages_are_in_flight() -> None:
    scene = Scene(60, elapsed_s=20.0, concurrency=8)
    await scene.coordinator.run(4)
    assert scene.frontier.looks + scene.frontier.leases < 100


class SlowWeb(FakeWeb):
    """Page 1 of each host takes a minute, the others no time."""

    async def send(self, request: Request) -> Capture:
        if request.url.path == "/1":
            await self._clock.sleep(60.0)
        return await super().send(request)


async def test_a_page_is_reported_and_committed_in_time_though_the_next_takes_a_minute() -> None:
    scene = Scene(1, elapsed_s=0.0, seeds=2, delay=0.1, web=SlowWeb)
    await scene.run_for(30.0)
    (asked_at,) = [at for _, at in scene.sent("/0")]
    assert scene.outcomes[0].url.path == "/0"
    assert scene.seen_at[0] - asked_at <= REPORT_S + BATCH_S + 0.001


@pytest.mark.long
async def test_a_broad_crawl_goes_as_fast_as_politeness_allows(tmp_path: Path) -> None:
    """The benchmark, smaller: each host's turn comes after more than a minute, for which some robots.txt are kept."""
    sizes = {"HOSTS": "1000", "MINUTES": "5", "CONCURRENCY": "16", "RESULTS": str(tmp_path)}
    bench = await asyncio.create_subprocess_exec(
        sys.executable, str(ROOT / "benchmarks" / "bench_broad.py"), env={**os.environ, **sizes}
    )
    assert await bench.wait() == 0
    result = json.loads((tmp_path / "broad.json").read_text())
    assert result["share_of_allowed"] >= 0.95
    assert result["needless_robots"] == 0


async def test_robot_processes_share_what_a_crawl_may_hold_in_memory() -> None:
    big = Response(200, PLAIN, b"User-agent: *\nDisallow: /no\n# " + b"x" * 100_000)
    clock, settings = FakeClock(), Settings(index=False, archive=False)
    setup = Scene(1).coordinator._setup
    assert setup.processes == 2
    for processes in (1, 2, 4):
        web, store = FakeWeb({f"http://h{host}.example/robots.txt": big for host in range(90)}, clock), MemoryFrontier()
        batch = Batch(store, store, None, None, clock, lambda outcome: None)
        share = replace(setup, settings=settings, processes=processes)
        crawler, _ = crawler_of(share, store, batch, store, clock, transport=web)
        for host in range(90):
            await crawler._permission.check(Url(home(host)))
        assert 0.8 * MEMORY_BYTES < crawler._permission.held_bytes * processes <= MEMORY_BYTES
