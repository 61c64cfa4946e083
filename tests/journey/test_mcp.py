"""`goodbot mcp` as agents use it: the client of the official SDK, over real pipes and real HTTP."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from journey.goodbot_process import goodbot, start
from webserver import Exchange, WebServer, answer

PLAIN = [("Content-Type", "text/plain")]
ROBOTS = b"User-agent: *\nDisallow: /closed\n"
ARTICLE = "<title>Clocks</title><main><h1>Clocks</h1><p>{}</main>"
SENTENCE = "A pendulum clock keeps time by the swing of a weight, and it was the best clock for 270 years. "


def page(text: str, *headers: tuple[str, str]) -> bytes:
    return answer(ARTICLE.format(text).encode(), headers=[("Content-Type", "text/html; charset=utf-8"), *headers])


def site(robots: bytes = ROBOTS) -> dict[str, Any]:
    return {
        "/robots.txt": answer(robots, headers=PLAIN),
        "/": page(SENTENCE * 3),
        "/huge": page("".join(f"<p>{number} {SENTENCE}" for number in range(20_000))),
        "/no-ai": page(SENTENCE, ("Content-Signal", "ai-input=no")),
        "/moved": answer(b"", 302, [("Location", "/x/../%63losed?q")]),
        "/metadata": answer(b"", 302, [("Location", "http://169.254.169.254/latest/")]),
    }


def command(*arguments: str | Path) -> StdioServerParameters:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "HOME": "/dev/null"}
    words = ["-W", "error", "-m", "goodbot", "mcp", *map(str, arguments)]
    return StdioServerParameters(command=sys.executable, args=words, env=environment)


def inside(*servers: WebServer) -> list[str]:
    return [word for server in servers for word in ("--private-host", f"127.0.0.1:{server.port}")]


@asynccontextmanager
async def over_http(*arguments: str | Path) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """A server on a free port: its URL and its process, which is interrupted at the end."""
    process = await start("mcp", "--http", "0", "--json", *arguments)
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    try:
        yield ready["url"], process
    finally:
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 0, err
    assert b"Traceback" not in err


@asynccontextmanager
async def client_of(kind: str, *arguments: str | Path) -> AsyncIterator[Client]:
    if kind == "stdio":
        async with Client(command(*arguments)) as client:
            yield client
    else:
        async with over_http(*arguments) as (url, _), Client(url, mode=kind.removeprefix("http ")) as client:
            yield client


async def call(client: Client, tool: str, **values: object) -> Any:
    result = await client.call_tool(tool, values)
    assert not result.is_error, result
    return result.structured_content


KINDS = ("stdio", "http auto", "http legacy")


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_uses_all_tools(kind: str, tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        url = server.url("/")
        crawled = await goodbot("crawl", url, "--into", tmp_path, "--allow-private")
        assert crawled.status == 0, crawled.err
        async with client_of(kind, "--in", tmp_path, *inside(server)) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["fetch", "allowed", "search", "why"]
            assert all(tool.description and tool.input_schema["type"] == "object" for tool in listed)
            result = await client.call_tool("fetch", {"url": url})
            text: Any = result.content[0]
            assert "A pendulum clock keeps time" in text.text
            assert result.structured_content["title"] == "Clocks"
            closed = await call(client, "allowed", url=server.url("/closed"))
            assert closed["verdicts"][0]["rule"] == "Disallow: /closed"
            found = await call(client, "search", query="pendulum")
            assert [hit["url"] for hit in found["hits"]] == [url]
            assert (await call(client, "why", url=url))["state"] == "visited"
        agent = server.exchanges[-1].header("User-Agent")
        assert re.fullmatch(r"Mozilla/5\.0 \(compatible; goodbot/[0-9.]+\)", agent or "")


async def test_the_settings_in_the_how_to_are_those_that_clients_need() -> None:
    text = (Path(__file__).parents[2] / "docs/how-to/agents.md").read_text()
    pipes, http = (
        json.loads(block)["mcpServers"]["goodbot"] for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    )
    assert pipes["command"] == "goodbot"
    async with Client(command(*pipes["args"][1:])) as client:
        assert len((await client.list_tools()).tools) == 3
    async with over_http() as (url, _):
        assert url.split("/")[3] == http["url"].split("/")[3]
        assert f"--http {http['url'].split('/')[2].split(':')[1]}\n" in text


async def test_what_is_refused_is_an_answer() -> None:
    async with WebServer(site()) as server, WebServer() as other:
        async with Client(command(*inside(server))) as client:
            for target in ("/closed", "/x/../closed/y", "/%63losed", "/moved"):
                closed = await call(client, "fetch", url=server.url(target))
                assert (closed["outcome"], closed["verdict"]["line"]) == ("disallowed", 2)
                assert closed["verdict"]["rule"] == "Disallow: /closed"
            no_ai = await call(client, "fetch", url=server.url("/no-ai"))
            assert (no_ai["outcome"], "content" in no_ai) == ("withheld", False)
            assert "Content-Signal" in no_ai["reason"]
            missing = await call(client, "fetch", url=server.url("/none"))
            assert (missing["outcome"], missing["status"]) == ("failed", 404)
            server.routes["/png"] = answer(b"\x89PNG", headers=[("Content-Type", "image/png")])
            image = await call(client, "fetch", url=server.url("/png"))
            assert (image["outcome"], image["reason"]) == ("failed", "goodbot does not read image/png")
            server.routes["/away"] = answer(b"", 302, [("Location", other.url("/"))])
            private = [other.url("/"), server.url("/away"), server.url("/metadata"), "http://[::1]:9/"]
            private += [f"http://{name}:{other.port}/" for name in ("localhost", "2130706433", "0x7f.1", "127.1")]
            private += [f"http://{name}:{other.port}/" for name in ("[::ffff:7f00:1]", "localhost.", "0.0.0.0")]
            for url in private:
                refused = await call(client, "fetch", url=url)
                assert refused["outcome"] == "refused", url
            assert (await call(client, "why", url=other.url("/")))["outcome"] == "refused"
        assert other.exchanges == []
        assert {"/closed", "/%63losed", "/%63losed?q"}.isdisjoint(server.targets)


async def test_a_site_without_ai_input_is_not_requested() -> None:
    async with WebServer(site(b"User-agent: *\nContent-Signal: ai-input=no\n")) as server:
        async with Client(command(*inside(server))) as client:
            assert (await call(client, "fetch", url=server.url("/")))["outcome"] == "withheld"
        assert server.targets == ["/robots.txt"]


async def test_a_redirect_to_a_site_without_ai_input_is_withheld() -> None:
    async with WebServer(site()) as server, WebServer(site(b"User-agent: *\nContent-Signal: ai-input=no\n")) as other:
        server.routes["/away"] = answer(b"", 302, [("Location", other.url("/"))])
        async with Client(command(*inside(server, other))) as client:
            got = await call(client, "fetch", url=server.url("/away"))
        assert (got["outcome"], got["final_url"], "content" in got) == ("withheld", other.url("/"), False)
        assert "robots.txt, line 2" in got["reason"]


async def test_a_public_host_needs_a_contact_and_errors_are_results() -> None:
    async with Client(command()) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["fetch", "allowed", "why"]
        for tool, values, complaint in (
            ("fetch", {"url": "https://example.org/"}, "goodbot mcp --contact"),
            ("fetch", {"url": "file:///etc/passwd"}, "not a complete http or https URL"),
            ("fetch", {"url": "http://127.0.0.1/", "as": "pdf"}, "as must be one of"),
            ("fetch", {}, "url is missing"),
            ("allowed", {"urls": ["http://127.0.0.1/"] * 50}, "at most 20 URLs"),
            ("why", {"uri": "x"}, "unknown argument 'uri'"),
        ):
            result = await client.call_tool(tool, values)
            text: Any = result.content[0]
            assert result.is_error
            assert complaint in text.text
        with pytest.raises(Exception, match="no tool 'search'"):
            await client.call_tool("search", {"query": "x"})


async def test_a_huge_page_is_read_in_parts_with_one_request() -> None:
    async with WebServer(site()) as server, Client(command(*inside(server))) as client:
        start_at, parts = 0, list[str]()
        while start_at is not None and len(parts) < 3:
            got = await call(client, "fetch", url=server.url("/huge"), start=start_at, max_chars=50_000)
            parts.append(got["content"])
            start_at = got["next_start"]
        assert all(len(part) <= 50_000 for part in parts)
        assert got["total_chars"] > 1_000_000
        assert re.search(r"\b500 A pendulum", "".join(parts))
        assert server.targets == ["/robots.txt", "/huge"]


@pytest.mark.long
async def test_a_thousand_urls_of_one_host_take_four_places() -> None:
    async with WebServer(site()) as server:
        begun, gate = asyncio.Event(), asyncio.Event()

        async def slow(exchange: Exchange) -> None:
            begun.set()
            await gate.wait()
            await exchange.send(page(SENTENCE))

        server.fallback = slow
        async with Client(command(*inside(server))) as client:
            calls = [asyncio.ensure_future(call(client, "fetch", url=server.url(f"/{n}"))) for n in range(1000)]
            done: set[asyncio.Task[Any]] = set()
            while len(done) < 996:
                done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
                done = {each for each in calls if each.done()}
            await begun.wait()
            assert {each.result()["outcome"] for each in done} == {"wait"}
            assert (await call(client, "allowed", url=server.url("/")))["verdicts"][0]["allowed"]
            gate.set()
            outcomes = [got["outcome"] for got in await asyncio.gather(*calls)]
        assert (outcomes.count("page"), outcomes.count("wait")) == (4, 996)
        assert (len(server.exchanges), server.most_busy) == (5, 1)


async def test_two_clients_share_the_pace_of_a_host() -> None:
    async with WebServer(site()) as server:
        begun, gate = asyncio.Event(), asyncio.Event()

        async def first(exchange: Exchange) -> None:
            begun.set()
            await gate.wait()
            await exchange.send(page(SENTENCE))

        server.routes["/first"] = first
        async with over_http(*inside(server)) as (url, _), Client(url) as one, Client(url, mode="legacy") as two:
            waiting = [asyncio.ensure_future(call(one, "fetch", url=server.url("/first")))]
            await begun.wait()
            waiting += [asyncio.ensure_future(call(each, "fetch", url=server.url("/"))) for each in (one, two)]
            assert (await call(two, "allowed", url=server.url("/")))["verdicts"][0]["allowed"]
            assert server.targets == ["/robots.txt", "/first"]
            gate.set()
            assert [got["outcome"] for got in await asyncio.gather(*waiting)] == ["page"] * 3
        assert (server.targets, server.most_busy) == (["/robots.txt", "/first", "/", "/"], 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_cancelled_call_frees_its_place(kind: str) -> None:
    async with WebServer(site()) as server:
        server.routes["/never"] = lambda exchange: exchange.client_left()
        async with client_of(kind, *inside(server)) as client:
            for count in range(6):
                calling = asyncio.ensure_future(call(client, "fetch", url=server.url("/never")))
                await server.received(2 + count)
                calling.cancel()
                await asyncio.gather(calling, return_exceptions=True)
            assert (await call(client, "fetch", url=server.url("/")))["outcome"] == "page"


async def test_a_client_that_disconnects_during_a_call_harms_nobody() -> None:
    async with WebServer(site()) as server:
        server.routes["/never"] = lambda exchange: exchange.client_left()
        async with over_http(*inside(server)) as (url, _):
            leaving = await start_call(url, server.url("/never"))
            await server.received(2)
            leaving.close()
            async with Client(url) as client:
                assert (await call(client, "allowed", url=server.url("/")))["verdicts"][0]["allowed"]
                assert (await call(client, "fetch", url=server.url("/")))["outcome"] == "page"


async def start_call(url: str, target: str) -> asyncio.StreamWriter:
    """Sends a call over a connection of its own, in the protocol without sessions."""
    version = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "fetch", "arguments": {"url": target}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    host = url.split("/")[2]
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    head += f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n"
    head += "Mcp-Method: tools/call\r\nMcp-Name: fetch\r\n\r\n"
    _, writer = await asyncio.open_connection("127.0.0.1", int(host.split(":")[1]))
    writer.write(head.encode() + body)
    await writer.drain()
    return writer
