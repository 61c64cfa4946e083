"""kill -9 at any moment: nothing lost, little fetched twice, the archive whole (DESIGN's rule of durability)."""

import asyncio
import os
import random
import shutil
import signal
import zlib
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from journey.goodbot_process import ended, goodbot, start
from journey.test_workers import workers_of
from webserver import Exchange, WebServer, answer

HOSTS = 6
PAGES = 150
BIG_PAGES = 500
BATCH = 100
"""Outcomes in one commit at most; with the pages in flight, what a kill may cost."""


def page(number: int) -> bytes:
    """Page `number` of a site: links to three others, so that everything is reached in a few steps."""
    links = "".join(f'<a href="/{(number * 3 + step) % PAGES}">{step}</a>' for step in (1, 2, 3))
    text = " ".join(random.Random(number).choices(["robot", "crawl", "frontier", "lease", "politeness"], k=80))
    return answer(f"<title>page {number}</title><p>{text}</p>{links}".encode())


async def site(exchange: Exchange) -> None:
    """Every page of a site; robots.txt closes one of ten."""
    if exchange.target == "/robots.txt":
        rules = "User-agent: *\n" + "".join(f"Disallow: /{n}$\n" for n in range(5, PAGES, 10))
        await exchange.send(answer(rules.encode(), headers=[("Content-Type", "text/plain")]))
    else:
        await exchange.send(page(int(exchange.target.strip("/") or 0)))


def page_counts(servers: list[WebServer]) -> Counter[str]:
    """How often each page was asked for."""
    return Counter(server.url(target) for server in servers for target in server.targets if target != "/robots.txt")


async def deserted(servers: list[WebServer]) -> None:
    """Returns when all that a crawl sent before its death has come."""
    for server in servers:
        await server.deserted()


async def visited(folder: Path) -> set[str]:
    """URLs the crawl says it visited."""
    lines = (await goodbot("export", "--in", folder, "--what", "urls")).lines
    assert {line["state"] for line in lines} <= {"visited", "disallowed"}
    return {line["url"] for line in lines if line["state"] == "visited"}


def check_archive(folder: Path) -> Counter[str]:
    """Every member ends; both readers read every record, digests included. Gives responses by URL."""
    found: Counter[str] = Counter()
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        rest = file.read_bytes()
        while rest:
            member = zlib.decompressobj(31)
            member.decompress(rest)
            assert member.eof, f"{file.name} has a torn member"
            rest = member.unused_data
        with file.open("rb") as stream:
            read = [
                (r.rec_type, r.rec_headers["WARC-Target-URI"]) for r in WarcioIterator(stream, check_digests="raise")
            ]
        with file.open("rb") as stream:
            types = WarcRecordType.any_type
            again = [r.record_type for r in ArchiveIterator(stream, record_types=types, verify_digests=True)]
        assert len(read) == len(again)
        kinds = ("response", "revisit")
        found.update(url for kind, url in read if kind in kinds and not url.endswith("/robots.txt"))
    return found


async def big_site(exchange: Exchange) -> None:
    """The same, of more pages."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\nDisallow: /7$\n", headers=[("Content-Type", "text/plain")]))
    else:
        number = int(exchange.target.strip("/") or 0)
        links = "".join(f'<a href="/{(number * 5 + step) % BIG_PAGES}">{step}</a>' for step in range(1, 6))
        await exchange.send(answer(f"<title>page {number}</title><p>words of {number}</p>{links}".encode()))


@pytest.mark.long
async def test_a_group_killed_twenty_times(tmp_path: Path) -> None:
    """All processes at once, 20 times at random moments, over 3,000 pages with two workers."""
    dice = random.Random(20)
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(WebServer(fallback=big_site)) for _ in range(HOSTS)]
        seeds = [server.url("/") for server in servers]
        options = ("--into", tmp_path, "--allow-private", "--workers", "2", "--no-index", "--json")
        kills = 0
        while kills < 20:
            before = page_counts(servers)
            process = await start("crawl", *seeds, *options, group=True)
            pages = before.total() + dice.randint(1, HOSTS * BIG_PAGES // 22)
            while page_counts(servers).total() < pages and process.returncode is None:  # noqa: ASYNC110 - other process
                await asyncio.sleep(0.005)
            os.killpg(process.pid, signal.SIGKILL)
            assert (await ended(process)).status == -9
            kills += 1
            await deserted(servers)
            again = page_counts(servers)
            repeats = sum(again[url] - before[url] - (before[url] == 0) for url in again if again[url] > before[url])
            assert repeats <= HOSTS + BATCH
        last = await goodbot("crawl", "--into", tmp_path, "--workers", "2", "--json")
        assert (last.status, last.lines[-1]["reason"]) == (0, "finished")
        found = await visited(tmp_path)
        assert found == set(page_counts(servers))
        assert len(found) > 0.9 * HOSTS * BIG_PAGES
        assert set(check_archive(tmp_path)) == found


@pytest.mark.long
async def test_single_workers_killed(tmp_path: Path) -> None:
    """One robot process at a time, 10 times while the crawl goes on: the owner keeps what is committed."""
    dice = random.Random(10)
    (tmp_path / "goodbot.toml").write_text("tries = 100\n")  # no page is given up, however many workers died of it
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(WebServer(fallback=big_site)) for _ in range(HOSTS)]
        seeds = [server.url("/") for server in servers]
        process = await start(
            *("crawl", *seeds, "--into", str(tmp_path), "--allow-private", "--workers", "2", "--no-index"),
            *("--json", "--delay", "0.01"),
        )
        kills = 0
        while kills < 10:
            pages = page_counts(servers).total() + dice.randint(50, 200)
            while page_counts(servers).total() < pages and process.returncode is None:  # noqa: ASYNC110 - other process
                await asyncio.sleep(0.005)
            assert process.returncode is None, (await ended(process)).err
            workers = workers_of(process.pid)
            if workers:
                dice.choice(workers).send_signal(signal.SIGKILL)
                kills += 1
        crawl = await ended(process)
        assert (crawl.status, crawl.lines[-1]["reason"]) == (0, "finished")
        counts = page_counts(servers)
        assert counts.total() - len(counts) <= kills * (HOSTS + BATCH)
        assert await visited(tmp_path) == set(counts)
        assert len(counts) > 0.9 * HOSTS * BIG_PAGES
        assert set(check_archive(tmp_path)) == set(counts)


@pytest.mark.long
async def test_killed_five_times(tmp_path: Path) -> None:
    dice = random.Random(5)
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(WebServer(fallback=site)) for _ in range(HOSTS)]
        seeds = [server.url("/") for server in servers]
        whole = await goodbot("crawl", *seeds, "--into", tmp_path / "whole", "--allow-private", "--no-duplicates")
        assert whole.status == 0, whole.err
        expected = await visited(tmp_path / "whole")
        assert len(expected) > 0.8 * HOSTS * PAGES
        for server in servers:
            server.exchanges.clear()

        folder = tmp_path / "killed"
        kills = 0
        for _ in range(5):
            before = page_counts(servers)
            process = await start("crawl", *seeds, "--into", folder, "--allow-private", "--no-duplicates", "--json")
            asked = len(servers[0].exchanges) + dice.randint(1, PAGES // 6)
            await servers[0].received(asked)
            process.kill()
            assert (await ended(process)).status == -9
            kills += 1
            await deserted(servers)
            again = page_counts(servers)
            repeats = sum(again[url] - before[url] - (before[url] == 0) for url in again if again[url] > before[url])
            assert repeats <= HOSTS + BATCH
        last = await goodbot("crawl", "--into", folder, "--json")
        assert last.status == 0, last.err
        assert last.lines[-1]["reason"] == "finished"

        assert await visited(folder) == expected
        counts = page_counts(servers)
        assert set(counts) == expected
        assert sum(counts.values()) - len(counts) <= kills * (HOSTS + BATCH)
        assert set(check_archive(folder)) == expected
        results = await goodbot("search", "politeness", "--in", folder, "--json")
        assert results.json["total"] == len(expected)
        status = (await goodbot("status", "--in", folder, "--json")).json
        assert status["finished"] is True
        assert status["states"]["visited"] == len(expected)


async def indexed(folder: Path) -> set[str]:
    """What a search finds, each page once."""
    results = await goodbot("search", "words", "--in", folder, "--json", "--top", "1000")
    assert results.status == 0, results.err
    hits = [hit["url"] for hit in results.json["hits"]]
    assert len(hits) == len(set(hits)) == results.json["total"]
    return set(hits)


@pytest.mark.long
async def test_killed_thirty_times_with_an_index(tmp_path: Path) -> None:
    """At the end every page is visited, in the archive and in the index, none of them twice."""
    dice = random.Random(30)
    async with WebServer(fallback=big_site) as server:
        options = ("--into", tmp_path, "--allow-private", "--no-duplicates", "--workers", "1", "--json")
        for _ in range(30):
            before = len(server.exchanges)
            process = await start("crawl", server.url("/"), *options)
            pages = before + dice.randint(0, BIG_PAGES // 40)
            while len(server.exchanges) < pages and process.returncode is None:  # noqa: ASYNC110 - other process
                await asyncio.sleep(0.005)
            await asyncio.sleep(dice.uniform(0, 0.4))  # in the middle of a commit, too
            if process.returncode is None:
                process.kill()
            await ended(process)
            await server.deserted()
        last = await goodbot("crawl", "--into", tmp_path, "--json")
        assert (last.status, last.lines[-1]["reason"]) == (0, "finished")
        found = await visited(tmp_path)
        assert found == set(page_counts([server]))
    assert len(found) == BIG_PAGES  # "/" and "/0" are two, and one is closed
    assert set(check_archive(tmp_path)) == found
    assert await indexed(tmp_path) == found


@pytest.mark.long
async def test_a_rebuild_killed_thirty_times(tmp_path: Path) -> None:
    """By hand and by a crawl, over an index that is there, and over none; searches are answered by the old one."""
    dice = random.Random(30)
    async with WebServer(fallback=big_site) as server:
        await goodbot("crawl", server.url("/"), "--into", tmp_path, "--allow-private", "--no-duplicates")
        found = await visited(tmp_path)
        assert await indexed(tmp_path) == found
        asked = len(server.exchanges)
        for kill in range(30):
            if kill == 15:
                shutil.rmtree(tmp_path / "index", ignore_errors=True)
            command = ("crawl", "--into", tmp_path) if kill % 5 == 4 else ("index", "rebuild", "--in", tmp_path)
            process = await start(*command)
            reached = dice.choice(["index.new/goodbot.json", "index.new/meta.json", "index.new/*.store", "index.old"])
            while not any(tmp_path.glob(reached)) and process.returncode is None:  # noqa: ASYNC110 - other process
                await asyncio.sleep(0.001)
            await asyncio.sleep(dice.choice([0, dice.uniform(0, 0.5)]))
            if process.returncode is None:
                process.kill()
            await ended(process)
            if kill < 15 and (tmp_path / "index").exists():
                assert await indexed(tmp_path) == found
        assert (await goodbot("index", "rebuild", "--in", tmp_path)).status == 0
        assert await indexed(tmp_path) == found
        assert (await goodbot("crawl", "--into", tmp_path)).status == 0
        assert len(server.exchanges) == asked
    assert not [*tmp_path.glob("index.*")]
