"""After Ctrl-C or SIGTERM the server finishes open requests, and ends although clients are slow."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from web.connections import connected, received, responses

APPLICATION = """
import asyncio, time
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from goodbot.web import serve

def in_a_thread(request):
    print("asked", flush=True)
    time.sleep(0.5)
    return PlainTextResponse("whole answer")

async def in_the_loop(request):
    print("asked", flush=True)
    await asyncio.sleep(0.5)
    return PlainTextResponse("whole answer")

async def streamed(request):
    async def parts():
        for part in ("whole ", "ans", "wer"):
            yield part
            await asyncio.sleep(0.2)
    print("asked", flush=True)
    return StreamingResponse(parts())

async def huge(request):
    print("asked", flush=True)
    return PlainTextResponse("x" * 50_000_000)

async def endless(request):
    print("asked", flush=True)
    await asyncio.sleep(3600)

async def half(request):
    async def parts():
        print("asked", flush=True)
        yield "half"
        await asyncio.sleep(3600)
    return StreamingResponse(parts())

async def posted(request):
    print("asked", flush=True)
    return PlainTextResponse("whole answer to " + (await request.body()).decode())

pages = (in_a_thread, in_the_loop, streamed, huge, endless, half, posted)
routes = [Route("/" + page.__name__, page, methods=["GET", "POST"]) for page in pages]
ready, stopping = (lambda url: print(url, flush=True)), (lambda: print("stopping", flush=True))
app = Starlette(routes=routes, exception_handlers={ClientDisconnect: lambda request, error: PlainTextResponse("")})
serve(app, "127.0.0.1", 0, on_ready=ready, on_stop=stopping)
print("ended")
"""
INT, TERM = signal.SIGINT, signal.SIGTERM
ANSWERED = [
    ("in_a_thread", TERM),
    ("in_the_loop", INT),
    ("streamed", TERM),
    pytest.param("in_a_thread", INT, marks=pytest.mark.long),
    pytest.param("in_the_loop", TERM, marks=pytest.mark.long),
    pytest.param("streamed", INT, marks=pytest.mark.long),
]
CUT_OFF = [
    ("huge", INT),
    ("endless", TERM),
    pytest.param("half", TERM, marks=pytest.mark.long),
    pytest.param("huge", TERM, marks=pytest.mark.long),
    pytest.param("endless", INT, marks=pytest.mark.long),
    pytest.param("half", INT, marks=pytest.mark.long),
]


@contextlib.contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs the application, and gives its URL."""
    with subprocess.Popen(
        [sys.executable, "-c", APPLICATION], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, printed(process)
        finally:
            process.kill()


def printed(process: subprocess.Popen[str]) -> str:
    """Returns the next line that the server prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@contextlib.contextmanager
def asked(page: str) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """Runs the application, and gives a connection on which a page was asked for: its endpoint runs."""
    request = f"GET /{page} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with serving() as (process, url), connected(url, 1, request) as (client,):
        assert printed(process) == "asked"
        yield process, client


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(("page", "number"), ANSWERED)
def test_an_open_request_is_answered_completely(page: str, number: signal.Signals) -> None:
    with asked(page) as (process, client):
        process.send_signal(number)
        answer = received(client)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"whole answer" in answer or all(part in answer for part in (b"whole ", b"ans", b"wer"))
        assert answer.endswith((b"whole answer", b"0\r\n\r\n"))
        assert ended(process) == (0, "stopping\nended\n", "")


@pytest.mark.parametrize(("page", "number"), CUT_OFF)
def test_the_server_ends_without_waiting_long(page: str, number: signal.Signals) -> None:
    """The client reads nothing, or the answer takes an hour."""
    with asked(page) as (process, client):
        process.send_signal(number)
        status, out, log = ended(process)
        assert (status, out) == (0, "stopping\nended\n")
        assert "Traceback" not in log
        assert len(log.splitlines()) <= 2
        if page == "endless":
            assert received(client).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")


def post(page: str, body: bytes, length: int) -> bytes:
    return f"POST /{page} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode() + body


WHOLE = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF_A_HEAD = b"GET /in_a_thread HTTP/1.1\r\nHost: local"


def test_a_request_whose_other_half_comes_after_the_signal_is_answered() -> None:
    with (
        serving() as (process, url),
        connected(url, 1, post("posted", b"ha", 4)) as (body,),
        connected(url, 1, WHOLE + HALF_A_HEAD) as (head,),
    ):
        assert printed(process) == "asked"
        assert head.recv(12) == b"HTTP/1.1 404"
        process.send_signal(signal.SIGTERM)
        assert printed(process) == "stopping"
        body.sendall(b"lf")
        head.sendall(b"host\r\n\r\n")
        assert [(each.status, each.body) for each in responses(received(body))] == [(200, b"whole answer to half")]
        assert received(head).endswith(b"whole answer")
        status, out, log = ended(process)
    assert (status, out.split(), log) == (0, ["asked", "ended"], "")


def test_a_request_whose_other_half_does_not_come_is_answered_too() -> None:
    with (
        serving() as (process, url),
        connected(url, 1, post("posted", b"ha", 4)) as (body,),
        connected(url, 1, WHOLE + HALF_A_HEAD) as (head,),
    ):
        assert printed(process) == "asked"
        assert head.recv(12) == b"HTTP/1.1 404"
        process.send_signal(signal.SIGTERM)
        (answer,) = responses(received(body))
        assert (answer.status, answer.headers["Retry-After"], answer.headers["Connection"]) == (503, "10", "close")
        assert received(head).count(b"HTTP/1.1 503 ") == 1
        assert ended(process) == (0, "stopping\nended\n", "")


@pytest.mark.long  # other tests at the same time may take the 2 seconds
def test_no_client_holds_the_server() -> None:
    """An empty log: uvicorn did not run out of its 2 seconds. Meanwhile one client sends byte by byte."""
    begun = [
        b"",
        WHOLE,
        HALF_A_HEAD,
        post("posted", b"ha", 4),
        b"\0nonsense\r\n\r\n",
        WHOLE * 20,
        post("nowhere", b"", 99),
    ]
    with serving() as (process, url), contextlib.ExitStack() as stack:
        for first in (*begun, *begun):
            stack.enter_context(connected(url, 1, first))
        (dripping,) = stack.enter_context(connected(url, 1, HALF_A_HEAD))
        process.send_signal(signal.SIGTERM)
        while process.poll() is None:
            with contextlib.suppress(ConnectionError):
                dripping.sendall(b"x")
            time.sleep(0.02)
        status, out, log = ended(process)
    assert (status, out.split()[-1], log.replace("Invalid HTTP request received.\n", "")) == (0, "ended", "")


def test_idle_connections_are_closed_without_an_answer() -> None:
    with serving() as (process, url), connected(url, 1, WHOLE) as (client,):
        head = client.recv(65536)
        process.send_signal(signal.SIGTERM)
        assert len(responses(head + received(client))) == 1
        assert ended(process) == (0, "stopping\nended\n", "")
