"""Slow, silent, many and vanished clients: the server still answers others, and its log stays short."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, MutableMapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from goodbot.web import Site, create_app, running
from goodbot.web.server.connections import ConnectionLimit
from goodbot.web.server.log_throttle import LINES_PER_MINUTE
from web.connections import connected
from web.library import SPECIMENS, Library, Visitor

TESTS = str(Path(__file__).parents[1])
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-"
HALF_A_BODY = b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nrobots="
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

SERVE = f"""
import resource, sys
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (200, most))
sys.path.insert(0, {TESTS!r})
from goodbot.web import Site, create_app, serve
from web.library import Library
serve(create_app(Library([]), Site("Sample")), "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True))
"""


def heard(connection: socket.socket) -> bytes:
    """Reads everything until the server closes the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            received += part
    return bytes(received)


def said(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        connection.sendall(data)


@contextlib.contextmanager
def process() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs `serve` in a process that may open 200 files."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        try:
            yield started, started.stdout.readline().strip()
        finally:
            started.kill()


def ended(started: subprocess.Popen[str]) -> tuple[int, str]:
    """Sends Ctrl-C; returns the exit status and the log."""
    started.send_signal(signal.SIGINT)
    _, log = started.communicate(timeout=60)
    return started.returncode, log


@pytest.mark.long
def test_more_half_sent_heads_than_files_block_no_other_client() -> None:
    first = time.time() // 60
    with process() as (started, url), contextlib.ExitStack() as stack:
        for _ in range(3):
            for connection in stack.enter_context(connected(url, 100)):
                said(connection, HALF_A_HEAD)
        assert Visitor(url).ask("/healthz").status == 200
        status, log = ended(started)
    assert status == 0
    minutes = time.time() // 60 - first + 1
    assert len(log.splitlines()) <= LINES_PER_MINUTE * minutes


@pytest.mark.long
def test_ctrl_c_with_clients_that_hang_and_a_post_that_was_broken_off() -> None:
    with process() as (started, url), connected(url, 4) as (head, body, kept, gone):
        said(head, HALF_A_HEAD)
        said(body, HALF_A_BODY)
        said(kept, WHOLE)
        assert kept.recv(15) == b"HTTP/1.1 200 OK"
        said(gone, HALF_A_BODY)
        gone.close()
        assert Visitor(url).ask("/healthz").status == 200
        assert ended(started) == (0, "")


@pytest.mark.parametrize("begun", [b"", HALF_A_HEAD, HALF_A_BODY, WHOLE + HALF_A_HEAD], ids=str)
def test_half_a_request_times_out(begun: bytes, caplog: pytest.LogCaptureFixture) -> None:
    limit = ConnectionLimit(20, head_timeout_s=0.2, body_timeout_s=0.2)
    with running(create_app(Library(SPECIMENS), Site("Sample")), limit=limit) as url, connected(url) as (connection,):
        said(connection, begun)
        assert heard(connection).count(b"HTTP/1.1 408 Request Timeout\r\n") == 1
    assert caplog.records == []


@pytest.mark.parametrize("begun", [HALF_A_HEAD, HALF_A_BODY], ids=str)
def test_single_bytes_do_not_extend_the_timeout(begun: bytes) -> None:
    limit = ConnectionLimit(20, head_timeout_s=0.3, body_timeout_s=0.3)
    with running(create_app(Library(SPECIMENS), Site("Sample")), limit=limit) as url, connected(url) as (connection,):
        said(connection, begun)
        connection.settimeout(0.05)
        answered = b""
        while not answered:  # would never end if each byte restarted the timer
            said(connection, b"x")
            with contextlib.suppress(TimeoutError):
                answered = connection.recv(12)
        assert answered == b"HTTP/1.1 408"


def test_the_oldest_waiting_connection_is_closed_for_a_new_one() -> None:
    with (
        running(create_app(Library(SPECIMENS), Site("Sample")), limit=ConnectionLimit(4, last_timeout_s=0.2)) as url,
        connected(url, 10) as connections,
    ):
        for connection in connections:
            said(connection, HALF_A_HEAD)
        assert Visitor(url).ask("/healthz").status == 200
        assert heard(connections[0]).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")


def test_a_new_client_gets_503_while_all_connections_are_being_answered() -> None:
    asked, go_on = Event(), Event()

    def wait(request: Request) -> Response:
        asked.set()
        go_on.wait()
        return PlainTextResponse("late")

    app = Starlette(routes=[Route("/healthz", wait)])
    with running(app, limit=ConnectionLimit(1)) as url, connected(url, 1) as (first,):
        try:
            said(first, WHOLE)
            asked.wait()
            with connected(url) as (second,):
                said(second, WHOLE)
                refusal = heard(second)
                assert refusal.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
                assert b"\r\nretry-after: 10\r\n" in refusal.lower()
        finally:
            go_on.set()
        assert first.recv(15) == b"HTTP/1.1 200 OK"


def test_a_client_that_does_not_read_times_out() -> None:
    dropped = Event()

    async def long() -> AsyncIterator[bytes]:
        for _ in range(1000):  # more than the sockets of both sides hold
            yield b"x" * 65536
        dropped.set()  # each further part is thrown away once the connection has ended

    app = Starlette(routes=[Route("/healthz", lambda request: StreamingResponse(long()))])
    with running(app, limit=ConnectionLimit(20, read_timeout_s=0.2)) as url, connected(url) as (connection,):
        said(connection, WHOLE)
        dropped.wait()


def test_the_log_is_limited_however_many_bad_requests_come() -> None:
    with process() as (started, url):
        for _ in range(5 * LINES_PER_MINUTE):
            with connected(url) as (connection,):
                said(connection, b"\0 nonsense\r\n\r\n")
                assert b"400" in heard(connection)
        status, log = ended(started)
    assert status == 0
    assert 1 <= log.count("\n") <= 3 * LINES_PER_MINUTE  # a test may see three minutes begin


async def test_a_file_is_not_checked_for_a_visitor_who_has_left() -> None:
    """The page's script cancels its request when the visitor types the next letter."""
    body = b"robots=User-agent%3A+*"
    messages: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": body, "more_body": False},
        {"type": "http.disconnect"},
    ]
    received = iter(messages)
    statuses = list[int]()

    async def receive() -> MutableMapping[str, Any]:
        return next(received)

    async def send(message: MutableMapping[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    scope = {"type": "http", "method": "POST", "path": "/check/report", "query_string": b"", "headers": []}
    await create_app(Library([]), Site("Sample"))(scope, receive, send)
    assert statuses == [400]
