"""Tests that requests to a host wait for their turn and for the host's delay."""

import asyncio

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing
from goodbot.robot.manners import pace as module
from goodbot.robot.manners.pace import Pace, PacedTransport
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

PUBLIC = Url("https://example.org/")
PRIVATE = Url("http://127.0.0.1:8000/")
OK = Response(200, (), b"")


def permitted(url: Url) -> Request:
    return Request(url, Verdict(True, None, None, "it is", "RFC 9309 2.2.2", url=url.text))


def web(
    clock: FakeClock, answer: Response | Failure = OK, *, elapsed_s: float = 0.5, peer: str | None = None
) -> FakeWeb:
    return FakeWeb({url.text: answer for url in (PUBLIC, PRIVATE)}, clock, elapsed_s=elapsed_s, peer=peer)


async def ask(pace: Pace, server: FakeWeb, url: Url = PUBLIC, timing: Timing | None = None) -> Capture:
    timing = timing or Timing()
    async with pace.turn(url) as turn:
        await turn.wait_until_ready(timing)
        capture = await server.send(permitted(url))
        turn.answered(capture, timing)
    return capture


def gaps(server: FakeWeb) -> list[float]:
    """From the end of each answer to the next request."""
    return [
        round(after - before - server._elapsed_s, 6)
        for before, after in zip(server.times, server.times[1:], strict=False)
    ]


@pytest.mark.parametrize(
    ("url", "timing", "expected"),
    [
        (PUBLIC, Timing(), 1.0),
        (PUBLIC, Timing(delay_s=10.0), 10.0),
        (PUBLIC, Timing(rates=(RequestRate(1, 7.0, None),)), 7.0),
        (PRIVATE, Timing(), 0.0),
        (PRIVATE, Timing(delay_s=3.0), 3.0),
    ],
)
@pytest.mark.parametrize("per_host", [1, 4])
async def test_a_hundred_tasks_keep_the_gap_of_one_host(
    url: Url, timing: Timing, expected: float, per_host: int
) -> None:
    clock = FakeClock()
    server = web(clock)
    pace = Pace(Settings(per_host=per_host), clock)
    await asyncio.gather(*(ask(pace, server, url, timing) for _ in range(100)))
    assert len(server.requests) == 100
    if expected or per_host == 1:
        assert server.most_in_flight == 1
        assert set(gaps(server)) == {expected}
    else:
        assert server.most_in_flight == per_host


async def test_turns_are_given_in_the_order_asked_for() -> None:
    clock = FakeClock()
    server, pace = web(clock), Pace(Settings(), clock)
    order: list[int] = []

    async def one(number: int) -> None:
        await ask(pace, server)
        order.append(number)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert order == list(range(20))


async def test_hosts_do_not_wait_for_each_other() -> None:
    clock = FakeClock()
    server, pace = web(clock, elapsed_s=5.0), Pace(Settings(), clock)
    await asyncio.gather(*(ask(pace, server, Url(f"https://h{number}.example/")) for number in range(50)))
    assert server.most_in_flight == 50
    assert len(set(server.times)) == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Response(429, (), b""), 6.0),
        (Response(503, (("Retry-After", "120"),), b""), 120.0),
        (Response(429, (("Retry-After", "2"),), b""), 6.0),
        (Failure("timeout", "no answer"), 6.0),
        (Response(404, (), b""), 1.0),
    ],
)
async def test_the_trouble_of_a_host_makes_everyone_wait(answer: Response | Failure, expected: float) -> None:
    clock = FakeClock()
    server, pace = web(clock, answer), Pace(Settings(), clock)
    await asyncio.gather(*(ask(pace, server) for _ in range(2)))
    assert gaps(server) == [expected]


async def test_trouble_ends_the_turns_of_several_at_a_time() -> None:
    clock = FakeClock()
    server, pace = web(clock), Pace(Settings(per_host=4), clock)
    await asyncio.gather(*(ask(pace, server, PRIVATE) for _ in range(9)))
    assert server.most_in_flight == 4
    server = web(clock, Response(503, (("Retry-After", "30"),), b""))
    await asyncio.gather(*(ask(pace, server, PRIVATE) for _ in range(10)))
    later = [at for at in server.times if at > server.times[0]]
    assert server.times[0] + 30.0 <= later[0]
    assert len(set(later)) == len(later)


async def test_a_turn_waits_for_visit_time() -> None:
    clock = FakeClock(1_700_000_000.0)  # 22:13:20 UTC
    server, pace = web(clock), Pace(Settings(), clock)
    await ask(pace, server, timing=Timing(windows=((360, 1200),)))
    assert server.times == [1_700_028_000.0]  # 6:00


async def test_hosts_of_one_address_take_turns() -> None:
    clock = FakeClock()
    server, pace = web(clock, elapsed_s=0.0, peer="93.184.216.34"), Pace(Settings(delay=0), clock)
    urls = [Url(f"https://h{number}.example/") for number in range(3)]
    for url in urls:  # the first answers tell where they are
        await ask(pace, server, url)
    server.times.clear()
    clock.advance(100)
    await asyncio.gather(*(ask(pace, server, url) for url in urls))
    assert all(gap >= 0.25 for gap in gaps(server))


@pytest.mark.parametrize("moment", ["waiting", "given", "resting", "asking"])
async def test_who_is_cancelled_holds_nobody_up(moment: str) -> None:
    clock = FakeClock()
    server, pace = web(clock), Pace(Settings(), clock)
    if moment == "resting":
        await ask(pace, server)
    first = asyncio.create_task(ask(pace, server))
    await asyncio.sleep(0)
    second = asyncio.create_task(ask(pace, server))
    await asyncio.sleep(0)
    if moment == "waiting":
        second.cancel()
    elif moment == "given":
        await asyncio.wait((first,))
        second.cancel()
    else:
        first.cancel()
    done = await asyncio.wait_for(asyncio.gather(first, second, ask(pace, server), return_exceptions=True), 60)
    assert sum(isinstance(result, asyncio.CancelledError) for result in done) == 1
    assert isinstance(done[2], Capture)
    assert all(gap >= (0.5 if moment == "asking" else 1.0) for gap in gaps(server))


async def test_who_is_cancelled_while_the_turn_comes_to_him_lets_it_pass() -> None:
    clock = FakeClock()
    server, pace = web(clock, elapsed_s=0.0), Pace(Settings(), clock)
    async with pace.turn(PUBLIC):
        tasks = [asyncio.create_task(ask(pace, server)) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
    assert [type(result) for result in done] == [asyncio.CancelledError, Capture, Capture]


async def test_a_request_that_is_cancelled_counts_as_asked() -> None:
    clock = FakeClock()
    pace = Pace(Settings(), clock)
    async with pace.turn(PUBLIC) as turn:
        await turn.wait_until_ready(Timing(delay_s=5.0))
    async with pace.turn(PUBLIC) as turn:
        assert turn.ready_at(Timing(delay_s=5.0)) == clock.now() + 5.0
        assert turn.ready_at() == clock.now() + 5.0


async def test_what_is_kept_of_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HOSTS", 80)
    clock = FakeClock()
    server, pace = web(clock, elapsed_s=0.0), Pace(Settings(), clock)
    await ask(pace, server, timing=Timing(delay_s=1e6))
    clock.advance(0.5)
    async with pace.turn(PRIVATE):
        for number in range(1000):
            await ask(pace, server, Url(f"https://h{number}.example/"))
        assert len(pace._hosts) <= 80
        assert {PRIVATE.host_key, PUBLIC.host_key} <= pace._hosts.keys()


async def test_a_paced_transport_takes_a_turn_for_every_request() -> None:
    clock = FakeClock()
    server, pace = web(clock), Pace(Settings(), clock)
    transport = PacedTransport(server, pace)
    await asyncio.gather(*(transport.send(permitted(PUBLIC)) for _ in range(3)), ask(pace, server))
    assert gaps(server) == [1.0, 1.0, 1.0]
    await transport.close()
