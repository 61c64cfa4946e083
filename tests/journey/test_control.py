"""A crawl seen and told from outside: other processes, real requests."""

import asyncio
import hashlib
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from goodbot.live import HOLDINGS
from journey.goodbot_process import ended, goodbot, start
from journey.test_workers import workers_of
from webserver import Exchange, WebServer, answer

NO_ROBOTS = answer(b"", 404)


async def endless(exchange: Exchange) -> None:
    """Every page leads to two more; there is no end to them."""
    if exchange.target == "/robots.txt":
        await exchange.send(NO_ROBOTS)
        return
    await asyncio.sleep(0.01)
    number = int(exchange.target.strip("/") or 0)
    await exchange.send(answer(f'<a href="/{2 * number + 1}">a</a><a href="/{2 * number + 2}">b</a>'.encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the crawl is kept."""
    return tmp_path / "crawl"


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(fallback=endless) as server:
        yield server


async def live(folder: Path) -> dict[str, Any]:
    """What the running crawl says of itself."""
    value = (await goodbot("status", "--in", folder, "--json")).json["live"]
    assert isinstance(value, dict)
    return value


async def begun(server: WebServer, folder: Path, *options: str) -> asyncio.subprocess.Process:
    """A crawl that has fetched some pages."""
    process = await start("crawl", server.url("/"), "--into", folder, "--allow-private", *options)
    await server.received(len(server.exchanges) + 5)
    return process


async def at_rest(folder: Path) -> None:
    """Returns when no page is in flight."""
    async with asyncio.timeout(60):
        while (await live(folder))["in_flight"] != 0:
            pass


@pytest.mark.parametrize("workers", [1, 2])
async def test_pause_resume_submit_stop(folder: Path, workers: int) -> None:
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(WebServer(fallback=endless)) for _ in range(2)]
        seeds = [server.url("/") for server in servers]
        process = await start("crawl", *seeds, "--into", folder, "--allow-private", "--workers", str(workers))
        for server in servers:
            await server.received(5)

        paused = await goodbot("pause", "--in", folder)
        assert (paused.status, paused.err) == (0, "")
        assert paused.out.startswith("paused: ")
        await at_rest(folder)
        counts = [len(server.exchanges) for server in servers]
        again = await goodbot("pause", "--in", folder)
        assert again.out.startswith("paused: ")
        text = (await goodbot("status", "--in", folder)).out
        assert ", paused now (process" in text
        new = servers[0].url("/777777")
        submitted = await goodbot("submit", new, "http://127.0.0.9:1/", "--in", folder)
        assert submitted.status == 1
        assert f"submitted     {new}\n" in submitted.out
        assert "out of scope  http://127.0.0.9:1/: " in submitted.out
        assert [len(server.exchanges) for server in servers] == counts
        now = await live(folder)
        assert now["workers"] == workers
        processes = now["memory"]["processes"]
        assert [item["role"] for item in processes] == (
            ["crawler"] if workers == 1 else ["coordinator", "worker", "worker"]
        )
        assert all(item["pss_bytes"] is None or item["pss_bytes"] <= item["rss_bytes"] for item in processes)
        assert {name for item in processes for name in item["holdings"]} <= HOLDINGS.keys()
        assert ("  memory: " in text) == (now["memory"]["bytes"] is not None)

        resumed = await goodbot("resume", "--in", folder)
        assert (resumed.status, resumed.out.startswith("running: ")) == (0, True)
        for server, count in zip(servers, counts, strict=True):
            await server.received(count + 5)
        async with asyncio.timeout(60):
            while "/777777" not in servers[0].targets:
                await servers[0].received(len(servers[0].exchanges) + 1)

        stopped = await goodbot("stop", "--in", folder)
        assert (stopped.status, stopped.out, stopped.err) == (0, "stopped\n", "")
        result = await ended(process)
    assert result.status == 130
    assert "interrupted: " in result.out
    for said in ("pausing on request", "resuming on request", "stopping on request"):
        assert said in result.err
    status = (await goodbot("status", "--in", folder, "--json")).json
    assert (status["states"]["leased"], status["running"], status["live"]) == (0, False, None)


async def test_a_pause_that_the_workers_have_not_heard_of_is_none_yet(folder: Path) -> None:
    go_on = asyncio.Event()

    async def late(exchange: Exchange) -> None:
        await go_on.wait()
        await exchange.send(answer(b"home") if exchange.target == "/" else NO_ROBOTS)

    async with WebServer(fallback=late) as one, WebServer(fallback=late) as two:
        seeds = one.url("/"), two.url("/")
        process = await start("crawl", *seeds, "--into", folder, "--allow-private", "--workers", "2")
        for server in (one, two):
            await server.received(1)
        workers = workers_of(process.pid)
        for worker in workers:
            worker.suspend()
        try:
            assert (await goodbot("pause", "--in", folder)).out.startswith("paused: 2 in flight, to finish first;")
        finally:
            for worker in workers:
                worker.resume()
        go_on.set()
        await at_rest(folder)
        assert (await goodbot("pause", "--in", folder)).out.startswith("paused: nothing is in flight;")
        assert (await goodbot("stop", "--in", folder)).out == "stopped\n"
        assert (await ended(process)).status == 130
        assert one.targets == two.targets == ["/robots.txt"]


async def test_stop_ends_a_paused_crawl(server: WebServer, folder: Path) -> None:
    process = await begun(server, folder, "--json")
    await goodbot("pause", "--in", folder)
    assert (await goodbot("stop", "--in", folder)).out == "stopped\n"
    result = await ended(process)
    assert result.status == 130
    assert result.lines[-1]["reason"] == "interrupted"


async def test_status_of_a_crawl_that_runs_and_of_one_killed(server: WebServer, folder: Path) -> None:
    server.routes["/2"] = answer(b"", 404)
    process = await begun(server, folder)
    async with asyncio.timeout(60):
        while not (seen := await live(folder))["errors"]:
            await server.received(len(server.exchanges) + 1)
    assert seen["pid"] == process.pid
    assert seen["pace"] == "running"
    assert seen["errors"] == {"404": 1}
    assert isinstance(seen["rate"], float)
    text = (await goodbot("status", "--in", folder)).out
    assert f"(process {process.pid})" in text
    assert "errors: 1 × 404" in text
    process.kill()
    await ended(process)
    assert (folder / "live.json").exists()
    killed = await goodbot("status", "--in", folder, "--json")
    assert (killed.json["running"], killed.json["live"]) == (False, None)
    assert "not running" in (await goodbot("status", "--in", folder)).out


async def test_what_lies_in_the_control_folder_does_no_harm(server: WebServer, folder: Path) -> None:
    process = await begun(server, folder)
    control = folder / "control"
    (control / "1.request").write_bytes(b"\x00" * 100)
    (control / "2.request").mkdir()
    (control / "3.request").symlink_to("/etc/passwd")
    (control / "4.request").write_text(json.dumps({"request": "submit", "urls": ["file:///etc/passwd"]}))
    (folder / "live.json").write_text("[" * 100_000)
    assert (await goodbot("stop", "--in", folder)).out == "stopped\n"
    result = await ended(process)
    assert (result.status, "Traceback" in result.err) == (130, False)
    assert result.err.count("is not a control request") == 4


async def test_told_to_rest_when_it_rests(server: WebServer, folder: Path) -> None:
    await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--max-pages", "3")
    for order in ("pause", "resume", "stop"):
        result = await goodbot(order, "--in", folder)
        assert (result.status, result.err) == (0, "")
        assert "no crawl is running" in result.out
    on = await goodbot("crawl", "--into", folder, "--max-pages", "2", "--json")
    assert on.lines[-1] == {"event": "end", "reason": "max-pages", "visited": 2}


async def test_submit_to_a_crawl_at_rest(folder: Path) -> None:
    async with WebServer({"/": answer(b"home"), "/new": answer(b"new"), "/robots.txt": NO_ROBOTS}) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        new = server.url("/new")
        for said in (f"submitted     {new}\n", f"known         {new} (ready)\n"):
            result = await goodbot("submit", new, "--in", folder)
            assert (result.status, result.out, result.err) == (0, said, "")
        known = await goodbot("submit", server.url("/"), "--in", folder)
        assert (known.status, known.out) == (0, f"known         {server.url('/')} (visited)\n")
        assert "/new" not in server.targets
        assert (await goodbot("crawl", "--into", folder)).status == 0
        assert server.targets.count("/new") == 1
        assert server.targets.count("/") == 1


async def test_bad_submissions_submit_nothing(folder: Path) -> None:
    async with WebServer({"/": answer(b"home"), "/robots.txt": NO_ROBOTS}) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--scope", "all")
        for bad, word in (
            ("ftp://example.org/", "http or https"),
            ("example.org", "https://example.org"),
            ("", "not a URL"),
            ("https://example.org/", "--contact"),
        ):
            result = await goodbot("submit", server.url("/x"), bad, "--in", folder)
            assert (result.status, result.out) == (2, "")
            assert word in result.complaint
        why = await goodbot("why", server.url("/x"), "--in", folder, "--json")
        assert why.json["state"] == "unknown"
        private = await goodbot("submit", "http://10.0.0.1/", "--in", folder)
        assert private.status == 1
        assert "private address" in private.out


@pytest.mark.parametrize("order", [["pause"], ["resume"], ["stop"], ["submit", "http://127.0.0.1:9/"]])
async def test_no_crawl_there(tmp_path: Path, order: list[str]) -> None:
    for place, word in ((tmp_path, "no crawl in"), (tmp_path / "missing", "no such folder")):
        result = await goodbot(*order, "--in", place)
        assert (result.status, result.out) == (2, "")
        assert word in result.complaint


# ---- a dry run ------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, str]:
    """Every file with its digest; SQLite's shared memory is no content."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith("-shm"))
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


async def test_a_dry_run_of_a_new_crawl(server: WebServer, folder: Path) -> None:
    options = ("--into", folder, "--allow-private", "--dry-run")
    made = (await goodbot("crawl", server.url("/"), *options, "--json")).json
    assert made["pages"] == 1
    (host,) = made["hosts"]
    assert (host["urls"], host["gap_s"], host["robots_txt"]) == ([server.url("/")], 0, "not known yet")
    text = await goodbot("crawl", server.url("/"), *options, "--delay", "3")
    assert (text.status, text.err) == (0, "")
    assert "3 s between requests" in text.out
    assert "robots.txt is not known yet" in text.out
    assert server.exchanges == []
    assert not folder.exists()


async def test_a_dry_run_of_a_crawl_begun(folder: Path) -> None:
    links = "".join(f'<a href="/{number}">x</a>' for number in range(1, 20)) + '<a href="/private">p</a>'
    robots = answer(b"User-agent: *\nCrawl-delay: 0.1\nDisallow: /2\n", headers=[("Content-Type", "text/plain")])
    async with WebServer({"/": answer(links.encode()), "/robots.txt": robots}, fallback=answer(b"x")) as server:
        seed = server.url("/")
        await goodbot("crawl", seed, "--into", folder, "--allow-private", "--max-pages", "1")
        asked, before = len(server.exchanges), contents(folder)
        made = (await goodbot("crawl", server.url("/new"), "--into", folder, "--dry-run", "--json")).json
        text = (await goodbot("crawl", "--into", folder, "--dry-run", "--delay", "60")).out
        assert (len(server.exchanges), contents(folder)) == (asked, before)
        (host,) = made["hosts"]
        assert (made["pages"], host["ready"], host["gap_s"], host["robots_txt"]) == (21, 21, 0.1, "known")
        first = (*host["urls"], *host["disallowed"])
        assert len(first) == 5
        assert server.url("/new") in first
        assert host["disallowed"] in ([], [server.url("/2")])
        assert made["least_s"] == pytest.approx(2.0, abs=0.2)
        assert "60 s between requests" in text
        assert "20 known pages would take 19 min" in text
        await goodbot("crawl", "--into", folder)
        order = [target for target in server.targets[asked:] if target != "/robots.txt"]
    assert [server.url(target) for target in order[: len(host["urls"]) - 1]] == [
        url for url in host["urls"] if url != server.url("/new")
    ]


async def test_a_dry_run_beside_a_running_crawl(server: WebServer, folder: Path) -> None:
    process = await begun(server, folder)
    result = await goodbot("crawl", "--into", folder, "--dry-run")
    assert result.status == 3
    assert "another crawl" in result.complaint
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).status == 130


async def test_a_dry_run_of_bad_input(folder: Path) -> None:
    for arguments, word in (
        (["http://127.0.0.1:9/"], "--allow-private"),
        (["https://example.org/"], "--contact"),
        ([], "no seed"),
    ):
        result = await goodbot("crawl", *arguments, "--into", folder, "--dry-run")
        assert (result.status, result.out) == (2, "")
        assert word in result.complaint
    assert not folder.exists()


# ---- by the web -----------------------------------------------------------------------------------------------------


async def asked(address: tuple[str, int], request: str) -> str:
    """The answer to a request written by hand."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(request.encode())
    text = (await reader.read()).decode()
    writer.close()
    return text


async def test_a_crawl_is_stopped_by_its_page(server: WebServer, folder: Path) -> None:
    crawl = await begun(server, folder)
    assert (folder / "token").stat().st_mode & 0o777 == 0o600
    token = (folder / "token").read_text().strip()
    process = await start("serve", "--in", folder, "--port", "0")
    assert process.stderr is not None
    await process.stderr.readline()
    link = (await process.stderr.readline()).decode()
    assert link.endswith(f"/crawl?token={token}\n")
    host, _, port = link.split("/")[2].partition(":")
    head = f"Host: {host}:{port}\r\nConnection: close\r\n"
    assert (await asked((host, int(port)), f"GET /crawl HTTP/1.1\r\n{head}\r\n")).startswith("HTTP/1.1 403")
    entered = await asked((host, int(port)), f"GET /crawl?token={token} HTTP/1.1\r\n{head}\r\n")
    cookie = f"Cookie: {entered.lower().partition('set-cookie: ')[2].partition('=')[0]}={token}\r\n"
    page = await asked((host, int(port)), f"GET /crawl HTTP/1.1\r\n{head}{cookie}\r\n")
    assert "The crawl is running" in page
    assert "goodbot_running 1.0" in await asked((host, int(port)), f"GET /metrics HTTP/1.1\r\n{head}\r\n")
    form = urlencode({"token": token})
    length = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n"
    answered = "HTTP/1.1 503"
    async with asyncio.timeout(60):
        while answered.startswith("HTTP/1.1 503"):  # the crawl has not answered within 4 s, and may be told again
            answered = await asked((host, int(port)), f"POST /crawl/stop HTTP/1.1\r\n{head}{length}\r\n{form}")
    assert answered.startswith("HTTP/1.1 303")
    assert (await ended(crawl)).status == 130
    page = await asked((host, int(port)), f"GET /crawl HTTP/1.1\r\n{head}{cookie}\r\n")
    assert "The crawl is not running" in page
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).status == 0
