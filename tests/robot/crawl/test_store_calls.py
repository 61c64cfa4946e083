"""Calls on a store in a thread of its own: their order, a server that is away, errors, and the end."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from goodbot.errors import RunError, StoreAwayError
from goodbot.robot.crawl.store_calls import DirectCalls, StoreThread

Start = Callable[[], StoreThread]


class Away:
    """A call that fails so many times because the server is away, then returns the number of the attempt."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.attempts = 0
        self.failed = threading.Event()

    def __call__(self) -> int:
        self.attempts += 1
        if self.attempts <= self.left:
            self.failed.set()
            raise StoreAwayError("the database server does not answer")
        return self.attempts


@pytest.fixture
async def errors() -> list[BaseException]:
    return []


@pytest.fixture
async def calls(errors: list[BaseException]) -> AsyncIterator[StoreThread]:
    thread = StoreThread(errors.append, first_wait_s=0.01).start()
    yield thread
    thread.close()


async def test_calls_run_in_their_order_in_one_thread_and_what_follows_in_the_loop(calls: StoreThread) -> None:
    ran: list[int] = []
    names: list[str] = []

    def call(number: int) -> str:
        ran.append(number)
        return threading.current_thread().name

    for number in range(50):
        calls.run(partial(call, number), names.append)
    await calls.finish()
    assert (ran, names) == (list(range(50)), ["store"] * 50)


async def test_what_follows_may_run_the_next_call(calls: StoreThread) -> None:
    seen: list[int] = []

    def follow(value: int) -> None:
        seen.append(value)
        if value < 3:
            calls.run(lambda: value + 1, follow)

    calls.run(lambda: 0, follow)
    while len(seen) < 4:
        await calls.finish()
    assert seen == [0, 1, 2, 3]


async def test_a_call_is_repeated_while_the_server_is_away(
    calls: StoreThread, errors: list[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    away, answers = Away(4), list[int]()
    calls.run(away, answers.append)
    calls.run(lambda: 0, answers.append)
    await calls.finish()
    assert (answers, errors, calls.away) == ([5, 0], [], "")
    assert caplog.text.count("does not answer") == 1  # not at every attempt


async def test_meanwhile_it_says_since_when_and_the_loop_goes_on(calls: StoreThread) -> None:
    failed, release = threading.Event(), threading.Event()

    def call() -> None:
        if not release.is_set():
            if calls.away:
                failed.set()
            raise StoreAwayError("the database server does not answer")

    calls.run(call)
    assert await asyncio.to_thread(failed.wait, 10)
    assert calls.away.startswith("the database server does not answer, for 0 s")
    release.set()
    await calls.finish()
    assert calls.away == ""


async def test_another_error_is_reported_once_and_ends_the_calls(
    calls: StoreThread, errors: list[BaseException]
) -> None:
    def fail() -> None:
        raise RunError("no such table")

    ran: list[int] = []
    calls.run(fail)
    calls.run(lambda: 1, ran.append)
    await asyncio.wait_for(calls.finish(), 10)
    await asyncio.wait_for(calls.finish(), 10)
    assert [str(error) for error in errors] == ["no such table"]
    assert ran == []


async def test_an_error_of_what_follows_is_reported_too(calls: StoreThread, errors: list[BaseException]) -> None:
    calls.run(lambda: 1, lambda one: one / 0)
    while not errors:
        await calls.finish()
    assert isinstance(errors[0], ZeroDivisionError)


async def test_closing_gives_up_a_call_that_waits_for_the_server(errors: list[BaseException]) -> None:
    away = Away(1_000_000)
    calls = StoreThread(errors.append, first_wait_s=30.0).start()
    calls.run(away)
    assert await asyncio.to_thread(away.failed.wait, 10)
    calls.close()
    await asyncio.wait_for(calls.finish(), 10)
    assert [type(error) for error in errors] == [StoreAwayError]


async def test_direct_calls_run_at_once_and_raise_to_the_caller() -> None:
    calls, seen = DirectCalls(), list[int]()
    calls.run(lambda: 1, seen.append)
    assert (seen, calls.away) == ([1], "")
    with pytest.raises(RunError, match="no such table"):
        calls.run(Raises(RunError("no such table")))
    await calls.finish()


class Raises:
    """A call that fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self) -> None:
        raise self.error
