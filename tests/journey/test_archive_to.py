"""`goodbot crawl --archive-to`: the archive is moved to a place while it is written, and every command reads it
there."""

import asyncio
import gzip
import os
import random
import shutil
import signal
from base64 import b64encode
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from cluster.sites import sites_with_pages
from goodbot import crawl as library_crawl
from goodbot.config import Settings
from goodbot.places.opening import open_place
from goodbot.store.warc.cdxj import index_path
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_forget import holding, key, own_word, token
from journey.test_forget import pages as pages_in
from journey.test_kill import deserted, page_counts, visited
from journey.test_serve import ask, started
from webserver import Exchange, WebServer, answer

SMALL_FILES: Final = {"GOODBOT_WARC_SIZE": "1000000"}
PAGES: Final = 40


def noise(seed: str, size: int) -> str:
    """A comment that hardly compresses."""
    return f"<!-- {b64encode(random.Random(seed).randbytes(size)).decode()} -->"


async def bulky(exchange: Exchange) -> None:
    """Every page leads to two more, and has 200 kB; a million bytes of archive are a few pages."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\nDisallow: /private\n", headers=[("Content-Type", "text/plain")]))
        return
    number = int(exchange.target.strip("/") or 0)
    links = f'<a href="/{2 * number + 1}">a</a><a href="/{2 * number + 2}">b</a>'
    host = exchange.header("host") or ""
    text = f"<title>zebra {number}</title><p>zebra {token(host)} {links}{noise(f'{host} {number}', 150_000)}"
    await exchange.send(answer(text.encode()))


async def site(exchange: Exchange) -> None:
    """A site of `PAGES` pages of 80 kB."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\n", headers=[("Content-Type", "text/plain")]))
        return
    number = int(exchange.target.strip("/") or 0)
    links = "".join(f'<a href="/{(number * 3 + step) % PAGES}">{step}</a>' for step in (1, 2, 3))
    await exchange.send(answer(f"<title>page {number}</title>{links}{noise(str(number), 60_000)}".encode()))


async def crawl(folder: Path, *arguments: str | Path) -> Ended:
    done = await goodbot("crawl", *arguments, "--into", folder, "--allow-private", settings=SMALL_FILES)
    assert done.status == 0, done.err
    return done


def here(folder: Path) -> list[str]:
    return [path.name for path in (folder / "warc").glob("*.warc.gz")]


def there(place: Path) -> list[str]:
    return sorted(path.name for path in place.glob("*.warc.gz"))


@pytest.mark.long
async def test_a_crawl_whose_archive_is_moved(tmp_path: Path) -> None:
    folder, place = tmp_path / "crawl", tmp_path / "a place"
    url = f"file://{quote(str(place))}"
    async with WebServer(fallback=bulky) as gone, WebServer(fallback=bulky) as other:
        seeds = gone.url("/"), other.url("/")
        first = await crawl(folder, *seeds, "--host-pages", "15", "--archive-to", url)
        assert "moved" not in first.err
        assert here(folder) == []
        assert len(there(place)) > 3
        assert all(name.split("-")[3].startswith((folder / "writer").read_text().strip()) for name in there(place))
        assert len(list((folder / "warc").glob("*.moved"))) == len(there(place))
        visited_pages = await pages_in(folder)
        assert len(visited_pages) == 30
        whole = await start("export", "--in", folder, "--what", "warc")
        size = len((await whole.communicate())[0])
        assert (whole.returncode, size) == (0, sum(path.stat().st_size for path in place.glob("*.warc.gz")))
        check = await goodbot("archive", "check", "--in", folder, "--json")
        assert (check.status, check.json["files"], check.json["lost"]) == (0, len(there(place)), [])
        process, urls = await started("--in", folder)
        status, html = await ask(urls["url"], f"/cached/document?url={quote(visited_pages[3], safe='')}")
        process.terminate()
        await ended(process)
        assert (status, "zebra" in html) == (200, True)
        assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
        again = await crawl(folder, "--host-pages", "20")
        assert again.err == first.err
        assert here(folder) == []
        assert len(await pages_in(folder)) == 40
        forgotten = await goodbot("forget", key(gone), "--in", folder)
        assert (forgotten.status, here(folder)) == (0, [])
        export = await start("export", "--in", folder, "--what", "warc")
        out, _ = await export.communicate()
        kept = gzip.decompress(out)
        assert (export.returncode, gone.origin.encode() in kept, other.origin.encode() in kept) == (0, False, True)
        assert [file for file in [*place.glob("*.cdxj")] if gone.origin in file.read_text()] == []
        assert holding(folder, own_word(key(gone))) == []
        assert token(key(gone)) not in "".join((await goodbot("export", "--in", folder, "--what", "pages")).out)
        assert len(await pages_in(folder)) == 20
        assert (await goodbot("archive", "check", "--in", folder)).status == 0
        page = f'"{other.url("/12")}"'
        lost = next(name for name in there(place) if page in index_path(place / name).read_text())
        (place / lost).unlink()
        damaged = await goodbot("archive", "check", "--in", folder, "--json")
        assert (damaged.status, len(damaged.json["damaged"])) == (1, 1)
        assert f"{lost} is missing" in (await goodbot("archive", "check", "--in", folder)).out
        repaired = await goodbot("archive", "repair", "--in", folder)
        assert "to fetch again" in repaired.out
        await crawl(folder)
        assert len(await pages_in(folder)) == 20
        assert (await goodbot("archive", "check", "--in", folder)).status == 0


async def test_a_place_that_is_away_stops_no_crawl(tmp_path: Path) -> None:
    """Nothing listens at the port; then the folder's settings name another place."""
    folder = tmp_path / "crawl"
    async with WebServer(fallback=bulky) as server:
        away = "ftp://me:sesame@127.0.0.1:9/archive"
        first = await crawl(folder, server.url("/"), "--host-pages", "12", "--archive-to", away)
        assert "not moved yet (cannot reach ftp://me@127.0.0.1:9/archive" in first.err
        assert "sesame" not in first.err + first.out
        assert 'archive_to = "ftp://me@127.0.0.1:9/archive"' in (folder / "goodbot.toml").read_text()
        shown = await goodbot("config", "--in", folder, settings={"GOODBOT_ARCHIVE_TO": away})
        assert "sesame" not in shown.out + shown.err
        assert [path for path in folder.rglob("*") if path.is_file() and b"sesame" in path.read_bytes()] == []
        files = len(here(folder))
        assert files > 1
        second = await crawl(folder, "--archive-to", f"file://{tmp_path}/place")
        assert "not moved" not in second.err
        assert (here(folder), len(there(tmp_path / "place"))) == ([], files)
        assert len(await pages_in(folder)) == 12


async def test_ctrl_c_leaves_the_rest(tmp_path: Path) -> None:
    folder, place = tmp_path / "crawl", tmp_path / "place"
    async with WebServer(fallback=bulky) as server:
        arguments = server.url("/"), "--into", folder, "--allow-private", "--archive-to", f"file://{place}"
        process = await start("crawl", *arguments)
        await server.received(5)
        process.send_signal(signal.SIGINT)
        stopped = await ended(process)
        assert stopped.status == 130
        assert "1 WARC file not moved yet: the next crawl moves it" in stopped.err
        assert len(here(folder)) == 1
        more = await goodbot("crawl", "--into", folder, "--max-pages", "1")
        assert more.status == 0, more.err
    assert (here(folder), len(there(place))) == ([], 2)


@pytest.mark.long
@pytest.mark.parametrize("kills", [6])
async def test_kills_lose_nothing(tmp_path: Path, kills: int) -> None:
    """What was flushed is in the folder or at the place, whenever the kill comes."""
    folder, place, times = tmp_path / "crawl", tmp_path / "place", random.Random(0)
    servers = [WebServer(fallback=site) for _ in range(3)]
    for server in servers:
        await server.__aenter__()
    seeds = [server.url("/") for server in servers]
    options = "--into", folder, "--allow-private", "--workers", "1", "--archive-to", f"file://{place}"
    for _ in range(kills):
        process = await start("crawl", *seeds, *options, group=True, settings=SMALL_FILES)
        await asyncio.sleep(times.uniform(0.3, 1.5))
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await deserted(servers)
    done = await goodbot("crawl", *seeds, *options, settings=SMALL_FILES)
    assert done.status == 0, done.err
    counts = page_counts(servers)
    known = await visited(folder)
    for server in servers:
        await server.__aexit__(None, None, None)
    assert here(folder) == []
    assert known == set(counts)
    assert set(await pages_in(folder)) == known
    check = await goodbot("archive", "check", "--in", folder, "--json")
    assert (check.status, check.json["damaged"], check.json["lost"]) == (0, [], [])
    names = Counter(path.name.partition(".")[0] for path in place.iterdir())
    assert set(names.values()) == {2}, "each file with its index, and nothing else"


BAD = {
    "bucket/folder": "--archive-to: it must be a URL of fsspec",
    "nonsense://bucket": "--archive-to: cannot use nonsense://bucket: Protocol not known",
    "hdfs:///archive": "--archive-to: cannot use hdfs:///archive",
    "https://example.org/": "--archive-to: a Web server cannot be written to",
    "memory://archive": "--archive-to: what is moved into memory is lost",
    "ftp://me:ses/ame@host/archive": "--archive-to: a password in the URL cannot contain /",
    "file://relative/folder": "--archive-to: the URL of a folder must be file:///ABSOLUTE/PATH",
    "file://": "--archive-to: the URL of a folder must be file:///ABSOLUTE/PATH",
    "local://relative/folder": "--archive-to: the URL of a folder must be local:///ABSOLUTE/PATH",
    "file:///archive#1": "--archive-to: in the URL of a folder, ? is written %3F",
}


@pytest.mark.parametrize(("url", "reason"), BAD.items())
async def test_a_place_that_cannot_be_used(url: str, reason: str, tmp_path: Path) -> None:
    async with WebServer(fallback=bulky) as server:
        arguments = server.url("/"), "--into", tmp_path / "crawl", "--allow-private", "--archive-to", url
        refused = await goodbot("crawl", *arguments)
        assert (refused.status, server.targets) == (2, [])
    assert reason in refused.complaint
    assert "ame@" not in refused.err
    assert not (tmp_path / "crawl").exists()


OWN = [
    "file://{}/crawl",
    "file://{}/crawl/warc",
    "file://{}/other/../crawl/warc/",
    "local://{}/crawl/warc",
    "simplecache::file://{}/crawl/warc",
    "file://{}/link/warc",
]
OTHERS = [
    "file://{}/crawl/index/deeper",
    "file://{}/elsewhere",
    "file://{}/elsewhere/deeper",
    "file://{}/other/warc",
    "file://{}/imported/archive",
    "file://{}/machine/warc",
]


@pytest.mark.long
async def test_a_place_in_the_folder_of_a_crawl(tmp_path: Path) -> None:
    """Of the same crawl, or another, also behind links and if an archive is kept elsewhere by a link. Nothing is
    fetched, moved or saved."""
    folder = tmp_path / "crawl"
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "documents.jsonl").write_text('{"id": "1", "url": "https://example.org/", "title": "a", "text": "b"}\n')
    async with WebServer(fallback=bulky) as server:
        first = server.url("/"), "--into", folder, "--allow-private", "--max-pages", "1"
        for url in (*OWN, "file://{}/crawl/warc/../warc"):
            refused = await goodbot("crawl", *first, "--archive-to", url.format(tmp_path))
            assert (refused.status, server.targets) == (2, []), url
            assert not folder.exists()
        await crawl(folder, *first[:1], "--max-pages", "1")
        await crawl(tmp_path / "other", *first[:1], "--max-pages", "1")
        imported = await goodbot("index", "import", tmp_path / "documents.jsonl", "--into", tmp_path / "imported")
        assert imported.status == 0, imported.err
        for name, files_there in (("machine", ("goodbot.toml", "writer")), ("several", ("goodbot.toml",))):
            (tmp_path / name).mkdir()
            for file in files_there:  # the frontier of the first is in a database; the second has no crawl
                (tmp_path / name / file).touch()
        (folder / "warc").rename(tmp_path / "elsewhere")
        (folder / "warc").symlink_to(tmp_path / "elsewhere")
        files, asked = here(folder), len(server.targets)
        assert files != []
        for url in OWN + OTHERS:
            refused = await goodbot("crawl", *first, "--archive-to", url.format(tmp_path))
            assert (refused.status, len(refused.err.splitlines())) == (2, 1), url
            assert "the folder of a crawl or an index: use another URL" in refused.complaint
        settings = folder / "goodbot.toml"
        settings.write_text(f'{settings.read_text()}\narchive_to = "file://{folder}/warc"\n')
        refused = await goodbot("crawl", *first)
        assert (refused.status, "goodbot.toml" in refused.complaint) == (2, True)
        assert (here(folder), len(server.targets)) == (files, asked)
        await crawl(folder, "--archive-to", f"file://{tmp_path}/several/place", "--max-pages", "2")
        assert here(folder) == []


async def test_it_needs_an_archive(tmp_path: Path) -> None:
    arguments = "http://127.0.0.1:9/", "--into", tmp_path / "crawl", "--allow-private", "--no-archive"
    refused = await goodbot("crawl", *arguments, "--archive-to", f"file://{tmp_path}/place")
    assert refused.status == 2
    assert "--archive-to moves the archive, and --no-archive keeps none" in refused.complaint


@pytest.mark.long
async def test_two_machines_move_to_one_place(tmp_path: Path, postgres_dsn: str) -> None:
    folders, place = [tmp_path / name for name in "ab"], tmp_path / "place"
    async with sites_with_pages(8, 12, tmp_path) as sites:
        seeds = [sites.start_page(number) for number in range(8)]
        own = "--frontier", postgres_dsn, "--archive-to", f"file://{place}"
        options = "--allow-private", "--scope", "all", "--delay", "0.1", "--workers", "1"
        first = await start("crawl", *seeds, "--into", folders[0], *own, *options)
        await sites.has_had(8)
        second = await start("crawl", "--into", folders[1], *own)
        results = [await ended(first), await ended(second)]
    assert [result.status for result in results] == [0, 0], results
    writers = {(folder / "writer").read_text().strip() for folder in folders}
    assert {name.removesuffix(".warc.gz").rpartition("-")[2] for name in there(place)} == writers
    assert [here(folder) for folder in folders] == [[], []]
    listed = sum(len(list((folder / "warc").glob("*.moved"))) for folder in folders)
    assert listed == len(there(place)) == len(open_place(f"file://{place}").list("")) // 2
    exported: list[str] = []
    for folder in folders:
        repaired = await goodbot("archive", "repair", "--in", folder)
        assert (repaired.status, "sound" in repaired.out) == (0, True), "what others have is not lost"
        exported += await pages_in(folder)
    assert len(exported) == len(set(exported)) == 8 * 12
    shutil.rmtree(place)
    unmounted = await goodbot("archive", "check", "--in", folders[0])
    assert (unmounted.status, "is it mounted?" in unmounted.complaint) == (3, True)


@pytest.mark.parametrize("stored", [True, False])
async def test_a_program_that_reads_the_pages(tmp_path: Path, stored: bool) -> None:
    """A crawl in memory keeps no archive, so nothing is moved."""
    into = tmp_path / "crawl" if stored else None
    async with WebServer(fallback=bulky) as server:
        settings = Settings(allow_private=True, host_pages=6, archive_to=f"file://{tmp_path}/place")
        async with aclosing(library_crawl(server.url("/"), into=into, settings=settings)) as found:
            urls = [str(page.url) async for page in found]
    assert len(urls) == 6
    assert len(there(tmp_path / "place")) == stored
    if into is not None:
        assert here(into) == []
        assert sorted(await pages_in(into)) == sorted(urls)
