"""`goodbot forget`: from frontier, archive and index, of a crawl at rest and of one that runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_control import at_rest
from webserver import Exchange, WebServer, answer


async def endless(exchange: Exchange) -> None:
    """Every page leads to two more."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\nDisallow: /private\n", headers=[("Content-Type", "text/plain")]))
        return
    await asyncio.sleep(0.01)
    number = int(exchange.target.strip("/") or 0)
    links = f'<a href="/{2 * number + 1}">a</a><a href="/{2 * number + 2}">b</a>'
    word = own_word(exchange.header("host") or "")
    await exchange.send(answer(f"<title>zebra {number}</title><p>zebra {word} {links}".encode()))


def own_word(host: str) -> str:
    """A word that stands on the pages of that host alone, and in no URL, so that no compression breaks it."""
    return "mark" + "".join(chr(ord("a") + int(digit)) for digit in host.rpartition(":")[2])


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


async def search(folder: Path) -> Ended:
    return await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")


def holding(folder: Path, text: str) -> list[Path]:
    """Files of index and frontier with that text in them, as bytes."""
    files = [*(folder / "index").iterdir(), *folder.glob("frontier.sqlite*")]
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
    await goodbot("crawl", gone.url("/"), other.url("/"), *options, "10")
    assert holding(folder, own_word(key(gone)))
    before = len(await urls(folder)), len(await hits(folder))
    result = await goodbot("forget", key(gone), "--in", folder)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"{key(gone)} is forgotten: ")
    after = len(await urls(folder)), len(await hits(folder))
    assert f" {before[0] - after[0]} URLs, " in result.out
    assert f" {before[1] - after[1]} documents removed" in result.out
    await is_gone(folder, gone, other)
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
    assert again.json == {"host": key(gone), "running": False, "urls": 0, "records": 0, "documents": 0}
    undone = await goodbot("forget", key(gone), "--in", folder, "--undo")
    assert (undone.status, undone.err) == (0, "")
    assert (await goodbot("submit", gone.url("/7"), "--in", folder)).out == f"submitted     {gone.url('/7')}\n"


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_of_a_crawl_that_runs(folder: Path, sites: list[WebServer], workers: str) -> None:
    gone, other = sites
    seeds = [server.url("/") for server in sites]
    process = await start("crawl", *seeds, "--into", folder, "--allow-private", "--workers", workers)
    for server in sites:
        await came(server, 5)
    result = await goodbot("forget", key(gone), "--in", folder)
    assert (result.status, result.err) == (0, "")
    assert "removed when the crawl ends" in result.out
    await goodbot("pause", "--in", folder)
    await at_rest(folder)  # what was in flight has ended, and every worker has heard all that was said
    asked, count = len(gone.exchanges), len(other.exchanges)
    await goodbot("resume", "--in", folder)
    await came(other, count + 60)
    assert len(gone.exchanges) == asked
    await goodbot("stop", "--in", folder)
    told = await ended(process)
    assert (told.status, "is asked nothing any more" in told.err) == (130, True)
    await is_gone(folder, gone, other)
    (host,) = (await goodbot("courtesy", "--in", folder, "--json", "--host", key(gone))).json
    assert host["requests"] == len(gone.exchanges)


async def test_of_a_crawl_that_is_killed_before_it_ends(folder: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    process = await start("crawl", gone.url("/"), other.url("/"), "--into", folder, "--allow-private")
    for server in sites:
        await came(server, 10)
    await goodbot("forget", key(gone), "--in", folder)
    process.kill()
    await ended(process)
    await gone.deserted()  # what was sent before the kill has come
    asked = len(gone.exchanges)
    assert (await goodbot("crawl", "--into", folder, "--max-pages", "5")).status == 0
    assert len(gone.exchanges) == asked
    await is_gone(folder, gone, other)


async def test_a_host_not_known(folder: Path, sites: list[WebServer]) -> None:
    await goodbot("crawl", sites[0].url("/"), "--into", folder, "--allow-private", "--max-pages", "2")
    before = await urls(folder)
    for options, word in (([], "knows no host example.org"), (["--undo"], "is not forgotten")):
        result = await goodbot("forget", "example.org", "--in", folder, *options)
        assert (result.status, result.out) == (2, "")
        assert word in result.complaint
    assert await urls(folder) == before


async def test_a_crawl_that_keeps_neither_archive_nor_index(folder: Path, sites: list[WebServer]) -> None:
    options = ("--allow-private", "--max-pages", "5", "--no-archive", "--no-index")
    await goodbot("crawl", sites[0].url("/"), "--into", folder, *options)
    result = await goodbot("forget", key(sites[0]), "--in", folder)
    assert result.status == 0
    assert "0 records, 0 documents removed" in result.out
    assert await urls(folder) == []
    on = await goodbot("crawl", "--into", folder)
    assert (on.status, "Traceback" in on.err) == (0, False)
