"""After Ctrl-C or SIGTERM the server finishes open requests, and ends although clients are slow."""

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

APPLICATION = """
import asyncio, time
from starlette.applications import Starlette
from starlette.requests import Request
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

pages = (in_a_thread, in_the_loop, streamed, huge, endless, half)
routes = [Route("/" + page.__name__, page, methods=["GET", "POST"]) for page in pages]
serve(Starlette(routes=routes), "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True))
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
def asked(page: str) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """Runs the application, and gives a connection on which a page was asked for: its endpoint runs."""
    with subprocess.Popen(
        [sys.executable, "-c", APPLICATION], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            place = urlsplit(process.stdout.readline().strip())
            with socket.create_connection((place.hostname, place.port), timeout=60) as client:
                client.sendall(f"GET /{page} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert process.stdout.readline() == "asked\n"
                yield process, client
        finally:
            process.kill()


def received(client: socket.socket) -> bytes:
    """Reads everything until the server closes the connection."""
    answer = bytearray()
    while part := client.recv(65536):
        answer += part
    return bytes(answer)


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
        assert ended(process) == (0, "ended\n", "")


@pytest.mark.parametrize(("page", "number"), CUT_OFF)
def test_the_server_ends_without_waiting_long(page: str, number: signal.Signals) -> None:
    """The client reads nothing, or the answer takes an hour."""
    with asked(page) as (process, client):
        process.send_signal(number)
        status, out, log = ended(process)
        assert (status, out) == (0, "ended\n")
        assert "Traceback" not in log
        assert len(log.splitlines()) <= 2
        if page == "endless":
            assert received(client).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
