"""Tests that a crawl is the same after it was moved from one machine to a store and back."""

from pathlib import Path

import pytest

from cluster.sites import sites_with_pages
from goodbot.cluster.spark.crawl_export import hosts_of, urls_of
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.table_version import load_current
from goodbot.config import Settings
from goodbot.crawl_transfer import check_source, export_to_folder, import_folder
from goodbot.errors import InputError
from goodbot.store.sqlite.crawl_dump import CrawlDump
from journey.goodbot_process import goodbot
from journey.test_kill import check_archive

SITES, PAGES = 3, 6


async def crawl(folder: Path, tmp_path: Path, *options: str) -> None:
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        done = await goodbot(
            "crawl", sites.start_page(0), "--into", folder, "--allow-private", "--scope", "all", *options
        )
        assert done.status == 0, done.err


async def test_a_crawl_is_the_same_after_it_was_moved_to_a_store_and_back(tmp_path: Path) -> None:
    one, back, store = tmp_path / "one", tmp_path / "back", tmp_path / "store"
    await crawl(one, tmp_path, "--max-pages", "10")
    files = open_files(str(store))
    folder = check_source(one)
    done = import_folder(files, folder, folder.settings(Settings()), parts=4)
    current = load_current(files)
    assert current is not None
    assert (done.documents, done.again, done.hosts) == (10, 0, SITES)
    with CrawlDump.open(folder.frontier) as dump:
        assert sorted(urls_of(files, current.version)) == sorted(dump.urls())
        assert sorted(hosts_of(files, current.version)) == sorted(dump.hosts())
        assert current.version.bytes == dump.size_bytes
    assert current.version.status().pages == 10
    exported = export_to_folder(files, current.version, back)
    assert (exported.urls, exported.hosts) == (done.urls, done.hosts)
    with CrawlDump.open(folder.frontier) as first, CrawlDump.open(back / "frontier.sqlite") as second:
        assert list(first.urls()) == list(second.urls())
        assert list(first.hosts()) == list(second.hosts())
    assert check_archive(back) == check_archive(one)
    found = await goodbot("export", "--in", back, "--what", "pages")
    assert len(found.lines) == 10


async def test_the_crawl_that_was_brought_back_goes_on(tmp_path: Path) -> None:
    one, back, store = tmp_path / "one", tmp_path / "back", tmp_path / "store"
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        options = ("--allow-private", "--scope", "all")
        await goodbot("crawl", sites.start_page(0), "--into", one, "--max-pages", "5", *options)
        files, folder = open_files(str(store)), check_source(one)
        import_folder(files, folder, folder.settings(Settings()), parts=2)
        exported = await goodbot("cluster", "export", "--store", store, "--into", back)
        assert (exported.status, exported.err) == (0, "")
        assert f"goodbot crawl --into {back} goes on" in exported.out
        rest = await goodbot("crawl", "--into", back)
        assert rest.status == 0, rest.err
        pages = [(request.site, request.path) for request in sites.requests if request.path != "/robots.txt"]
        assert (len(pages), len({*pages})) == (SITES * PAGES, SITES * PAGES)
    found = await goodbot("search", "page", "--in", back, "--json")
    assert found.json["total"] == SITES * PAGES


@pytest.mark.long
async def test_what_is_left_of_a_damaged_archive_is_brought_back(tmp_path: Path) -> None:
    one, back, store = tmp_path / "one", tmp_path / "back", tmp_path / "store"
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        options = ("--allow-private", "--scope", "all")
        await goodbot("crawl", sites.start_page(0), "--into", one, "--max-pages", "5", *options)
        await goodbot("crawl", "--into", one, "--max-pages", "5")
        files, folder = open_files(str(store)), check_source(one)
        import_folder(files, folder, folder.settings(Settings()), parts=2)
        short, missing = sorted((store / "warc" / "00000000").glob("*.warc.gz"))
        size = short.stat().st_size
        with short.open("r+b") as file:
            file.truncate(size - 10)
        missing.unlink()

        exported = await goodbot("cluster", "export", "--store", store, "--into", back, "--json")
        said = [f"{short} is damaged: it has {size - 10:,} bytes instead of {size:,}", f"{missing} is missing"]
        assert (exported.status, exported.json["damaged"]) == (1, said)
        assert exported.err.splitlines() == [f"goodbot: {line}" for line in said]

        repaired = await goodbot("archive", "repair", "--in", back)
        assert repaired.status == 0, repaired.err
        rest = await goodbot("crawl", "--into", back)
        assert rest.status == 0, rest.err
    found = await goodbot("search", "page", "--in", back, "--json")
    assert found.json["total"] == SITES * PAGES
    assert (await goodbot("archive", "check", "--in", back)).status == 0


async def test_pages_that_the_archive_does_not_have_are_requested_again(tmp_path: Path) -> None:
    one = tmp_path / "one"
    await crawl(one, tmp_path, "--no-archive")
    files, folder = open_files(str(tmp_path / "store")), check_source(one)
    done = import_folder(files, folder, folder.settings(Settings()), parts=2)
    current = load_current(files)
    assert current is not None
    assert (done.documents, done.again) == (0, SITES * PAGES)
    assert current.version.status().states["ready"] == SITES * PAGES
    assert all(host.pages == 0 for host in hosts_of(files, current.version))


async def test_a_folder_with_a_crawl_is_not_written_to(tmp_path: Path) -> None:
    one = tmp_path / "one"
    await crawl(one, tmp_path, "--max-pages", "1")
    files, folder = open_files(str(tmp_path / "store")), check_source(one)
    import_folder(files, folder, folder.settings(Settings()), parts=1)
    refused = await goodbot("cluster", "export", "--store", tmp_path / "store", "--into", one)
    assert (refused.status, "choose another folder" in refused.complaint) == (2, True)
    again = await goodbot("cluster", "cycle", "--store", tmp_path / "store", "--import", one)
    assert (again.status, "use another store" in again.complaint) == (2, True)
    nothing = await goodbot("cluster", "cycle", "--store", tmp_path / "new", "--import", tmp_path / "nothing")
    assert (nothing.status, "no such folder" in nothing.complaint) == (2, True)


def test_a_crawl_in_a_database_cannot_be_moved(tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text('frontier = "postgresql://db.example/crawl"\n')
    with pytest.raises(InputError, match="is in a database"):
        check_source(tmp_path)
