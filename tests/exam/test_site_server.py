"""What the web takes for a request, records of it, and answers."""

import asyncio
import sys
import time
from collections.abc import Sequence

import pytest

from exam.scripted import ScriptClock
from goodbot.clock import SystemClock
from goodbot.exam import site_server as exam_web
from goodbot.exam.exam_values import ExamRequest, ExamSite, Observed, page, pages, robots
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.listener import HEAD_LIMIT_BYTES, unread_s
from goodbot.exam.site_server import ExamWeb
from goodbot.testing import FakeClock

PLAIN = ExamSite("plain", "A test.", "none", pages(robots(""), "/a", "/caf%c3%a9", "/x?y=%2f"), ())


async def _said(*heads: bytes) -> tuple[list[bytes], Sequence[ExamRequest]]:
    """What each is answered, on connections that are all opened before, and what is recorded. What is held back waits
    until all have come."""
    clock = ScriptClock()
    async with ExamWeb([PLAIN], clock) as web:
        port = int(web.origin(PLAIN).rpartition(":")[2])
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in heads]
        with clock.held_until(lambda: len(web.requests["plain"]) == len(heads)):
            for (_, writer), head in zip(clients, heads, strict=True):
                writer.write(head.replace(b"PORT", str(port).encode()))
                writer.write_eof()
            answers = [await reader.read() for reader, _ in clients]
        for _, writer in clients:
            writer.close()
        return answers, web.seen(PLAIN).requests


@pytest.mark.parametrize(
    ("head", "status", "method", "target"),
    [
        (b"GET /a HTTP/1.1\r\n\r\n", 200, "GET", "/a"),
        (b"\r\nGET /a HTTP/1.0\r\n\r\n", 200, "GET", "/a"),
        (b"GET /a b HTTP/1.1\r\n\r\n", 400, "GET", "/a b"),
        (b"GET /a HTTP/2.0\r\n\r\n", 400, "GET", "/a"),
        (b"GET /a\r\n\r\n", 400, "GET", "/a"),
        (b"GET\r\n\r\n", 400, "GET", ""),
        (b"GET /a HTTP/1.1\r\nX: " + bytes(HEAD_LIMIT_BYTES) + b"\r\n\r\n", 431, "GET", "/a"),
        (b"GET /" + b"a" * HEAD_LIMIT_BYTES * 3, 431, "GET", "/" + "a" * (HEAD_LIMIT_BYTES - 5)),
        (b"GET /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, "GET", "/a"),
        (b"GET /a HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", 400, "GET", "/a"),
        (b"POST /a HTTP/1.1\r\nContent-Length: 2000000\r\n\r\nabc", 413, "POST", "/a"),
        (b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 200, "POST", "/a"),
        (b"GET http://127.0.0.1:PORT/a HTTP/1.1\r\n\r\n", 200, "GET", "/a"),
        (b"GET http://plain.exam.test/a?b HTTP/1.1\r\n\r\n", 200, "GET", "/a?b"),
        (b"GET https://plain.exam.test/a HTTP/1.1\r\n\r\n", 404, "GET", "https://plain.exam.test/a"),
        (b"GET http://elsewhere.example/a HTTP/1.1\r\n\r\n", 404, "GET", "http://elsewhere.example/a"),
        (b"GET /caf%c3%A9 HTTP/1.1\r\n\r\n", 200, "GET", "/caf%c3%A9"),
        (b"GET /x?y=%2F HTTP/1.1\r\n\r\n", 200, "GET", "/x?y=%2F"),
    ],
)
async def test_every_request_is_answered_and_recorded(head: bytes, status: int, method: str, target: str) -> None:
    [answer], [asked] = await _said(head)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert (asked.method, asked.target, asked.status) == (method, target, status)


async def test_what_was_read_of_a_bad_request_is_kept() -> None:
    _, [asked] = await _said(b"GET /a b HTTP/1.1\r\nUser-Agent: x\r\n\r\n")
    assert asked.header("user-agent") == "x"


async def test_who_asks_for_all_at_once_did_not_wait_for_robots_txt() -> None:
    heads = [f"GET {target} HTTP/1.1\r\n\r\n".encode() for target in ("/robots.txt", "/", "/a", "/caf%C3%A9")]
    _, requests = await _said(*heads)
    assert not RobotsFirst().judge(Observed(tuple(requests))).passed


async def test_who_connects_for_a_page_before_robots_txt_is_there_did_not_wait() -> None:
    clock = ScriptClock()
    async with ExamWeb([PLAIN], clock) as web:
        port = int(web.origin(PLAIN).rpartition(":")[2])
        clients = []
        with clock.held_until(lambda: len(web.requests["plain"]) == 2):
            for target in ("/robots.txt", "/"):
                clients.append(await asyncio.open_connection("127.0.0.1", port))
                clients[-1][1].write(f"GET {target} HTTP/1.1\r\n\r\n".encode())
            for reader, writer in clients:
                await reader.readuntil(b"\r\n\r\n")
                writer.close()
        assert not RobotsFirst().judge(web.seen(PLAIN)).passed


async def test_who_asks_for_a_page_as_soon_as_robots_txt_is_there_waited() -> None:
    async with ExamWeb([PLAIN], SystemClock()) as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(web.origin(PLAIN).rpartition(":")[2]))
        for target in ("/robots.txt", "/"):
            writer.write(f"GET {target} HTTP/1.1\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert RobotsFirst().judge(web.seen(PLAIN)).passed


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say")
async def test_how_late_a_request_was_read_is_known() -> None:
    async with ExamWeb([PLAIN], SystemClock(), unread_s=unread_s) as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(web.origin(PLAIN).rpartition(":")[2]))
        writer.write(b"GET /a HTTP/1.1\r\n\r\n")
        time.sleep(0.3)  # noqa: ASYNC251  (nobody reads)
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        [asked] = web.seen(PLAIN).requests
    assert asked.unread_s > 0.2
    assert asked.came_at == asked.at - asked.unread_s


async def test_what_is_kept_of_requests_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exam_web, "MOST_RECORDED_BYTES", 150_000)
    fields = "User-Agent: " + "u" * 2000 + "\r\nFrom: me@example.org\r\n" + "".join(f"X{n}: y\r\n" for n in range(500))
    head = f"GET /{'t' * 3000} HTTP/1.1\r\n{fields}\r\n".encode()
    async with ExamWeb([PLAIN], FakeClock()) as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(web.origin(PLAIN).rpartition(":")[2]))
        for _ in range(3):
            writer.write(head)
            await reader.readuntil(b"such page.")
        writer.close()
        first, *rest = web.seen(PLAIN).requests
    assert (len(first.target), len(first.headers)) == (3001, 502)
    for asked in rest:
        assert (asked.status, len(asked.target)) == (404, 1000)
        assert asked.headers == (("User-Agent", "u" * 1000), ("From", "me@example.org"))


def test_who_cannot_be_served_is_told_what_would_help() -> None:
    site = ExamSite("s", "T.", "s", {}, (), needs=frozenset({"names"}))
    said = ["the command must contain {proxy}", "do that"]
    webs = [ExamWeb([site], FakeClock()), ExamWeb([site], FakeClock(), names_hint="do that")]
    assert [web.skipped for web in webs] == [{"s": f"needs names: {hint}"} for hint in said]


def test_pages_are_found_whatever_the_case_of_escapes() -> None:
    site = ExamSite("s", "T.", "s", {"/%d0": page(title="One")}, ())
    origin = exam_web.Origin(site, "", site.pages, "s.exam.test")
    assert origin.route("/%D0") == origin.route("/%d0?x") == page(title="One")
