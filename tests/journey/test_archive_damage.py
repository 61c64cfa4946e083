"""An archive is damaged after the crawl: what can be read is exported, the crawl says what is wrong, and a repair has
the pages that were lost fetched again."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import RecordRef
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_forget import endless
from webserver import Exchange, WebServer, answer

PAGES = 40


async def site(exchange: Exchange) -> None:
    """Forty pages of text that hardly packs; each leads to all."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"", headers=[("Content-Type", "text/plain")]))
        return
    number = int(exchange.target.strip("/") or 0)
    noise = Random(number).randbytes(2000).hex()
    links = " ".join(f'<a href="/{other}">{other}</a>' for other in range(1, PAGES))
    await exchange.send(answer(f"<title>Page {number}</title><p>zebra {noise} {links}".encode()))


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(fallback=site) as started:
        yield started


@pytest.fixture
async def folder(tmp_path: Path, server: WebServer) -> Path:
    """A crawl that has ended."""
    made = tmp_path / "crawl"
    result = await goodbot("crawl", server.url("/"), "--into", made, "--allow-private")
    assert result.status == 0, result.err
    return made


def warc(folder: Path) -> Path:
    (path,) = (folder / "warc").glob("*.warc.gz")
    return path


def overwrite(folder: Path, *, silently: bool = False) -> None:
    path = warc(folder)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(3000))
    if silently:
        os.utime(path, ns=times)


def halve(folder: Path) -> None:
    os.truncate(warc(folder), warc(folder).stat().st_size // 2)


async def exported(folder: Path, what: str = "pages") -> Ended:
    return await goodbot("export", "--in", folder, "--what", what)


@pytest.mark.parametrize("silently", [True, False])
async def test_what_can_be_read_is_exported_and_what_is_lost_is_fetched_again(
    folder: Path, server: WebServer, silently: bool
) -> None:
    overwrite(folder, silently=silently)
    pages = await exported(folder)
    assert (pages.status, 0 < PAGES - len(pages.lines) < 4) == (3, True)
    assert "goodbot archive repair --in" in pages.complaint
    file = folder / "pages.jsonl"
    file.write_text("old")
    written = await goodbot("export", "--in", folder, "--what", "pages", "-o", file)
    assert (written.status, file.read_text()) == (3, pages.out)
    lost = {server.url(f"/{number or ''}") for number in range(PAGES)} - {line["url"] for line in pages.lines}
    links = await exported(folder, "links")
    assert (links.status, len({line["source"] for line in links.lines})) == (3, len(pages.lines))
    check = await goodbot("archive", "check", "--in", folder, "--json")
    found = check.json
    assert (check.status, found["sound"]) == (1, False)
    assert {item["url"] for item in found["lost"]} == lost
    assert {item["state"] for item in found["lost"]} == {"visited"}
    assert found["captures"] + found["lost_captures"] == PAGES + 1, "and robots.txt"
    (gap,) = found["damaged"]
    assert gap["bytes"] == gap["to"] - gap["from"] > 2000
    text = await goodbot("archive", "check", "--in", folder)
    assert (text.status, all(url in text.out for url in lost)) == (1, True)
    asked = len(server.exchanges)
    again = await goodbot("crawl", "--into", folder)
    assert (again.status, "the archive is damaged" in again.err) == (0, not silently), again.err
    assert len(server.exchanges) == asked, "only a repair puts pages back"
    repair = await goodbot("archive", "repair", "--in", folder, "--json")
    assert (repair.status, repair.json["done"], repair.json["ready"]) == (0, True, len(lost))
    assert (await goodbot("archive", "check", "--in", folder)).status == 0
    assert (await goodbot("archive", "repair", "--in", folder, "--json")).json["ready"] == 0
    more = await goodbot("crawl", "--into", folder)
    assert (more.status, more.err) == (0, "")
    assert {server.url(target) for target in server.targets[asked:]} - {server.url("/robots.txt")} == lost
    whole = await exported(folder)
    assert (whole.status, whole.err, len(whole.lines)) == (0, "", PAGES)
    assert (await goodbot("archive", "check", "--in", folder, "--json")).json["sound"]


async def test_one_file_of_all_leaves_out_what_is_damaged(folder: Path) -> None:
    overwrite(folder)
    process = await start("export", "--in", folder, "--what", "warc")
    out, err = await process.communicate()
    assert (process.returncode, b"the archive is damaged" in err) == (3, True)
    assert 0 < warc(folder).stat().st_size - len(out) < 20_000


async def test_a_file_cut_in_half_is_noticed_and_its_pages_come_back(folder: Path, server: WebServer) -> None:
    halve(folder)
    half = warc(folder).stat().st_size
    for _ in range(2):
        again = await goodbot("crawl", "--into", folder)
        assert (again.status, "the archive is damaged" in again.err) == (0, True)
        assert warc(folder).stat().st_size == half
    text = (await goodbot("archive", "check", "--in", folder)).out
    assert f"{warc(folder).name}: the file ends at byte {half}; bytes " in text
    said = await goodbot("archive", "repair", "--in", shutil.copytree(folder, folder.with_name("copy")))
    assert said.out.splitlines()[1].startswith("repaired the archive in ")
    assert said.out.splitlines()[-1].endswith(f" to fetch again: goodbot crawl --into {folder.with_name('copy')}")
    repair = await goodbot("archive", "repair", "--in", folder, "--json")
    assert repair.json["ready"] > PAGES / 4
    assert (await goodbot("crawl", "--into", folder)).err == ""
    assert len((await exported(folder)).lines) == PAGES
    assert (await goodbot("archive", "check", "--in", folder)).status == 0


async def test_a_file_that_is_gone_is_noticed_and_its_pages_come_back(folder: Path) -> None:
    warc(folder).unlink()
    again = await goodbot("crawl", "--into", folder)
    assert (again.status, "the archive is damaged" in again.err) == (0, True)
    assert (await goodbot("archive", "repair", "--in", folder, "--json")).json["ready"] == PAGES
    assert (await goodbot("crawl", "--into", folder)).err == ""
    assert len((await exported(folder)).lines) == PAGES


async def test_a_folder_that_is_gone_is_no_crawl_without_archive(folder: Path, server: WebServer) -> None:
    shutil.rmtree(folder / "warc")
    urls = {server.url(f"/{number or ''}") for number in range(PAGES)}
    pages = await exported(folder)
    assert (pages.status, pages.out) == (3, "")
    assert "the archive is damaged" in pages.complaint
    assert f"{folder / 'warc'} is missing" in pages.complaint
    assert f"goodbot archive repair --in {folder}" in pages.complaint
    whole = await exported(folder, "warc")
    assert (whole.status, whole.out) == (3, "")
    assert ".warc.gz is missing" in whole.complaint
    check = await goodbot("archive", "check", "--in", folder, "--json")
    assert (check.status, check.json["sound"]) == (1, False)
    assert {item["url"] for item in check.json["lost"] if item["state"] == "visited"} == urls
    assert not (folder / "warc").exists(), "a check changes nothing"
    text = await goodbot("archive", "check", "--in", folder)
    assert f"{folder / 'warc'} is missing\n" in text.out
    repair = await goodbot("archive", "repair", "--in", folder, "--json")
    assert (repair.status, repair.json["ready"]) == (0, PAGES)
    assert (await goodbot("archive", "check", "--in", folder)).status == 0
    assert (await goodbot("crawl", "--into", folder)).err == ""
    assert {line["url"] for line in (await exported(folder)).lines} == urls


async def test_one_file_of_all_says_that_a_file_is_gone(folder: Path, server: WebServer) -> None:
    async with WebServer(fallback=site) as other:
        more = await goodbot("crawl", other.url("/"), "--into", folder, "--allow-private")
        assert more.status == 0, more.err
    first, second = sorted((folder / "warc").glob("*.warc.gz"))
    kept = second.read_bytes()
    first.unlink()
    process = await start("export", "--in", folder, "--what", "warc")
    out, err = await process.communicate()
    assert (process.returncode, out) == (3, kept)
    assert f"the archive is damaged: {first.name} is missing; see".encode() in err


async def test_records_of_a_crawl_that_goes_on_without_archive_are_read(folder: Path, server: WebServer) -> None:
    shutil.rmtree(folder / "index")
    asked = len(server.exchanges)
    on = await goodbot("crawl", "--into", folder, "--no-archive")
    assert (on.status, len(server.exchanges)) == (0, asked), on.err
    assert (await goodbot("search", "zebra", "--in", folder, "--json")).json["total"] == PAGES
    shutil.rmtree(folder / "index")
    shutil.rmtree(folder / "warc")
    again = await goodbot("index", "rebuild", "--in", folder, "--json")
    assert (again.status, again.json["requeued_why"]["damaged"]) == (0, PAGES), again.err


@pytest.mark.parametrize("damage", [overwrite, halve])
async def test_forgetting_a_host_is_never_blocked(folder: Path, server: WebServer, damage: object) -> None:
    assert callable(damage)
    host = server.origin.removeprefix("http://")
    damage(folder)
    result = await goodbot("forget", host, "--in", folder, "--json")
    assert (result.status, result.json["done"], result.json["damaged_bytes"] > 0) == (0, True, True), result.err
    assert "were lost" in result.err or "lost pages" in result.err
    assert (await exported(folder)).lines == []
    async with WebServer(fallback=site) as other:
        more = await goodbot("crawl", other.url("/"), "--into", folder, "--allow-private")
        assert more.status == 0, more.err
        assert len((await exported(folder)).lines) == PAGES


async def test_a_host_whose_removal_was_cut_off_does_not_block_the_next_crawl(folder: Path, server: WebServer) -> None:
    overwrite(folder)
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        frontier.bar_host(server.origin.removeprefix("http://"))
    async with WebServer(fallback=site) as other:
        more = await goodbot("crawl", other.url("/"), "--into", folder, "--allow-private")
        assert more.status == 0, more.err
        assert len((await exported(folder)).lines) == PAGES


async def test_a_page_to_be_indexed_whose_record_is_damaged_does_not_block_the_next_crawl(
    folder: Path, server: WebServer
) -> None:
    page = Url(server.url("/3"))
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        record = frontier.record(page)
        assert record is not None
        assert record.record is not None
        place = record.record
        frontier._db.execute(
            "INSERT INTO to_index SELECT urls.host, urls.hash, file, offset FROM urls JOIN visits USING (seq)"
            " WHERE file = ? AND offset = ?",
            (place.file, place.offset),
        )
    with warc(folder).open("r+b") as file:
        file.seek(place.offset + 200)
        file.write(bytes(1000))
    asked = len(server.exchanges)
    again = await goodbot("crawl", "--into", folder)
    assert again.status == 0, again.err
    assert "/3" in server.targets[asked:]
    with SqliteFrontier.open(folder / "frontier.sqlite", read_only=True) as frontier:
        now = frontier.record(page)
        assert now is not None
        assert isinstance(now.record, RecordRef)
        assert now.record != place


async def test_beside_a_crawl_that_runs(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    async with WebServer(fallback=endless) as server:
        process = await start("crawl", server.url("/"), "--into", folder, "--allow-private")
        async with asyncio.timeout(60):
            await server.received(30)
        check = await goodbot("archive", "check", "--in", folder, "--json")
        assert (check.status, check.json["lost"]) == (0, []), check
        repair = await goodbot("archive", "repair", "--in", folder)
        assert (repair.status, repair.out) == (3, "")
        assert "another crawl or command is using" in repair.complaint
        await goodbot("stop", "--in", folder)
        await ended(process)
    assert (await goodbot("archive", "check", "--in", folder)).status == 0


async def test_where_there_is_no_archive(tmp_path: Path, server: WebServer) -> None:
    folder = tmp_path / "crawl"
    await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--no-archive", "--max-pages", "2")
    for place, word in ((folder, "--no-archive"), (tmp_path, "no crawl in"), (tmp_path / "none", "no such folder")):
        for what in ("check", "repair"):
            result = await goodbot("archive", what, "--in", place, "--json")
            assert (result.status, result.out) == (2, "")
            assert word in result.complaint


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_body_as_large_as_the_settings_allow_is_kept(tmp_path: Path, workers: str) -> None:
    folder, body = tmp_path / "crawl", os.urandom(1024 * 1024) * 70
    large = answer(body, headers=[("Content-Type", "application/octet-stream")])
    routes = {"/": answer(b'<a href="/large">x</a>'), "/large": large}
    async with WebServer(routes) as server, WebServer(routes) as other:
        options = ("--allow-private", "--max-size", "100M", "--workers", workers)
        result = await goodbot("crawl", server.url("/"), other.url("/"), "--into", folder, *options)
    assert result.status == 0, result.err
    check = await goodbot("archive", "check", "--in", folder, "--json")
    assert (check.status, check.json["captures"]) == (0, 6)
    found = [line["state"] for line in (await exported(folder, "urls")).lines if line["url"].endswith("/large")]
    assert found == ["visited", "visited"]
