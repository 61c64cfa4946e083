"""The scheduler for Scrapy in real crawls of a site on loopback: killed, stopped, resumed, and on bad folders."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

import pytest
from scrapy import Request, Spider
from scrapy.http import Response

from goodbot.integrations.scrapy.host_delays import host_of_request
from goodbot.integrations.scrapy.request_coding import RequestCoder
from goodbot.integrations.scrapy.scheduler import COMMIT_REQUESTS
from goodbot.store.requests.request_store import NewRequest, RequestStore
from goodbot.store.sqlite.frontier import SqliteFrontier
from integrations.scrapy_runs import SCHEDULER, SOURCE, crawl
from webserver import Exchange, Route, WebServer, answer

AT_ONCE = 16
"""Scrapy's CONCURRENT_REQUESTS."""


def page(*links: str) -> bytes:
    return answer("".join(f'<html><body><a href="{link}">page</a>' for link in links).encode())


def tree(pages: int) -> dict[str, Route]:
    """Each page links to two new ones, back to an old one and to another; some need more than a URL to be stored."""

    def path_of(number: int) -> str:
        kind = {3: "again/", 4: "item/", 5: "crash/" if number * 2 > pages else ""}.get(number % 11, "")
        return f"/{kind}{number}"

    return {
        path_of(number): page(
            *(path_of(to) for to in (2 * number + 1, 2 * number + 2) if to < pages), path_of(number // 3)
        )
        for number in range(pages)
    }


def has_answered(server: WebServer, requests: int) -> bool:
    return len(server.targets) >= requests


async def killed_crawl(folder: Path, pages: int, kills: int, random: Random) -> None:
    """Kills a crawl several times, then completes it: all pages were read, few of them again."""
    site = tree(pages)
    async with WebServer(site) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(folder)}
        read: Counter[str] = Counter()
        for _ in range(kills):
            kill_when = partial(has_answered, server, len(server.targets) + random.randint(1, pages // kills))
            ran = await crawl([server.url("/0")], settings, kill_when=kill_when)
            read.update(ran.read)
        last = await crawl([server.url("/0")], settings)
        assert last.stats["finish_reason"] == "finished"
        assert last.logged("Resuming crawl")
        read.update(last.read)
    assert {"/" + path for path in read} == site.keys()
    without_filter = sum(path.startswith("again/") for path in read)
    assert without_filter > pages // 20
    repeated = sum(times - 1 for path, times in read.items() if not path.startswith("again/"))
    assert repeated <= (kills + 1) * (COMMIT_REQUESTS + AT_ONCE)


async def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    await killed_crawl(tmp_path / "crawl", 150, 2, Random(1))


@pytest.mark.long
async def test_ten_kills_lose_nothing(tmp_path: Path) -> None:
    await killed_crawl(tmp_path / "crawl", 1500, 10, Random(2))


@pytest.mark.long
async def test_a_stopped_crawl_repeats_nothing(tmp_path: Path) -> None:
    """Ctrl-C: what is in progress is finished, what waits is made by the next run; then there is nothing left."""
    site = tree(120)
    async with WebServer(site) as server:
        settings = {**SCHEDULER, "JOBDIR": str(tmp_path / "job")}
        start = [server.url("/0")]
        first = await crawl(start, settings, kill_when=lambda: len(server.targets) >= 20, signal_number=signal.SIGINT)
        assert first.stats["finish_reason"] == "shutdown"
        assert 0 < len(first.read) < len(site)
        second = await crawl(start, settings)
        assert second.logged("0 of them were in progress")
        twice = set(first.read) & set(second.read)
        assert all(
            path == "0" or path.startswith("again/") for path in twice
        )  # these are not filtered by Scrapy either
        assert {"/" + path for path in first.read + second.read} == site.keys()
        before = len(server.targets)
        third = await crawl(start, settings)
        assert third.logged("This crawl is complete")
        assert (third.read, len(server.targets) - before) == ([], 0)


@pytest.mark.long
async def test_what_cannot_be_stored_is_made_in_this_run(tmp_path: Path) -> None:
    site = {
        "/": page("/unstorable/1", "/unstorable/2", "/x"),
        **dict.fromkeys(("/unstorable/1", "/unstorable/2"), page()),
    }
    async with WebServer({**site, "/x": page()}) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path / "crawl")}
        ran = await crawl([server.url("/")], settings)
    assert sorted(ran.read) == ["", "unstorable/1", "unstorable/2", "x"]
    assert (ran.stats["scheduler/unserializable"], ran.stats["scheduler/enqueued/disk"]) == (2, 2)
    assert ran.stats["scheduler/dequeued/memory"] == 2
    assert len(ran.logged("and a kill would lose it")) == 1


@pytest.mark.long
async def test_what_could_not_be_stored_is_counted_after_a_kill(tmp_path: Path) -> None:
    waits = asyncio.Event()

    async def never(exchange: Exchange) -> None:
        waits.set()
        await exchange.client_left()

    async with WebServer({"/": page("/unstorable/1"), "/unstorable/1": never}) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path / "crawl")}
        stored = tmp_path / "crawl" / "requests.sqlite"
        await crawl([server.url("/")], settings, kill_when=lambda: waits.is_set() and has_unstored(stored))
        ran = await crawl([server.url("/")], settings)
    assert ran.logged("lost 1 request that the last run could not store and did not finish; start requests")


def has_unstored(path: Path) -> bool:
    """Whether a request without data is committed there."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return bool(connection.execute("SELECT count(*) FROM requests WHERE data IS NULL").fetchone()[0])


@pytest.mark.long
async def test_a_callback_that_fails_is_done(tmp_path: Path) -> None:
    async with WebServer({"/": page("/crash/1", "/missing"), "/crash/1": page("/never")}) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path / "crawl")}
        ran = await crawl([server.url("/")], settings)
        assert ran.stats["spider_exceptions/count"] == 1
        assert [line.split()[0] for line in ran.lines if "/missing" in line] == ["failed"]
        before = len(server.targets)
        await crawl([server.url("/")], settings)
        assert len(server.targets) == before


@pytest.mark.long
async def test_a_callback_that_the_spider_no_longer_has(tmp_path: Path) -> None:
    """The request is neither made nor lost: a spider that has the callback again makes it."""
    path = tmp_path / "crawl" / "requests.sqlite"
    async with WebServer({"/": page(), "/x": page()}) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(path.parent)}
        await crawl([server.url("/")], settings)
        coder = RequestCoder(Renamed(), private=False)
        with closing(RequestStore.open(path, "follower")) as store:
            request = Request(server.url("/x"), Renamed().parse_old)
            store.add(NewRequest(host_of_request(request), coder.encode(request)))
        for _ in range(2):
            ran = await crawl([server.url("/")], settings)
            assert (ran.stats["scheduler/unreadable"], ran.stats["finish_reason"]) == (1, "finished")
            assert "Method 'parse_old' not found" in ran.logged(" ERROR: ")[0]
        assert server.targets == ["/"]
        with closing(RequestStore.open(path, "follower")) as store:
            assert len(store) == 1


class Renamed(Spider):
    """What the spider was before."""

    name = "follower"

    def parse_old(self, response: Response) -> None:
        """The callback that is missing now."""


@pytest.mark.long
async def test_one_setting_gives_each_spider_its_folder(tmp_path: Path) -> None:
    site = {"/": page("/x"), "/x": page()}
    async with WebServer(site) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path / "crawls" / "%(name)s")}
        for spider in ("news", "../shop"):
            ran = await crawl([server.url("/")], settings, spider=spider)
            assert ran.read == ["", "x"]
    assert sorted(path.name for path in tmp_path.glob("*/*")) == ["_._shop", "news"]
    assert [path.name for path in tmp_path.iterdir()] == ["crawls"]


# ---- bad folders ----------------------------------------------------------------------------------------------------


async def test_two_spiders_on_one_folder(tmp_path: Path) -> None:
    waits = asyncio.Event()

    async def later(exchange: Exchange) -> None:
        waits.set()
        await ended.wait()
        await exchange.send(page())

    ended = asyncio.Event()
    async with WebServer({"/": later}) as server:
        settings = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path)}
        first = asyncio.ensure_future(crawl([server.url("/")], settings))
        await waits.wait()
        second = await crawl([server.url("/")], settings)
        ended.set()
        assert (await first).stats["finish_reason"] == "finished"
        assert len(server.targets) == 1
    assert len(second.logged(" ERROR: ")) == 1
    assert second.logged(f"another crawl or command is using {tmp_path}")
    assert "Traceback" not in second.log


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "set GOODBOT_FOLDER (such as"),
        ({"GOODBOT_FOLDER": "{}/damaged"}, "is damaged"),
        ({"GOODBOT_FOLDER": "{}/damaged/requests.sqlite"}, "requests.sqlite"),
        ({"GOODBOT_FOLDER": "{}/used"}, "holds the requests of the spider 'other': give 'follower' a folder"),
        ({"GOODBOT_FOLDER": "{}/crawl"}, "crawl is the folder of a goodbot crawl: give the spider 'follower' a folder"),
        ({"JOBDIR": "{}/crawl"}, "crawl is the folder of a goodbot crawl"),
        ({"GOODBOT_FOLDER": "{}/" + 300 * "x"}, "File name too long"),
        ({"GOODBOT_FOLDER": "{}/x", "GOODBOT_WAIT_MOST": "soon"}, "GOODBOT_WAIT_MOST must be a number of seconds"),
    ],
)
async def test_folders_and_settings_that_cannot_be_used(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "requests.sqlite").write_bytes(b"not ours" * 100)
    with SqliteFrontier.open(tmp_path / "crawl" / "frontier.sqlite", create=True):
        pass
    async with WebServer({"/": page()}) as server:
        used = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path / "used")}
        if "used" in str(settings):
            await crawl([server.url("/")], used, spider="other")
        before = len(server.targets)
        placed = {name: value.format(tmp_path) for name, value in settings.items()}
        ran = await crawl([server.url("/")], {**SCHEDULER, **placed})
        assert len(server.targets) == before
    assert len(ran.logged(" ERROR: ")) == 1
    assert told in ran.logged(" ERROR: ")[0]
    assert "Traceback" not in ran.log


# ---- commands of Scrapy for single pages ----------------------------------------------------------------------------

PROJECT = """
SPIDER_MODULES = ["spiders"]
ADDONS = {"goodbot.integrations.scrapy.Addon": 500}
GOODBOT_FOLDER = "crawls/%(name)s"
GOODBOT_ALLOW_PRIVATE = ["127.0.0.1"]
TELNETCONSOLE_ENABLED = HTTPPROXY_ENABLED = False
"""
SPIDER = """
import scrapy

class News(scrapy.Spider):
    name = "news"

    def parse(self, response):
        yield {"length": len(response.text)}
"""


async def scrapy(folder: Path, *arguments: str) -> tuple[int | None, str]:
    """Runs `scrapy` in a project; returns its exit status and output."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scrapy", *arguments),
        cwd=folder,
        env={**environment, "PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}", "SCRAPY_SETTINGS_MODULE": "project"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, out.decode()


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("parse", "--spider=news"), "{'length': 5}"),
        (("fetch", "--spider=news"), "hello"),
        (("shell", "--spider=news", "-c", "response.text"), "hello"),
    ],
)
async def test_commands_for_single_pages_do_not_touch_the_folder(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "project.py").write_text(PROJECT)
    (tmp_path / "spiders.py").write_text(SPIDER)
    async with WebServer({"/": answer(b"hello")}) as server:
        status, out = await scrapy(tmp_path, *arguments, server.url("/"))
    assert (status, told in out) == (0, True), out
    assert not (tmp_path / "crawls").exists()


@pytest.mark.long
async def test_a_crawl_that_cannot_begin_ends_with_status_1(tmp_path: Path) -> None:
    (tmp_path / "project.py").write_text(PROJECT)
    (tmp_path / "spiders.py").write_text(SPIDER)
    assert (await scrapy(tmp_path, "crawl", "news"))[0] == 0
    (tmp_path / "crawls" / "news" / "requests.sqlite").write_bytes(b"not ours" * 100)
    assert (await scrapy(tmp_path, "crawl", "news"))[0] == 1
