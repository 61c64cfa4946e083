"""A crawl with several robot processes: the same pages, each host with one of them, no death that loses anything."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest

from goodbot.partitions import partition_of, share_of_partition
from goodbot.robot.processes.worker import PROCESS_NAME
from goodbot.url import Url
from journey.goodbot_process import ended, goodbot, start
from webserver import Exchange, WebServer, answer

HOSTS = 5
PAGES = 30


async def page(exchange: Exchange) -> None:
    """Page n links to 2n+1 and 2n+2; robots.txt closes page 3."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\nDisallow: /3$\n", headers=[("Content-Type", "text/plain")]))
        return
    number = int(exchange.target.strip("/") or 0)
    links = "".join(f'<a href="/{next_}">{next_}</a>' for next_ in (2 * number + 1, 2 * number + 2) if next_ < PAGES)
    await exchange.send(answer(f"<title>page {number}</title><p>politeness {number}</p>{links}".encode()))


@pytest.fixture
async def servers() -> AsyncIterator[list[WebServer]]:
    """Some hosts, told apart by their ports."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(WebServer(fallback=page)) for _ in range(HOSTS)]


def reached() -> set[str]:
    """What can be reached without page 3 and what is behind it."""
    found, left = {0}, [0]
    while left:
        number = left.pop()
        for next_ in (2 * number + 1, 2 * number + 2):
            if next_ < PAGES and next_ != 3:
                found.add(next_)
                left.append(next_)
    return {f"/{number or ''}" for number in found}


def workers_of(pid: int) -> list[psutil.Process]:
    """Those that live."""
    return [child for child in psutil.Process(pid).children() if _is_worker(child)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        return bool(process.name() == PROCESS_NAME)
    except psutil.Error:  # it has just ended
        return False


async def until_workers(process: asyncio.subprocess.Process, count: int) -> list[psutil.Process]:
    while len(found := workers_of(process.pid)) < count:  # noqa: ASYNC110 - another process starts them
        await asyncio.sleep(0.02)
    return found


async def test_every_page_once_and_robots_txt_once_for_each_host(servers: list[WebServer], tmp_path: Path) -> None:
    seeds = [server.url("/") for server in servers]
    options = ("--allow-private", "--no-duplicates", "--workers", "3", "--json")
    crawl = await goodbot("crawl", *seeds, "--into", tmp_path, *options)
    assert (crawl.status, crawl.lines[-1]) == (
        0,
        {"event": "end", "reason": "finished", "visited": HOSTS * len(reached())},
    )
    for server in servers:
        assert sorted(server.targets) == sorted(["/robots.txt", *reached()])
        assert server.most_busy == 1
    status = (await goodbot("status", "--in", tmp_path, "--json")).json
    assert (status["finished"], status["states"]["disallowed"]) == (True, HOSTS)
    found = (await goodbot("search", "politeness", "--in", tmp_path, "--json")).json
    assert found["total"] == HOSTS * len(reached())


async def test_no_more_pages_than_asked_for(servers: list[WebServer], tmp_path: Path) -> None:
    seeds = [server.url("/") for server in servers]
    first = await goodbot(
        "crawl", *seeds, "--into", tmp_path, "--allow-private", "--workers", "2", "--max-pages", "17", "--json"
    )
    assert (first.status, first.lines[-1]) == (0, {"event": "end", "reason": "max-pages", "visited": 17})
    second = await goodbot("crawl", "--into", tmp_path, "--workers", "2", "--json")
    assert second.lines[-1]["visited"] == HOSTS * len(reached()) - 17
    for server in servers:
        assert sorted(server.targets) == sorted(["/robots.txt", *reached()])


async def test_more_workers_than_hosts(tmp_path: Path) -> None:
    async with WebServer(fallback=page) as server:
        process = await start(
            "crawl", server.url("/"), "--into", tmp_path, "--allow-private", "--workers", "8", "--delay", "0.02"
        )
        await server.received(5)
        assert workers_of(process.pid) == []
        assert (await ended(process)).status == 0


async def test_a_dead_worker_is_replaced(servers: list[WebServer], tmp_path: Path) -> None:
    seeds, go_on = [server.url("/") for server in servers], asyncio.Event()

    async def held(exchange: Exchange) -> None:
        if len(servers[0].exchanges) > 15:  # no crawl ends before its workers have died
            await go_on.wait()
        await page(exchange)

    servers[0].fallback = held
    process = await start(
        *("crawl", *seeds, "--into", str(tmp_path), "--allow-private", "--workers", "2", "--delay", "0.02", "--json")
    )
    for count in (6, 10):  # a page that three workers died of would be given up
        await servers[0].received(count)
        worker = (await until_workers(process, 2))[0]
        worker.send_signal(signal.SIGKILL)
        assert await asyncio.to_thread(psutil.wait_procs, [worker], 60) == ([worker], [])
    go_on.set()
    crawl = await ended(process)
    assert (crawl.status, crawl.lines[-1]["reason"]) == (0, "finished")
    lines = (await goodbot("export", "--in", tmp_path, "--what", "urls")).lines
    visited = {line["url"] for line in lines if line["state"] == "visited"}
    assert visited == {server.url(target) for server in servers for target in reached()}
    assert {line["state"] for line in lines} == {"visited", "disallowed"}


async def test_workers_end_with_their_owner(servers: list[WebServer], tmp_path: Path) -> None:
    process = await start(
        *("crawl", servers[0].url("/"), servers[1].url("/"), "--into", str(tmp_path), "--allow-private"),
        *("--workers", "2", "--delay", "0.2"),
    )
    await servers[0].received(3)
    workers = await until_workers(process, 2)
    process.kill()
    await ended(process)
    gone, alive = await asyncio.to_thread(psutil.wait_procs, workers, 60)
    assert (len(gone), alive) == (2, [])


async def test_ctrl_c_once_lets_the_pages_in_flight_finish(servers: list[WebServer], tmp_path: Path) -> None:
    seeds = [server.url("/") for server in servers]
    process = await start(
        *("crawl", *seeds, "--into", str(tmp_path), "--allow-private"),
        *("--workers", "2", "--delay", "0.1", "--json"),
    )
    await servers[0].received(3)
    os.kill(process.pid, signal.SIGINT)
    crawl = await ended(process)
    assert crawl.status == 130
    assert "Traceback" not in crawl.err
    assert crawl.lines[-1]["reason"] == "interrupted"
    asked = sum(target != "/robots.txt" for server in servers for target in server.targets)
    assert crawl.lines[-1]["visited"] == asked


async def test_a_budget_for_each_host(servers: list[WebServer], tmp_path: Path) -> None:
    seeds = [server.url("/") for server in servers]
    options = ("--into", tmp_path, "--allow-private", "--workers", "2", "--json")
    first = await goodbot("crawl", *seeds, *options, "--host-pages", "4")
    assert first.lines[-1] == {"event": "end", "reason": "finished", "visited": 4 * HOSTS}
    assert all(len(server.targets) == 5 for server in servers)
    more = await goodbot("crawl", *options, "--host-pages", "1000")
    assert more.lines[-1] == {"event": "end", "reason": "finished", "visited": HOSTS * (len(reached()) - 4)}


async def test_every_process_writes_to_the_log_file(servers: list[WebServer], tmp_path: Path) -> None:
    seeds = [server.url("/") for server in servers]
    options = "--into", "crawl", "--allow-private", "--workers", "2", "--log-level", "debug", "--log-json", "log.jsonl"
    end = await goodbot("crawl", *seeds, *options, folder=tmp_path)
    assert end.status == 0
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("ascii").splitlines()]
    working = {share_of_partition(partition_of(Url(server.url("/")).host_key), 2) for server in servers}
    assert len({line["process"] for line in lines}) == 1 + len(working)
    assert {line["url"] for line in lines if line.get("state") == "visited"} >= set(seeds)
    assert "crawl started: 2 workers" in end.err
