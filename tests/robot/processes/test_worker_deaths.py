"""Worker processes that die: which page is charged for it, and when a crawl is given up."""

from contextlib import AsyncExitStack
from ipaddress import ip_network
from pathlib import Path

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.page_mark import MARK_BYTES, PageMark
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import Identity
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.processes.worker_deaths import (
    DEATHS_PERIOD_S,
    MAX_DEATHS,
    MAX_UNEXPLAINED_DEATHS,
    WorkerDeaths,
    exit_description,
)
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.testing import MemoryFrontier
from goodbot.url import Url
from goodbot.values import Discovery, LeasedUrl, Outcome
from robot.processes.deadly import prepare_or_die
from webserver import Exchange, WebServer, answer

HOME = Url("http://h.example/")


async def page(exchange: Exchange) -> None:
    title = "deadly" if "deadly" in exchange.target else "harmless"
    await exchange.send(answer(f"<title>{title}</title><p>words".encode()))


@pytest.mark.parametrize("deadly", [1, pytest.param(12, marks=pytest.mark.long)])
async def test_a_page_that_kills_twice_fails_and_the_crawl_goes_on(
    deadly: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """More deaths than a crawl without progress may have. Nobody else is charged for them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    outcomes: list[Outcome] = []
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(WebServer(fallback=page)) for _ in range(3)]
        seeds = [server.url(f"/{number}") for server in servers for number in range(8)]
        seeds += [servers[0].url(f"/deadly/{number}") for number in range(deadly)]
        settings = Settings(seeds=tuple(seeds), archive=False, backoff_first=0.01, backoff_most=0.01, retry_first=0.01)
        urls = parse_seeds(seeds)
        frontier, clock, guard = MemoryFrontier(), SystemClock(), AddressGuard([ip_network("127.0.0.0/8")])
        frontier.add(Discovery(url, 0) for url in urls)
        scope = Scope(settings, urls, guard)
        setup = WorkerSetup(settings, Identity("goodbot", "goodbot", None), guard, scope, None, prepare_or_die)
        batch = Batch(frontier, frontier, None, None, clock, outcomes.append)
        coordinator = Coordinator(
            settings, 2, setup=setup, frontier=frontier, robots=frontier, batch=batch, clock=clock, lessons=frontier
        )
        assert await coordinator.run() == "finished"
    records = {record.url.text: record for record in frontier.records()}
    for text, record in records.items():
        assert record.state == ("failed" if "deadly" in text else "visited"), record
        if "deadly" in text:
            assert record.why == "kills the reader: the worker process ended while reading it (signal SIGKILL), 2 times"
    assert sum(outcome.state == "ready" for outcome in outcomes) == deadly
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 2 * deadly
    assert all("died with signal SIGKILL while it read http" in error for error in errors)
    assert all("deadly" in outcome.url.text for outcome in outcomes if outcome.state == "ready")


def leased(text: str = HOME.text, tries: int = 0) -> LeasedUrl:
    return LeasedUrl(Url(text), 0, tries)


def test_a_crawl_is_given_up_only_when_nothing_else_happens() -> None:
    deaths = WorkerDeaths(Settings())
    for number in range(3 * MAX_DEATHS):  # a page in between
        deaths.count(float(number), number, -11, has_begun=True)
    deaths = WorkerDeaths(Settings())
    for number in range(3 * MAX_DEATHS):  # over months
        deaths.count(number * DEATHS_PERIOD_S, 0, -11, has_begun=True)
    deaths = WorkerDeaths(Settings())
    for number in range(MAX_DEATHS):
        deaths.count(float(number), 7, -11, has_begun=True)
    with pytest.raises(RunError, match="SIGSEGV"):
        deaths.count(MAX_DEATHS, 7, -11, has_begun=True)


def test_processes_that_never_begin_end_the_crawl_whatever_the_others_do() -> None:
    deaths = WorkerDeaths(Settings())
    for number in range(MAX_DEATHS):
        deaths.count(number * DEATHS_PERIOD_S, number, 1, has_begun=False)
    with pytest.raises(RunError, match="status 1"):
        deaths.count(1e9, 99, 1, has_begun=False)


def test_a_url_leased_at_death_after_death_is_charged_in_the_end() -> None:
    deaths = WorkerDeaths(Settings())
    outcomes = [deaths.died_otherwise(leased(), None, 1.0, 2.0) for _ in range(MAX_UNEXPLAINED_DEATHS + 1)]
    assert outcomes[:-1] == [None] * MAX_UNEXPLAINED_DEATHS
    last = outcomes[-1]
    assert last is not None
    assert (last.state, last.tries, last.ready_at) == ("ready", 1, 2.0)
    again = deaths.died_otherwise(leased(tries=2), None, 1.0, 2.0)
    assert again is not None
    assert again.state == "failed"


@pytest.mark.parametrize(
    ("status", "name"), [(-9, "signal SIGKILL"), (-200, "status -200"), (3, "status 3"), (None, "status None")]
)
def test_how_a_process_ended(status: int | None, name: str) -> None:
    assert exit_description(status) == name


def test_a_mark_survives_and_is_of_one_page() -> None:
    mark = PageMark.new()
    other = PageMark(mark.descriptor)  # as the other process maps it
    long = Url(HOME.text + "x" * 2 * MARK_BYTES)
    for url in (HOME, long, Url("http://h.example/\ud800")):
        other.begin(url)
        assert mark.is_on(url)
        assert not mark.is_on(Url("http://h.example/other"))
        other.end()
        assert not mark.is_on(url)
    mark.close()


def test_an_answer_survives_with_its_page() -> None:
    mark = PageMark.new()
    other = PageMark(mark.descriptor)
    for kept in (b"a" * 3 * MARK_BYTES, b"", b"b"):
        other.begin(HOME)
        assert mark.answer() == b""
        other.keep(kept)
        assert mark.answer() == kept
        assert mark.is_on(HOME)
    other.begin(Url(HOME.text + "other"))
    assert mark.answer() == b""
    other.keep(b"c")
    other.end()
    assert mark.answer() == b""
    mark.close()
