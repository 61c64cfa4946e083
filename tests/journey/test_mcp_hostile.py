"""`goodbot mcp` and what should not happen: torn input, clients that leave, requests of Web pages, bad options."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from journey.goodbot_process import ended, goodbot, start
from journey.test_mcp import over_http
from webserver import WebServer, answer

VERSION = "2025-06-18"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
TORN = (
    b"\n{\n}\r\n[1, 2\n\xff\xfe\x00\n" + b"[" * 100_000 + b"\n",
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "fetch", "arguments": 5}}\n',
    b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call"}\n{"jsonrpc": "2.0", "id": {}, "method": "x"}\n',
    b'{"jsonrpc": "2.0", "id": 9, "method": "no/such", "params": {}}\n{"jsonrpc": "1.0", "id": 1}\nnull\n5\n',
    b'"' + b"x" * 3_000_000 + b'"\n',
    b'{"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "\\ud800", "arguments": {}}}\n',
    b'{"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": {"name": "fetch", "arguments": {"x": 1e400}}}\n',
)


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


async def test_torn_input_is_passed_over_and_the_session_goes_on() -> None:
    process = await start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(INITIALIZE, INITIALIZED) + b"".join(TORN) + lines(LIST))
    answers: dict[object, Any] = {}
    while 2 not in answers:
        message = json.loads(await process.stdout.readline())
        answers[message.get("id")] = message
    assert [tool["name"] for tool in answers[2]["result"]["tools"]] == ["fetch", "allowed", "why"]
    got = await ended(process, b'{"torn')
    answers |= {message.get("id"): message for message in got.lines}
    assert answers[9]["error"]["code"] == -32601
    assert answers[11]["result"]["isError"] is True
    assert (got.status, "Traceback" in got.err) == (0, False)


@pytest.mark.parametrize("stdin", [b"", b"\n", b"garbage", b"GET / HTTP/1.1\r\n\r\n"])
async def test_input_that_ends_ends_the_command(stdin: bytes) -> None:
    got = await goodbot("mcp", "--contact", "me@example.org", stdin=stdin)
    assert (got.status, got.out, got.err) == (0, "", "")


async def test_a_client_that_does_not_read_its_answers_any_more() -> None:
    process = await start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(INITIALIZE, INITIALIZED))
    assert json.loads(await process.stdout.readline())["id"] == 1
    process.stdout._transport.close()  # type: ignore[attr-defined]  # what a client that is killed leaves
    process.stdin.write(lines(LIST) * 50)
    process.stdin.close()
    assert await process.wait() == 0
    assert process.stderr is not None
    assert b"Traceback" not in await process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signals_are_the_normal_end(number: signal.Signals) -> None:
    process = await start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(INITIALIZE))
    assert json.loads(await process.stdout.readline())["result"]["serverInfo"]["name"] == "goodbot"
    process.send_signal(number)
    assert await process.wait() == 0
    assert process.stderr is not None
    assert b"Traceback" not in await process.stderr.read()


async def test_a_signal_during_a_call_ends_it() -> None:
    async with WebServer() as server:
        server.routes["/robots.txt"] = lambda exchange: exchange.client_left()
        process = await start("mcp", "--private-host", f"127.0.0.1:{server.port}")
        assert process.stdin is not None
        fetch = {"name": "fetch", "arguments": {"url": server.url("/")}}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": fetch}
        process.stdin.write(lines(INITIALIZE, INITIALIZED, call))
        await server.received(1)
        process.send_signal(signal.SIGINT)
        got = await ended(process)
        assert (got.status, "Traceback" in got.err) == (0, False)


# ---- HTTP -----------------------------------------------------------------------------------------------------------


async def status_of(url: str, head: str = "", body: bytes = b"", method: str = "POST", host: str = "") -> int:
    """The status of the answer to one request."""
    authority = url.split("/")[2]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(authority.split(":")[1]))
    text = f"{method} /mcp HTTP/1.1\r\nHost: {host or authority}\r\nContent-Length: {len(body)}\r\n{head}\r\n"
    writer.write(text.encode("latin-1") + body)
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


JSON = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"


async def test_requests_of_other_sites_are_refused() -> None:
    body = lines(INITIALIZE)
    async with over_http() as (url, _):
        port = url.split(":")[2].split("/")[0]
        assert await status_of(url, JSON, body) == 200
        for origin in (f"http://127.0.0.1:{port}", "http://localhost:3000", f"http://[::1]:{port}"):
            assert await status_of(url, f"{JSON}Origin: {origin}\r\n", body) == 200
        others = ["https://evil.example", "null", "http://localhost.evil.example:80", "http://127.0.0.1.evil:1"]
        for origin in (*others, f"http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:x", "http://[::1]:1:2"):
            assert await status_of(url, f"{JSON}Origin: {origin}\r\n", body) == 403
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example:80", "127.0.0.2", "\x1b[2J"):
            assert await status_of(url, JSON, body, host=host) in (400, 421)
        assert await status_of(url, JSON, body, host=f"127.0.0.1:{port}.evil.example") in (400, 403)
        assert await status_of(url, "", body) == 400
        assert await status_of(url, JSON, b"{" * 1000) == 400
        assert await status_of(url, JSON, b"x" * 300_000) == 413
        assert await status_of(url, JSON, body, method="PUT") == 405
        assert await status_of(url, f"{JSON}Mcp-Session-Id: none\r\n", lines(LIST)) == 404


async def test_there_are_at_most_a_hundred_sessions() -> None:
    async with over_http() as (url, _):
        found = [await status_of(url, JSON, lines(INITIALIZE)) for _ in range(102)]
        assert found == [200] * 100 + [503] * 2


async def test_a_proxy_with_a_public_url() -> None:
    body = lines(INITIALIZE)
    async with over_http("--public-url", "https://tools.example/mcp") as (url, _):
        assert await status_of(url, f"{JSON}Origin: https://tools.example\r\n", body, host="tools.example") == 200
        assert await status_of(url, f"{JSON}Origin: https://other.example\r\n", body, host="tools.example") == 403


# ---- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["--in", "missing"], 2, "missing"),
        (["--private-host", "http://wiki/"], 2, "not a host such as"),
        (["--private-host", "*"], 2, "not a host such as"),
        (["--contact", "nobody"], 2, "--contact must be a mail address"),
        (["--agent", "My Bot"], 2, "--agent must be a product token"),
        (["--listen", "127.0.0.1"], 2, "--listen needs --http PORT"),
        (["--public-url", "https://a.example/"], 2, "--public-url needs --http PORT"),
        (["--json"], 2, "--json needs --http PORT"),
        (["--http", "70000"], 2, "with --http"),
        (["--http", "0", "--listen", "0.0.0.0"], 2, "needs --public-url"),
        (["--http", "0", "--public-url", "x"], 2, "--public-url must be an http or https URL"),
        (["--http", "0", "--listen", "203.0.113.7"], 3, "choose another with --listen"),
    ],
)
async def test_options_that_cannot_be_used(arguments: list[str], status: int, complaint: str, tmp_path: Path) -> None:
    got = await goodbot("mcp", *arguments, folder=tmp_path)
    assert (got.status, got.out) == (status, "")
    assert complaint in got.err.splitlines()[-1]
    assert "Traceback" not in got.err


async def test_a_port_in_use(tmp_path: Path) -> None:
    async with WebServer({"/": answer(b"")}) as server:
        got = await goodbot("mcp", "--contact", "me@example.org", "--http", str(server.port), folder=tmp_path)
    assert (got.status, got.complaint) == (
        3,
        f"goodbot: port {server.port} is in use on 127.0.0.1: choose another with --http",
    )


async def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError('mcp_types', name='mcp_types')")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    process = await start("mcp", folder=tmp_path, settings={"PYTHONPATH": path}, preloaded=False)
    got = await ended(process)
    assert (got.status, got.complaint) == (2, "goodbot: goodbot mcp needs the package mcp: pip install '.[mcp]'")
