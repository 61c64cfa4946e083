"""A rebuild of the search index is killed, then a host is forgotten: the old index goes on answering, without it."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_folder import SOFTWARE, CrawlFolder
from goodbot.index_opening import Indexing, Sources, rebuild
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_archive import WarcArchive
from journey.goodbot_process import goodbot
from journey.test_forget import endless, found_by, hits, key, own_word, token
from webserver import WebServer


class CutError(Exception):
    """The end of a rebuild."""


@pytest.fixture
async def sites() -> AsyncIterator[list[WebServer]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(WebServer(fallback=endless)) for _ in range(2)]


async def crawled(folder: Path, *sites: WebServer) -> Path:
    options = ("--into", folder, "--allow-private", "--host-pages", "10")
    done = await goodbot("crawl", *(site.url("/") for site in sites), *options)
    assert done.status == 0, done.err
    return folder


async def cut_rebuild(path: Path, *, late: bool) -> None:
    """A rebuild that ends early: before it has read a page, or after all are in the new index (`late`)."""
    folder = CrawlFolder(path)

    def watch(state: Indexing) -> None:
        if state.finished or not late:
            raise CutError

    with SqliteFrontier.open(folder.frontier) as frontier:
        archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True)
        with pytest.raises(CutError):
            await rebuild(Sources(folder, Settings(), "goodbot", frontier, archive), "", watch)
        archive.close()
    assert folder.index_draft.is_dir()


def left(folder: Path, text: str) -> list[Path]:
    """Files of both indexes and of the frontier with that text in them, as bytes."""
    places = [folder / "index", folder / "index.new"]
    files = [file for place in places if place.is_dir() for file in place.rglob("*") if file.is_file()]
    return [file for file in [*files, *folder.glob("frontier.sqlite*")] if text.encode() in file.read_bytes()]


@pytest.mark.long
@pytest.mark.parametrize("late", [False, True])
async def test_the_old_index_answers_without_the_host(tmp_path: Path, sites: list[WebServer], late: bool) -> None:
    gone, other = sites
    folder = await crawled(tmp_path / "crawl", *sites)
    words = [token(key(gone)), token(key(other))]
    before = await hits(folder)
    await cut_rebuild(folder, late=late)
    assert await found_by(folder, words) == [True, True]
    assert left(folder, own_word(key(gone)))
    result = await goodbot("forget", key(gone), "--in", folder)
    assert result.status == 0, result.err
    assert "10 documents removed" in result.out
    stayed = [url for url in before if url.startswith(other.origin)]
    assert (sorted(await hits(folder)), len(stayed)) == (sorted(stayed), 10)
    assert await found_by(folder, words) == [False, True]
    assert left(folder, own_word(key(gone))) == left(folder, gone.url("/")) == []
    done = await goodbot("index", "rebuild", "--in", folder)
    assert done.status == 0, done.err
    assert sorted(await hits(folder)) == sorted(stayed)
    assert await found_by(folder, words) == [False, True]
    assert not (folder / "index.new").exists()


async def test_also_if_the_old_index_was_that_of_another_crawl(tmp_path: Path, sites: list[WebServer]) -> None:
    """Its documents have URLs that this crawl does not know."""
    gone, other = sites
    another = await crawled(tmp_path / "another", *sites)
    folder = tmp_path / "crawl"
    few = await goodbot("crawl", gone.url("/"), "--into", folder, "--allow-private", "--max-pages", "2")
    assert few.status == 0, few.err
    shutil.rmtree(folder / "index")
    shutil.copytree(another / "index", folder / "index")
    await cut_rebuild(folder, late=False)
    assert await found_by(folder, [token(key(gone))]) == [True]
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    assert await found_by(folder, [token(key(gone)), token(key(other))]) == [False, True]
    assert left(folder, own_word(key(gone))) == []


def emptied(index: Path) -> None:
    shutil.rmtree(index)
    index.mkdir()


def torn(index: Path) -> None:
    for file in index.glob("*.store"):
        file.write_bytes(file.read_bytes()[:-9])


@pytest.mark.long
@pytest.mark.parametrize("damage", [shutil.rmtree, emptied, torn], ids=["removed", "emptied", "torn"])
async def test_an_old_index_that_cannot_be_read_goes_as_a_whole(
    tmp_path: Path, sites: list[WebServer], damage: Callable[[Path], None]
) -> None:
    gone, other = sites
    folder = await crawled(tmp_path / "crawl", *sites)
    await cut_rebuild(folder, late=True)
    damage(folder / "index")
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    assert left(folder, own_word(key(gone))) == []
    refused = await goodbot("search", "zebra", "--in", folder)
    assert (refused.status, "a rebuild was interrupted" in refused.complaint) == (3, True), refused
    assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
    assert await found_by(folder, [token(key(gone)), token(key(other))]) == [False, True]


async def test_a_crawl_goes_on_with_the_rebuild(tmp_path: Path, sites: list[WebServer]) -> None:
    gone, other = sites
    folder = await crawled(tmp_path / "crawl", *sites)
    await cut_rebuild(folder, late=False)
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    on = await goodbot("crawl", "--into", folder)
    assert on.status == 0, on.err
    assert "a rebuild of the search index was interrupted" in on.err
    assert await found_by(folder, [token(key(gone)), token(key(other))]) == [False, True]
