"""Tests the limit for bytes of long answers in memory, over real HTTP: which transfers wait, and what waiting costs."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.exclusion import RobotsTxt
from goodbot.robot.fetch.body_budget import FREE_BYTES, BodyBudget
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response
from webserver import Exchange, WebServer, answer, closing

MB = 1024 * 1024
LONG = answer(b"x" * (3 * MB))
SHORT = answer(b"x" * (FREE_BYTES // 2))


@asynccontextmanager
async def transport(bodies: BodyBudget, **settings: Any) -> AsyncIterator[CurlTransport]:
    given, clock = replace(Settings(), **settings), SystemClock()
    guard = AddressGuard([ip_network("127.0.0.0/8")])
    made = CurlTransport(given, guard, "test/1", None, clock, resolver=NameResolver(given, clock), bodies=bodies)
    try:
        yield made
    finally:
        await made.close()


def request(url: str) -> Request:
    return Request(Url(url), RobotsTxt.parse(b"").verdict(url, "test"))


def size(capture: Capture) -> int:
    assert isinstance(capture.result, Response), capture.result
    assert capture.result.truncated is None
    return len(capture.result.body)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.005)


async def turns() -> None:
    """Returns when all that was put off to a later turn of the event loop has had its turn."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_many_long_answers_come_one_after_another_if_there_is_no_room() -> None:
    bodies = BodyBudget(4 * MB)
    most = 0

    async def fetch(curl: CurlTransport, url: str) -> int:
        nonlocal most
        capture = await curl.send(request(url))
        most = max(most, bodies.bytes)
        await asyncio.sleep(0)
        return size(capture)

    async with WebServer({}, fallback=LONG) as server, transport(bodies) as curl:
        sizes = await asyncio.gather(*(fetch(curl, server.url(f"/{number}")) for number in range(12)))
    assert sizes == [3 * MB] * 12
    gc.collect()
    await until(lambda: not bodies.bytes)
    assert 3 * MB <= most <= 4 * MB + 3 * MB
    assert (bodies.bytes, len(bodies._shares), len(bodies._paused)) == (0, 0, 0)


async def test_answers_that_wait_to_be_read_keep_even_the_oldest_transfer_waiting() -> None:
    bodies = BodyBudget(4 * MB)
    reading = asyncio.Lock()
    most = waiting = read = 0

    async def fetch(curl: CurlTransport, url: str) -> int:
        nonlocal most, waiting, read
        capture = await curl.send(request(url))
        waiting += 1
        async with reading:
            await turns()  # the next transfer goes on now if it may
            await until(lambda: waiting + len(bodies._paused) + read == 12)
            most = max(most, bodies.bytes)
            waiting, read = waiting - 1, read + 1
        return size(capture)

    async with WebServer({}, fallback=LONG) as server, transport(bodies) as curl:
        sizes = await asyncio.gather(*(fetch(curl, server.url(f"/{number}")) for number in range(12)))
    assert sizes == [3 * MB] * 12
    assert 3 * MB <= most <= 4 * MB + 3 * MB


async def test_nobody_waits_for_ever_for_an_answer_that_is_kept() -> None:
    bodies = BodyBudget(MB, release_timeout_s=0.01)
    async with WebServer({}, fallback=LONG) as server, transport(bodies) as curl:
        kept = await asyncio.gather(*(curl.send(request(server.url(f"/{number}"))) for number in range(4)))
    assert [size(capture) for capture in kept] == [3 * MB] * 4
    assert bodies._wait_s >= 4 * 0.01  # each time it is longer, as long as nothing is released
    del kept
    await until(lambda: bodies._wait_s == 0.01)


async def test_the_weight_of_an_answer_stays_as_long_as_it_is_in_use() -> None:
    bodies = BodyBudget(MB, release_timeout_s=0.01)
    async with WebServer({}, fallback=LONG) as server, transport(bodies) as curl:
        first = await curl.send(request(server.url("/1")))
        assert bodies.bytes == 3 * MB
        assert size(await curl.send(request(server.url("/2")))) == 3 * MB
        await until(lambda: bodies.bytes == 3 * MB)
        assert size(first) == 3 * MB
        del first
        await until(lambda: bodies.bytes == 0)


async def test_waiting_costs_no_answer_its_time_and_short_answers_do_not_wait() -> None:
    goes_on = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await exchange.send(LONG[: 2 * MB])
        await goes_on.wait()
        await exchange.send(LONG[2 * MB :])

    async def silent_until_then(exchange: Exchange) -> None:
        await goes_on.wait()

    bodies = BodyBudget(MB)
    routes: dict[str, bytes | Callable[[Exchange], Awaitable[None]]] = {
        "/slow": slow,
        "/long": LONG,
        "/short": SHORT,
        "/silent": silent_until_then,
    }
    async with (
        WebServer(routes) as server,
        transport(bodies) as patient,
        transport(bodies, timeout=1.0, idle_timeout=1.0) as hasty,
    ):
        first = asyncio.create_task(patient.send(request(server.url("/slow"))))
        await until(lambda: bodies.bytes > MB)
        second = asyncio.create_task(hasty.send(request(server.url("/long"))))
        await until(lambda: len(bodies._paused) == 1)
        assert size(await hasty.send(request(server.url("/short")))) == FREE_BYTES // 2
        silent = await hasty.send(request(server.url("/silent")))  # begun later, out of time now
        assert isinstance(silent.result, Failure)
        assert silent.result.kind == "timeout"
        assert not second.done()
        goes_on.set()
        assert size(await first) == 3 * MB
        assert not second.done()
        del first
        assert size(await second) == 3 * MB
        del second
        assert size(await hasty.send(request(server.url("/long")))) == 3 * MB


async def test_an_answer_that_was_paused_is_cut_at_its_limit_all_the_same() -> None:
    bodies = BodyBudget(MB, release_timeout_s=0.01)
    async with WebServer({}, fallback=LONG) as server, transport(bodies, body_limit=2 * MB) as curl:
        captures = await asyncio.gather(*(curl.send(request(server.url(f"/{number}"))) for number in range(5)))
    for capture in captures:
        assert isinstance(capture.result, Response)
        assert (len(capture.result.body), capture.result.truncated) == (2 * MB, "length")


@pytest.mark.parametrize("paused", [0, 1])
async def test_one_that_is_cancelled_holds_nobody_back(paused: int) -> None:
    goes_on = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await exchange.send(LONG[: 2 * MB])
        await goes_on.wait()
        await exchange.send(LONG[2 * MB :])

    bodies = BodyBudget(MB, release_timeout_s=0.01)
    async with WebServer({}, fallback=slow) as server, transport(bodies) as curl:
        tasks = [asyncio.create_task(curl.send(request(server.url(f"/{number}")))) for number in range(3)]
        await until(lambda: len(bodies._paused) == 2)
        gone = next(task for task, weight in zip(tasks, [0, 1, 2], strict=True) if weight == paused)
        gone.cancel()
        goes_on.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [size(capture) for capture in done if isinstance(capture, Capture)] == [3 * MB, 3 * MB]


async def test_one_of_medium_length_comes_while_long_ones_are_held() -> None:
    bodies = BodyBudget(4 * MB)
    routes = {"/medium": answer(b"x" * (600 * 1024))}
    async with WebServer(routes, fallback=LONG) as server, transport(bodies) as curl:
        first = await curl.send(request(server.url("/first")))

        async def fetch(number: int) -> int:
            return size(await curl.send(request(server.url(f"/{number}"))))

        long = [asyncio.create_task(fetch(number)) for number in range(5)]
        await until(lambda: bodies.paused == 5)
        for _ in range(3):
            assert size(await curl.send(request(server.url("/medium")))) == 600 * 1024
        assert not any(task.done() for task in long)
        assert size(first) == 3 * MB
        del first
        assert await asyncio.gather(*long) == [3 * MB] * 5


async def test_those_that_wait_hold_no_room_and_go_on_in_the_order_in_which_they_came() -> None:
    bodies, goes_on = BodyBudget(8 * MB), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await exchange.send(LONG[:MB])
        await goes_on.wait()
        await exchange.send(LONG[MB:])

    async with WebServer({}, fallback=slow) as server, transport(bodies) as curl:
        ended: list[str] = []

        async def fetch(number: int) -> None:
            assert size(await curl.send(request(server.url(f"/{number}")))) == 3 * MB
            ended.append(f"/{number}")

        tasks = []
        for number in range(6):
            tasks.append(asyncio.create_task(fetch(number)))
            await until(lambda: len(bodies._shares) == len(tasks))
        assert (bodies.paused, bodies.bytes) == (4, 6 * MB)
        goes_on.set()
        await asyncio.gather(*tasks)
    assert set(ended[:2]) == {"/0", "/1"}
    assert set(ended[2:4]) == {"/2", "/3"}


async def test_a_length_that_is_not_stated_takes_room_as_it_comes() -> None:
    bodies = BodyBudget(16 * MB)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    async with WebServer({}, fallback=closing(head + b"x" * (3 * MB))) as server, transport(bodies) as curl:
        captures = await asyncio.gather(*(curl.send(request(server.url(f"/{number}"))) for number in range(2)))
        assert [size(capture) for capture in captures] == [3 * MB] * 2
        assert bodies.bytes == 6 * MB
