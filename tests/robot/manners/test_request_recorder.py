"""Tests how requests to hosts are added up: gaps, Retry-After, waits; in whatever order they are reported."""

import asyncio
from itertools import permutations

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.exclusion.text.decimals import MAX_NUMBER
from goodbot.live import Courtesy, HostRequest
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.manners.request_recorder import RequestRecorder, add_requests, add_up, host_request_of
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

HOST = "example.org"
NOW = 1_700_000_000.0
AGENT = "Mozilla/5.0 (compatible; Rex/1.0; +me@example.org)"
PRIVATE = Politeness(Settings(delay=0.0, response_factor=0.0))
HEAD = f"GET /a HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: {AGENT}\r\nAccept: */*\r\n\r\n".encode()


def asked(at: float, until: float, status: int | None = 200, **more: float) -> HostRequest:
    return HostRequest(HOST, at, until, status, **more)  # type: ignore[arg-type]


def done(*requests: HostRequest) -> Courtesy:
    return add_up(Courtesy(HOST), requests)


def request(text: str, delay_s: float | None = None) -> Request:
    return Request(Url(text), Verdict(True, None, None, "", "", delay_s=delay_s, url=text))


@pytest.mark.parametrize(
    ("requests", "gap_s"),
    [
        ([asked(0, 1)], None),
        ([asked(0, 1), asked(3, 4)], 2.0),
        ([asked(0, 1), asked(3, 4), asked(4.5, 9), asked(12, 13)], 0.5),
        ([asked(0, 1), asked(1, 2)], 0.0),
        ([asked(0, 5), asked(1, 2)], 0.0),
        ([asked(0, 5), asked(1, 2), asked(6, 7)], 0.0),
    ],
    ids=["one", "two", "the least", "at once", "two at a time", "and then one"],
)
def test_the_least_gap(requests: list[HostRequest], gap_s: float | None) -> None:
    assert done(*requests).least_gap_s == gap_s


def test_the_least_gap_of_requests_told_in_any_order() -> None:
    requests = [asked(0, 1), asked(3, 4), asked(9, 10)]
    for order in permutations(requests[:2]):
        assert done(*order).least_gap_s == 2.0
    counted = done(requests[2], requests[1])
    assert (counted.first_at, counted.last_at, counted.busy_until) == (3, 9, 10)


def test_a_lane_that_ends_late_is_seen_by_the_next_gap() -> None:
    counted = done(asked(0, 8), asked(1, 2))
    assert (counted.busy_from, counted.busy_until) == (0, 8)
    assert add_up(counted, [asked(9, 10)])._replace(least_gap_s=None).last_at == 9


@pytest.mark.parametrize(
    ("requests", "sooner", "inside", "waited_s"),
    [
        ([asked(0, 1, gap_s=5), asked(6, 7, gap_s=5)], 0, 0, 5.0),
        ([asked(0, 1, gap_s=5), asked(5, 7, gap_s=5)], 1, 0, 4.0),
        ([asked(0, 1, gap_s=5), asked(5.9995, 7, gap_s=5)], 0, 0, 4.9995),
        ([asked(0, 1), asked(100, 101)], 0, 0, 0.0),
        ([asked(0, 1, 429, not_before=11), asked(11, 12)], 0, 0, 10.0),
        ([asked(0, 1, 503, not_before=11), asked(10, 11), asked(10.5, 12)], 0, 2, 9.0),
        ([asked(0, 1, 429, not_before=11), asked(0.5, 2)], 0, 0, 0.0),
        ([asked(0, 1, 429), asked(4, 5)], 0, 0, 0.0),
        ([asked(0, 1, 429, not_before=4), asked(64, 65)], 0, 0, 3.0),
        ([asked(0, 1, 429, not_before=4), asked(64, 65, own_gap_s=1)], 0, 0, 2.0),
        ([asked(0, 1, gap_s=5, own_gap_s=1), asked(6, 7, gap_s=5, own_gap_s=1)], 0, 0, 4.0),
        ([asked(0, 1, gap_s=5, own_gap_s=6), asked(7, 8, gap_s=5, own_gap_s=6)], 0, 0, 0.0),
        ([asked(0, 3, gap_s=5, own_gap_s=1), asked(8, 9, gap_s=5, own_gap_s=1, response_factor=1)], 0, 0, 2.0),
        ([asked(0, 1, 200, not_before=4), asked(10, 11)], 0, 0, 3.0),
    ],
    ids=[
        *("delay kept", "too soon", "within the clock's error", "nothing asked", "retry-after kept"),
        *("two inside", "begun before the answer", "429 alone", "back-off after a Retry-After"),
        *("beyond the own delay", "delay beyond the own", "own delay is longer", "slow answer", "with a page"),
    ],
)
def test_what_was_asked_is_kept(requests: list[HostRequest], sooner: int, inside: int, waited_s: float) -> None:
    counted = done(*requests)
    assert (counted.sooner, counted.inside) == (sooner, inside)
    assert counted.waited_s == pytest.approx(waited_s)


def test_answers_are_counted() -> None:
    counted = done(*(asked(at, at, status) for at, status in enumerate([200, 429, 503, None, 429])))
    assert counted.requests == 5
    assert (counted.status_429, counted.status_503, counted.unanswered) == (2, 1, 1)


def test_the_longest_retry_after_stays_in_force() -> None:
    counted = done(asked(0, 1, 429, not_before=100), asked(1, 2, 429, not_before=5))
    assert (counted.held_until, counted.retry_afters, counted.longest_retry_after_s) == (100, 2, 99)


def test_what_the_host_saw_of_a_capture() -> None:
    response = Response(503, (("Retry-After", "120"),), b"")
    capture = Capture(request("http://example.org/a", 2.5), response, NOW, 0.5, request_head=HEAD)
    assert host_request_of(capture, PRIVATE) == HostRequest(HOST, NOW, NOW + 0.5, 503, False, 2.5, NOW + 120.5, AGENT)
    robots = Capture(request("http://127.0.0.1:81/robots.txt"), Failure("reset", ""), NOW, 0.0, request_head=HEAD)
    assert host_request_of(robots, PRIVATE) == HostRequest("127.0.0.1:81", NOW, NOW, None, True, None, None, AGENT)


def test_goodbots_own_delay_is_not_counted_as_waiting_for_the_host() -> None:
    requests: list[HostRequest] = []
    for number, address in enumerate(["8.8.8.8", "8.8.8.8"]):
        answer = Response(429, (("Retry-After", "3"),), b"")
        capture = Capture(request("http://example.org/"), answer, NOW + 64 * number, 0.5, peer=address)
        requests.append(host_request_of(capture, Politeness(Settings())))
    assert (requests[0].own_gap_s, requests[0].response_factor) == (1.0, 1.0)
    assert done(*requests).waited_s == 2.0  # of 63.5 s: 3 s were requested, of which 1 s is the usual delay


@pytest.mark.parametrize("value", ["", "soon", "9" * 400, "-1", "Tue, 99 Nov 2026 99:99:99 GMT"])
def test_any_retry_after(value: str) -> None:
    capture = Capture(request("http://example.org/"), Response(429, (("Retry-After", value),), b""), NOW, 0.0)
    not_before = host_request_of(capture, PRIVATE).not_before
    assert not_before is None or NOW <= not_before <= NOW + MAX_NUMBER


async def test_the_recorder_reports_what_was_sent() -> None:
    clock, seen = FakeClock(NOW), list[HostRequest]()
    web = FakeWeb({"http://example.org/a": Failure("connect", "refused")}, clock, elapsed_s=1.0)
    recorder = RequestRecorder(web, clock, seen.append, Politeness(Settings()))
    await recorder.send(request("http://example.org/"))
    await recorder.send(request("http://example.org/a"))  # no connection: the host saw nothing
    assert [(item.host, item.at, item.until, item.status) for item in seen] == [(HOST, NOW, NOW + 1, 404)]
    task = asyncio.create_task(recorder.send(request("http://example.org/robots.txt")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (seen[-1].status, seen[-1].robots_txt) == (None, True)
    await recorder.close()


def test_hosts_are_written_apart_and_added_to_what_is_known() -> None:
    store = MemoryFrontier()
    add_requests(store, [asked(3, 4), HostRequest("b.example", 0, 1), asked(0, 1)])
    add_requests(store, [asked(4.5, 5)])
    known = store.load_courtesies([HOST, "b.example", "c.example"])
    assert known.keys() == {HOST, "b.example"}
    assert (known[HOST].requests, known[HOST].least_gap_s) == (3, 0.5)
