"""How many calls wait for hosts, and how long."""

import asyncio

import pytest

from goodbot.agents.call_limits import Busy, CallLimits, TimedOut
from goodbot.testing import FakeClock
from goodbot.url import Url

A, B, C = Url("https://a.example/"), Url("https://b.example/"), Url("https://c.example/")


def limits_of(ready_at: float = 0.0, **options: float) -> tuple[CallLimits, FakeClock]:
    clock = FakeClock(1000.0)
    return CallLimits(clock, lambda url: ready_at, **options), clock  # type: ignore[arg-type]


async def test_a_call_beyond_the_places_of_its_host_is_answered_at_once() -> None:
    limits, _ = limits_of(per_host=2, in_all=3)
    gate = asyncio.Event()

    async def request() -> str:
        await gate.wait()
        return "page"

    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(limits.run(url, request)) for url in (A, A, B)]
        await asyncio.sleep(0)
        assert limits.waiting == 3
        assert await limits.run(A, request) == Busy("2 calls are already waiting for a.example", 1)
        assert await limits.run(C, request) == Busy("3 calls are already waiting for hosts", 1)
        gate.set()
    assert [task.result() for task in waiting] == ["page"] * 3
    assert limits.waiting == 0
    assert await limits.run(A, request) == "page"


async def test_a_cancelled_call_and_one_that_fails_free_their_places() -> None:
    limits, _ = limits_of(per_host=1)

    async def fails() -> str:
        raise ValueError

    for _ in range(3):
        task = asyncio.ensure_future(limits.run(A, asyncio.Event().wait))
        await asyncio.sleep(0)
        assert limits.waiting == 1
        task.cancel()
        failed = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(failed, asyncio.CancelledError)
        assert limits.waiting == 0
        found = (await asyncio.gather(limits.run(A, fails), return_exceptions=True))[0]
        assert isinstance(found, ValueError)


async def test_a_call_that_would_wait_too_long_makes_no_request() -> None:
    limits, _ = limits_of(ready_at=1031.5, wait_most_s=30)
    asked = []

    async def request() -> None:
        asked.append(1)

    assert await limits.run(A, request) == Busy("a.example may be requested again in 32 s", 32)
    assert asked == []


async def test_a_call_ends_when_its_time_is_over() -> None:
    limits, _ = limits_of(call_most_s=0.01)
    reason = "there was no complete response within 0.01 s"
    assert await limits.run(A, asyncio.Event().wait) == TimedOut(reason)
    assert limits.waiting == 0
    found = await asyncio.gather(*(limits.run(A, asyncio.Event().wait) for _ in range(2)))
    assert found == [TimedOut(reason), Busy(f"{reason}, after calls that came first", 1)]


async def test_a_timeout_of_the_request_itself_is_not_taken_for_the_end_of_the_call() -> None:
    limits, _ = limits_of()

    async def times_out() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await limits.run(A, times_out)


async def test_a_host_that_wants_a_long_delay() -> None:
    limits, _ = limits_of()
    assert limits.until(A, 1012.2) == Busy("a.example may not be requested before 1970-01-01 00:16:52 UTC", 13)
