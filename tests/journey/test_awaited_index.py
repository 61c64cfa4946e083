"""Searches of a crawl that has made no index yet, and of one whose index is replaced meanwhile."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from goodbot.crawl_folder import CrawlFolder, open_search, open_search_or_nothing
from goodbot.errors import DamagedError, GoodbotError, InputError, NoIndexError, RunError
from goodbot.index import AwaitedSearch, TantivyIndex, TantivySearch
from goodbot.ports import Search
from goodbot.search_values import Hidden
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.sqlite.frontier import SqliteFrontier
from journey.goodbot_process import ended, goodbot, start
from webserver import Exchange, WebServer, answer

PAGES = 8


class Site:
    """Pages that link to the next one. The page at which it is `held` waits until it is let go."""

    def __init__(self) -> None:
        self.held = -1
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.send(answer(b"User-agent: *\n", headers=[("Content-Type", "text/plain")]))
            return
        number = int(exchange.target.strip("/") or 0)
        if number == self.held:
            self.reached.set()
            await self.let_go.wait()
        link = f'<a href="/{number + 1}">next</a>' if number + 1 < PAGES else ""
        await exchange.send(answer(f"<title>zebra {number}</title><p>zebra words of {number}</p>{link}".encode()))


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
async def server(site: Site) -> AsyncIterator[WebServer]:
    async with WebServer(fallback=site) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


async def crawl(folder: Path, *more: str) -> None:
    done = await goodbot("crawl", *more, "--into", folder, "--allow-private", "--json")
    assert done.status == 0, done.err


def begin(folder: Path) -> None:
    """Makes the folder of a crawl that has a frontier and nothing else yet."""
    CrawlFolder(folder).create()
    SqliteFrontier.open(CrawlFolder(folder).frontier, create=True).close()


def found(search: Search) -> int:
    return search.search("zebra", 100).total


async def test_nothing_is_found_until_the_crawl_makes_its_index(folder: Path, server: WebServer, site: Site) -> None:
    begin(folder)
    with pytest.raises(RunError, match="this crawl has no search index yet"):
        open_search(folder)
    search = open_search_or_nothing(folder, lambda: Hidden(frozenset({server.url("/0"), server.url("/1")})))
    assert (found(search), search.count(), search.suggest("z")) == (0, 0, ())
    site.held = 5
    running = await start("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
    await asyncio.wait_for(site.reached.wait(), 60)
    assert search.search("zebra", 100).total <= 4
    assert (await goodbot("search", "zebra", "--in", folder)).status == 0
    site.let_go.set()
    assert (await ended(running)).status == 0
    assert (found(search), search.count()) == (PAGES - 1, PAGES - 1)
    assert search.explain("zebra", server.url("/1")) is None


async def test_the_index_may_be_replaced_or_removed_and_made_again(folder: Path, server: WebServer) -> None:
    begin(folder)
    search = open_search_or_nothing(folder)
    assert isinstance(search, AwaitedSearch)
    await crawl(folder, server.url("/"))
    assert found(search) == PAGES
    assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
    assert found(search) == PAGES
    shutil.rmtree(folder / "index")
    with pytest.raises(DamagedError):
        search.search("zebra")
    await crawl(folder)
    assert found(search) == PAGES


def test_a_folder_that_is_moved_away(folder: Path) -> None:
    """That is no fault of the query."""
    begin(folder)
    search = open_search_or_nothing(folder)
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(RunError, match="no such folder"):
        search.search("zebra")


async def test_a_crawl_that_gets_an_index_later(folder: Path, server: WebServer) -> None:
    """The index is built in a folder of its own, and is put into its place when it is complete."""
    await crawl(folder, server.url("/"), "--no-index")
    with pytest.raises(NoIndexError):
        open_search_or_nothing(folder).search("zebra")
    await crawl(folder, "--index")
    (folder / "index").rename(folder / "index.new")
    with pytest.raises(RunError, match="a rebuild was interrupted"):
        open_search_or_nothing(folder)
    running = ControlFolder(folder)
    running.attend()
    try:
        search = open_search_or_nothing(folder)
        assert found(search) == 0
        (folder / "index.new").rename(folder / "index")
        assert found(search) == PAGES
    finally:
        running.close()


FAULTS = [
    ("missing", RunError, "the search index is missing"),
    ("damaged", DamagedError, "is damaged"),
    ("another", RunError, "not the one that this crawl wrote"),
]


@pytest.mark.parametrize(("fault", "error", "said"), FAULTS)
async def test_an_index_that_the_crawl_had_is_not_awaited(
    folder: Path, server: WebServer, fault: str, error: type[GoodbotError], said: str
) -> None:
    await crawl(folder, server.url("/"))
    if fault == "damaged":
        (folder / "index" / "meta.json").write_text("{")
    else:
        shutil.rmtree(folder / "index")
    if fault == "another":
        TantivyIndex(folder / "index").close()
    with pytest.raises(error, match=said):
        open_search_or_nothing(folder)


async def test_a_folder_without_a_crawl_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"no crawl in|no such folder"):
            open_search_or_nothing(place)
    TantivyIndex(tmp_path / "index").close()
    assert isinstance(open_search_or_nothing(tmp_path), TantivySearch)
