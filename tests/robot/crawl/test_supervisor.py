"""Control requests that a running crawl carries out, and the status that it publishes."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from goodbot.errors import RunError
from goodbot.lesson_values import Lesson
from goodbot.live import ControlRequest, EndReason, Holding, LiveStatus
from goodbot.robot.crawl.store_calls import StoreCalls
from goodbot.robot.crawl.supervisor import CONTROL_INTERVAL_S, Supervisor
from goodbot.testing import FakeClock, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Outcome


@dataclass
class Desk:
    """Wishes by the look they come at; `broken`: the look at which the disk fails."""

    inbox: dict[int, list[ControlRequest]] = field(default_factory=dict)
    broken: int | None = None
    looks: int = 0
    shown: list[LiveStatus] = field(default_factory=list)

    done: int = 0

    def take(self, say: object) -> Iterator[tuple[ControlRequest, Callable[[], None]]]:
        self.looks += 1
        if self.looks == self.broken:
            raise RunError("cannot read control: no space left")
        for request in self.inbox.get(self.looks, []):
            yield request, self._finish

    def _finish(self) -> None:
        self.done += 1

    def show(self, live: LiveStatus) -> None:
        self.shown.append(live)


class Runner:
    """A crawl that goes on until it is stopped, and writes down what it is told."""

    in_flight = 3

    def __init__(self, *, fails: bool = False) -> None:
        self.told: list[str] = []
        self.notices: list[str] = []
        self._end = asyncio.Event()
        self._fails = fails

    async def run(self, max_pages: int | None = None) -> EndReason:
        try:
            if self._fails:
                raise RunError("disk full")
            await self._end.wait()
        except asyncio.CancelledError:
            self.told.append("cancelled")
            raise
        return "interrupted"

    def holdings(self) -> dict[int, tuple[Holding, ...]]:
        return {os.getpid(): (Holding("leased_urls", 3),)}

    def stop(self) -> None:
        self.told.append("stop")
        self._end.set()

    def wake(self) -> None:
        self.told.append("wake")

    def leave(self, host: str) -> None:
        self.told.append(f"leave {host}")

    def remove_from_index(self, host: str) -> Iterator[None]:
        for _ in range(3):
            self.told.append(f"remove_from_index {host}")
            yield

    def unlearn(self, lessons: Sequence[Lesson]) -> None:
        self.told.append(f"unlearn {len(lessons)}")

    def take_notices(self) -> list[str]:
        notices, self.notices = self.notices, []
        return notices

    def pause(self) -> None:
        self.told.append("pause")

    def resume(self) -> None:
        self.told.append("resume")


def refuse(url: Url, depth: int) -> str | None:
    return None if url.host == "here.example" else "elsewhere"


def steward(
    runner: Runner,
    control: Desk,
    frontier: MemoryFrontier,
    clock: FakeClock | None = None,
    refuse: Callable[[Url, int], str | None] = refuse,
    calls: StoreCalls | None = None,
) -> Supervisor:
    clock = clock or FakeClock()
    return Supervisor(
        runner,
        inbox=control,
        frontier=frontier,
        refuse=refuse,
        to_fetch=lambda: 17,
        bar=lambda host: host == "a.example",
        remove_from_index=runner.remove_from_index,
        workers=1,
        clock=clock,
        timer=clock.now,
        drop=lambda ids: [Lesson("a.example", "family", name, "a trap", 1.0) for name in ids],
        calls=calls,
    )


async def run(control: Desk, runner: Runner | None = None) -> tuple[list[str], list[str], list[LiveStatus]]:
    """What was told, what was said, how it ticked."""
    runner, said, ticks = runner or Runner(), list[str](), list[LiveStatus]()
    await steward(runner, control, MemoryFrontier()).run(None, said.append, ticks.append)
    return runner.told, said, ticks


async def test_control_requests_are_carried_out_in_order() -> None:
    control = Desk(
        {
            1: [ControlRequest("pause"), ControlRequest("pause")],
            2: [ControlRequest("resume"), ControlRequest("resume")],
            3: [ControlRequest("stop")],
        }
    )
    told, said, ticks = await run(control)
    assert told == ["pause", "resume", "stop"]
    assert control.done == 5
    assert [live.pace for live in ticks] == ["paused", "running", "stopping"]
    assert control.shown == ticks
    assert len(said) == 3


async def test_what_is_submitted_to_a_crawl_that_pauses_waits() -> None:
    urls = (Url("http://here.example/a"), Url("http://elsewhere.example/"))
    frontier, runner = MemoryFrontier(), Runner()
    control = Desk(
        {
            1: [ControlRequest("submit", urls)],
            2: [ControlRequest("pause"), ControlRequest("submit", urls)],
            3: [ControlRequest("stop")],
        }
    )
    said: list[str] = []
    await steward(runner, control, frontier).run(None, said.append, lambda live: None)
    assert runner.told == ["wake", "pause", "wake", "stop"]
    assert said[0] == "1 URL submitted, 1 new"
    assert said[2] == "1 URL submitted, 0 new"
    assert frontier.record(urls[0]) is not None
    assert frontier.record(urls[1]) is None


async def test_what_a_visitor_submits_reaches_public_addresses_only() -> None:
    urls = (Url("http://here.example/a"), Url("http://127.0.0.1/b"))
    frontier = MemoryFrontier()
    control = Desk({1: [ControlRequest("submit", urls, public_only=True)], 2: [ControlRequest("stop")]})
    supervisor = steward(Runner(), control, frontier, refuse=lambda url, depth: None)
    await supervisor.run(None, lambda line: None, lambda live: None)
    (lease,) = frontier.lease(10, 10, 1e12)
    assert [(item.url, item.public_only) for item in lease.urls] == [(urls[0], True)]


async def test_a_host_is_left_if_the_frontier_knows_it() -> None:
    urls = tuple(Url(text) for text in ("http://a.example/", "https://a.example/x", "http://b.example/"))
    runner = Runner()
    _, said, _ = await run(Desk({1: [ControlRequest("forget", urls)], 2: [ControlRequest("stop")]}), runner)
    assert runner.told == ["leave a.example", "leave b.example", *["remove_from_index a.example"] * 3, "stop"]
    assert said[0].startswith("a.example: no more requests are sent; its pages are removed from the search index")
    assert said[1] == "b.example: no more requests are sent; the crawl has no data about it"


async def test_pages_leave_the_search_between_two_looks() -> None:
    """As many as there is time for until the next look."""
    control = Desk({1: [ControlRequest("forget", (Url("http://a.example/"),))], 4: [ControlRequest("stop")]})
    runner, clock, looks = Runner(), FakeClock(), list[int]()

    def remove_from_index(host: str) -> Iterator[None]:
        for _ in range(9):
            looks.append(control.looks)
            clock.advance(0.4 * CONTROL_INTERVAL_S)
            yield

    runner.remove_from_index = remove_from_index  # type: ignore[method-assign]
    await steward(runner, control, MemoryFrontier(), clock).run(None, lambda line: None, lambda live: None)
    assert looks == [1, 1, 1, 1, 2, 2, 2, 3, 3]


async def test_lessons_are_dropped_by_the_frontier_and_then_by_the_crawl() -> None:
    told, said, _ = await run(Desk({1: [ControlRequest("unlearn", lessons=("1", "2"))], 2: [ControlRequest("stop")]}))
    assert told == ["unlearn 2", "stop"]
    assert said[0] == "2 lessons dropped"


async def test_a_stopping_crawl_neither_pauses_nor_goes_on() -> None:
    told, _, _ = await run(Desk({1: [ControlRequest("stop"), ControlRequest("pause"), ControlRequest("resume")]}))
    assert told == ["stop"]


async def test_trouble_with_the_control_files_ends_the_crawl() -> None:
    runner = Runner()
    with pytest.raises(RunError, match="no space left"):
        await run(Desk(broken=3), runner)
    assert runner.told == ["cancelled"]


async def test_a_failure_of_the_crawl_is_raised_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RunError, match="disk full"):
        await run(Desk(), Runner(fails=True))
    (error,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert error.getMessage() == "crawl ended by a failure, outcomes: none"
    assert not error.exc_info  # the error is raised, and printed where it is caught
    assert error.__dict__["error"] == "disk full"


async def test_cancelled() -> None:
    runner = Runner()
    task = asyncio.create_task(run(Desk(), runner))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runner.told == ["cancelled"]


async def test_how_it_goes() -> None:
    frontier = MemoryFrontier()
    made = steward(Runner(), Desk(), frontier)
    for number in range(4):
        made.observe(Outcome(Url(f"http://here.example/{number}"), "visited", 0.0, "", status=200, size_bytes=5))
    live = made.live()
    assert (live.pages, live.bytes, live.hosts, live.in_flight, live.to_fetch) == (4, 20, 1, 3, 17)
    assert live.pace == "running"
    assert live.memory is not None
    assert [process.role for process in live.memory.processes] == ["crawler"]
    assert live.memory.processes[0].holdings == (Holding("leased_urls", 3),)


async def test_what_the_crawl_wants_the_user_to_know_is_said_once() -> None:
    runner = Runner()
    runner.notices.append("vm2 gave no sign for too long")
    _, said, _ = await run(Desk({3: [ControlRequest("stop")]}), runner)
    assert said[0] == "vm2 gave no sign for too long"
    assert len(said) == 2


class WaitingCalls:
    """Calls that the store does not answer before the end of the crawl."""

    why_away = "the database server does not answer"
    away = "the database server does not answer, for 3 s"

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []

    def run(self, call: Callable[[], Any], then: Callable[[Any], object] = lambda _: None) -> None:
        self.waiting.append(lambda: then(call()))

    async def finish(self) -> None:
        waiting, self.waiting = self.waiting, []
        for step in waiting:
            step()


async def test_while_the_store_is_away_requests_are_kept_and_the_status_says_so() -> None:
    runner, calls = Runner(), WaitingCalls()
    url = Url("http://here.example/new")
    forgotten = Url("http://a.example/")
    control = Desk(
        {
            1: [ControlRequest("submit", urls=(url,)), ControlRequest("forget", urls=(forgotten,))],
            2: [ControlRequest("unlearn", lessons=("1",))],
            4: [ControlRequest("stop")],
        }
    )
    frontier, ticks, said = MemoryFrontier(), list[LiveStatus](), list[str]()
    await steward(runner, control, frontier, calls=calls).run(None, said.append, ticks.append)
    assert [live.store_away for live in ticks] == [calls.away] * 4
    assert {live.to_fetch for live in ticks} == {0}
    assert sum("does not answer" in line for line in said) == 1
    assert control.done == 4
    assert frontier.record(url) is not None
    # no request to the host, although the store does not know of it before the end, when it answers
    assert runner.told == ["leave a.example", "stop", "wake", "remove_from_index a.example", "unlearn 1"]
