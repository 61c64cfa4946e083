"""`goodbot forget`: from frontier, archive and index, of a crawl at rest and of one that runs."""

import asyncio
import shutil
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from hashlib import blake2b
from pathlib import Path

import pytest

from goodbot.clock import SystemClock
from goodbot.exclusion import Access
from goodbot.live import Courtesy
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release, Response
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_control import at_rest
from store.warc.archive_samples import capture
from webserver import Exchange, WebServer, answer


async def endless(exchange: Exchange) -> None:
    """Every page leads to two more."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\nDisallow: /private\n", headers=[("Content-Type", "text/plain")]))
        return
    await asyncio.sleep(0.01)
    number = int(exchange.target.strip("/") or 0)
    links = f'<a href="/{2 * number + 1}">a</a><a href="/{2 * number + 2}">b</a>'
    word = token(exchange.header("host") or "")
    await exchange.send(answer(f"<title>zebra {number}</title><p>zebra {word} {links}".encode()))


def token(host: str) -> str:
    """20 letters and digits that only the pages of that host have."""
    return b64encode(blake2b(host.encode(), digest_size=15).digest(), b"ab").decode()


def own_word(host: str) -> str:
    """The middle of its token. The index compresses texts: four bytes that occurred before are not written again. The
    ends of a token meet words that all pages have; four of its own ten are in another token once in 100,000 times."""
    return token(host)[5:15]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


@pytest.fixture
async def sites() -> AsyncIterator[list[WebServer]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(WebServer(fallback=endless)) for _ in range(2)]


def key(server: WebServer) -> str:
    return server.origin.removeprefix("http://")


async def came(server: WebServer, count: int) -> None:
    """Returns when that many requests have come; a crawl that has died does not make the test wait."""
    async with asyncio.timeout(60):
        await server.received(count)


async def urls(folder: Path) -> list[str]:
    return [line["url"] for line in (await goodbot("export", "--in", folder, "--what", "urls")).lines]


async def pages(folder: Path) -> list[str]:
    result = await goodbot("export", "--in", folder, "--what", "pages")
    assert result.status == 0, result.err
    return [line["url"] for line in result.lines]


async def hits(folder: Path) -> list[str]:
    found: list[str] = [hit["url"] for hit in (await search(folder)).json["hits"]]
    return found


async def search(folder: Path, word: str = "zebra") -> Ended:
    return await goodbot("search", word, "--in", folder, "--json", "--top", "100")


async def found_by(folder: Path, words: list[str]) -> list[bool]:
    """Whether the search finds pages with each of these words."""
    return [bool((await search(folder, word)).json["hits"]) for word in words]


def holding(folder: Path, text: str) -> list[Path]:
    """Files of index and frontier with that text in them, as bytes."""
    files = [file for file in (folder / "index").rglob("*") if file.is_file()]
    files += folder.glob("frontier.sqlite*")
    return [file for file in files if text.encode() in file.read_bytes()]


async def is_gone(folder: Path, gone: WebServer, other: WebServer) -> None:
    """Nothing of the one is left, all of the other is."""
    known, kept, found = await urls(folder), await pages(folder), await hits(folder)
    for some in (known, kept, found):
        assert not [url for url in some if url.startswith(gone.origin)]
        assert [url for url in some if url.startswith(other.origin)]
    warc = await start("export", "--in", folder, "--what", "warc")
    out, _ = await warc.communicate()
    assert warc.returncode == 0
    assert gone.origin.encode() not in out
    for file in (folder / "warc").glob("*.cdxj"):
        assert gone.origin not in file.read_text()


async def test_of_a_crawl_at_rest(folder: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    options = ("--into", folder, "--allow-private", "--host-pages")
    first = await goodbot("crawl", gone.url("/"), other.url("/"), *options, "10")
    assert first.status == 0, first.err
    words = [token(key(gone)), token(key(other))]
    assert await found_by(folder, words) == [True, True]
    before = len(await urls(folder)), len(await hits(folder))
    result = await goodbot("forget", key(gone), "--in", folder)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"{key(gone)} is forgotten: ")
    after = len(await urls(folder)), len(await hits(folder))
    assert f" {before[0] - after[0]} URLs, " in result.out
    assert f" {before[1] - after[1]} documents removed" in result.out
    await is_gone(folder, gone, other)
    assert await found_by(folder, words) == [False, True]
    assert holding(folder, own_word(key(gone))) == holding(folder, gone.url("/")) == []
    assert holding(folder, own_word(key(other)))
    asked = len(gone.exchanges)
    on = await goodbot("crawl", *options, "20")
    assert on.status == 0, on.err
    assert len(other.exchanges) == 21
    submitted = await goodbot("submit", gone.url("/7"), "--in", folder)
    assert submitted.status == 1
    assert "forgotten" in submitted.out
    assert len(gone.exchanges) == asked
    await is_gone(folder, gone, other)
    (host,) = (await goodbot("courtesy", "--in", folder, "--json", "--host", key(gone))).json
    assert (host["requests"], host["disallowed"], host["origins"]) == (asked, 0, [])
    assert host["forgotten_at"] > host["last_request_at"]
    assert "forgotten" in (await goodbot("courtesy", "--in", folder)).out
    again = await goodbot("forget", key(gone), "--in", folder, "--json")
    assert again.json == {
        "done": True,
        "host": key(gone),
        "known": True,
        "running": False,
        "urls": 0,
        "records": 0,
        "documents": 0,
        "damaged_bytes": 0,
        "similar": [],
    }
    undone = await goodbot("forget", key(gone), "--in", folder, "--undo")
    assert (undone.status, undone.err) == (0, "")
    assert (await goodbot("submit", gone.url("/7"), "--in", folder)).out == f"submitted     {gone.url('/7')}\n"


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_of_a_crawl_that_runs(folder: Path, sites: list[WebServer], workers: str) -> None:
    gone, other = sites
    seeds = [server.url("/") for server in sites]
    process = await start("crawl", *seeds, "--into", folder, "--allow-private", "--workers", workers)
    for server in sites:
        await came(server, 5)
    result = await goodbot("forget", key(gone), "--in", folder)
    assert (result.status, result.err) == (0, "")
    assert "are not removed yet: the crawl removes them when it ends" in result.out
    running = await goodbot("forget", key(gone), "--in", folder, "--json")
    assert (running.status, running.json["done"], running.json["running"]) == (0, False, True)
    await goodbot("pause", "--in", folder)
    await at_rest(folder)  # what was in flight has ended, and every worker has heard all that was said
    asked, count = len(gone.exchanges), len(other.exchanges)
    await goodbot("resume", "--in", folder)
    await came(other, count + 60)
    assert len(gone.exchanges) == asked
    await goodbot("stop", "--in", folder)
    told = await ended(process)
    assert (told.status, "no more requests are sent; its pages are removed" in told.err) == (130, True)
    await is_gone(folder, gone, other)
    (host,) = (await goodbot("courtesy", "--in", folder, "--json", "--host", key(gone))).json
    assert host["requests"] == len(gone.exchanges)


async def told_and_killed(folder: Path, gone: WebServer, other: WebServer) -> None:
    """A crawl that was told to forget a host, and killed before it ended."""
    process = await start("crawl", gone.url("/"), other.url("/"), "--into", folder, "--allow-private")
    for server in (gone, other):
        await came(server, 10)
    await goodbot("forget", key(gone), "--in", folder)
    process.kill()
    await ended(process)


async def test_of_a_crawl_that_is_killed_before_it_ends(folder: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    await told_and_killed(folder, gone, other)
    await gone.deserted()  # what was sent before the kill has come
    asked = len(gone.exchanges)
    assert (await goodbot("crawl", "--into", folder, "--max-pages", "5")).status == 0
    assert len(gone.exchanges) == asked
    await is_gone(folder, gone, other)


@pytest.mark.parametrize(
    ("origin", "names"),
    [
        ("http://[2606:4700::1111]", ["2606:4700::1111", "[2606:4700::1111]", "http://[2606:4700:0::1111]/"]),
        ("http://[2606:4700::abcd]", ["2606:4700::ABCD", "[2606:4700::abcd]", "https://[2606:4700::abcd]"]),
        ("http://[::1]:8080", ["[::1]:8080", "http://[::1]:8080/", "[::1]:8080"]),
        ("http://[::1]", ["::1", "[::1]", "http://[::1]:80/"]),
    ],
)
async def test_of_an_address_of_version_6(folder: Path, origin: str, names: list[str]) -> None:
    for name in names:
        there, other = Url(f"{origin}/a"), Url("http://[2606:4700::2222]/a")
        keep(folder, [there, other])
        report = await goodbot("courtesy", "--in", folder, "--host", name, "--json")
        assert [(item["host"], item["robots_txt"]["origin"]) for item in report.json] == [(there.host_key, origin)]
        result = await goodbot("forget", name, "--in", folder, "--json")
        assert (result.status, result.json["urls"], result.json["records"]) == (0, 1, 1), result
        assert await urls(folder) == [other.text]
        assert await pages(folder) == [other.text]
        undone = await goodbot("forget", name, "--in", folder, "--undo")
        assert undone.status == 0, undone.err
        shutil.rmtree(folder)


def keep(folder: Path, visited: list[Url]) -> None:
    """A crawl at rest that has visited these."""
    folder.mkdir()
    with SqliteFrontier.open(folder / "frontier.sqlite", create=True) as frontier:
        archive = WarcArchive(folder / "warc", SystemClock(), "goodbot/test")
        frontier.add(Discovery(url, 0) for url in visited)
        for lease in frontier.lease(len(visited), 1, time.time()):
            (leased,) = lease.urls
            record = archive.put(capture(Response(200, (("Content-Type", "text/html"),), b"<p>x"), leased.url.text))
            outcome = Outcome(leased.url, "visited", time.time(), "status 200", 200, record=record)
            frontier.settle([outcome], [Release(lease.host, 0.0)])
            frontier.save_robots(leased.url.origin, Access.from_response(404, [], b"", time.time()))
            frontier.save_courtesies([Courtesy(lease.host, 2)])
        archive.close()


async def test_a_host_not_known(folder: Path, sites: list[WebServer]) -> None:
    await goodbot("crawl", sites[0].url("/"), "--into", folder, "--allow-private", "--max-pages", "2")
    before = await urls(folder)
    undone = await goodbot("forget", "example.org", "--in", folder, "--undo")
    assert (undone.status, undone.out) == (2, "")
    assert "example.org is not forgotten" in undone.complaint
    other = key(sites[1])
    for name in ("example.org", "2606:4700::1111", other):
        result = await goodbot("forget", name, "--in", folder)
        assert (result.status, result.err) == (0, "")
        assert result.out.startswith(f"this crawl does not know {name}; from now on it gets no requests")
    assert await urls(folder) == before
    again = await goodbot("forget", other, "--in", folder, "--json")
    assert (again.status, again.json["done"], again.json["urls"]) == (0, True, 0)
    on = await goodbot("crawl", sites[1].url("/"), "--into", folder, "--allow-private", "--max-pages", "2")
    assert (on.status, sites[1].exchanges) == (0, []), on.err
    undone = await goodbot("forget", other, "--in", folder, "--undo", "--json")
    assert (undone.status, undone.json) == (0, {"done": True, "host": other})


async def test_a_host_not_known_while_the_crawl_runs(folder: Path, sites: list[WebServer]) -> None:
    one, other = sites
    process = await start("crawl", one.url("/"), "--into", folder, "--allow-private", "--no-index")
    await came(one, 5)
    result = await goodbot("forget", key(other), "--in", folder, "--json")
    assert result.status == 0, result.err
    assert (result.json["done"], result.json["known"], result.json["running"]) == (True, False, True)
    submitted = await goodbot("submit", other.url("/"), "--in", folder)
    assert (submitted.status, "its host is forgotten" in submitted.out) == (1, True), submitted
    assert (await goodbot("stop", "--in", folder)).status == 0
    told = (await ended(process)).err
    assert f"{key(other)}: no more requests are sent; the crawl has no data about it" in told
    assert other.exchanges == []


async def test_a_crawl_that_keeps_neither_archive_nor_index(folder: Path, sites: list[WebServer]) -> None:
    options = ("--allow-private", "--max-pages", "5", "--no-archive", "--no-index")
    await goodbot("crawl", sites[0].url("/"), "--into", folder, *options)
    result = await goodbot("forget", key(sites[0]), "--in", folder)
    assert result.status == 0
    assert "0 records, 0 documents removed" in result.out
    assert await urls(folder) == []
    on = await goodbot("crawl", "--into", folder)
    assert on.status == 3
    assert f"to allow it again: goodbot forget {key(sites[0])} --undo --in {folder}" in on.err
    assert "Traceback" not in on.err


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_pages_leave_the_search_while_the_crawl_runs(folder: Path, sites: list[WebServer], workers: str) -> None:
    gone, other = sites
    seeds = [server.url("/") for server in sites]
    options = ("--into", folder, "--allow-private", "--workers", workers)
    assert (await goodbot("crawl", *seeds, *options, "--max-pages", "40")).status == 0
    assert any(url.startswith(gone.origin) for url in await hits(folder))
    asked = len(gone.exchanges)
    process = await start("crawl", *options)
    await came(gone, asked + 20)  # of these pages none is in the search yet
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    found = await hits(folder)
    assert not [url for url in found if url.startswith(gone.origin)]
    assert [url for url in found if url.startswith(other.origin)]
    await came(other, len(other.exchanges) + 60)
    assert not [url for url in await hits(folder) if url.startswith(gone.origin)]
    assert process.returncode is None
    await goodbot("stop", "--in", folder)
    told = await ended(process)
    assert (told.status, "its pages are removed from the search index" in told.err) == (130, True)
    await is_gone(folder, gone, other)


async def test_undone_after_a_kill(folder: Path, sites: list[WebServer]) -> None:
    """Its pages had left the search already: what is left of the host is removed before it may be found again."""
    gone, other = sites
    await told_and_killed(folder, gone, other)
    undone = await goodbot("forget", key(gone), "--in", folder, "--undo")
    assert (undone.status, undone.err) == (0, "")
    assert not [url for url in await urls(folder) if url.startswith(gone.origin)]
    submitted = await goodbot("submit", gone.url("/7"), "--in", folder)
    assert submitted.out == f"submitted     {gone.url('/7')}\n"


async def test_a_crawl_that_goes_on_without_its_archive(folder: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    options = ("--into", folder, "--allow-private", "--workers", "1")
    assert (await goodbot("crawl", gone.url("/"), other.url("/"), *options, "--max-pages", "20")).status == 0
    asked = len(gone.exchanges)
    process = await start("crawl", *options, "--no-archive")
    await came(gone, asked + 5)
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    await goodbot("stop", "--in", folder)
    assert (await ended(process)).status == 130
    await is_gone(folder, gone, other)


async def test_a_crawl_that_goes_on_without_its_index(folder: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    options = ("--into", folder, "--allow-private", "--workers", "1")
    assert (await goodbot("crawl", gone.url("/"), other.url("/"), *options, "--max-pages", "20")).status == 0
    asked = len(gone.exchanges)
    process = await start("crawl", *options, "--no-index")
    await came(gone, asked + 5)
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    await goodbot("stop", "--in", folder)
    assert (await ended(process)).status == 130
    await is_gone(folder, gone, other)
    assert holding(folder, own_word(key(gone))) == []
