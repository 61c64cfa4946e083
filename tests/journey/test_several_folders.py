"""Several crawls searched as one, by the commands and by the server."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from goodbot.crawl_folder import open_search
from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url
from goodbot.visitor_values import Removal
from journey.goodbot_process import ended, goodbot, start
from web.library import Visitor
from webserver import WebServer, answer

CLOCKS = {"/": answer(b"<title>Clocks</title><p>Old clocks are wound weekly. <a href=/care>care</a>")}
CARE = {
    "/": answer(b"<title>Oil</title><p>Clocks need oil. <a href=/rust>rust</a>"),
    "/rust": answer(b"<title>Rust</title><p>Clocks in cellars rust."),
}


@pytest.fixture
async def crawls(tmp_path: Path) -> AsyncIterator[tuple[Path, Path, str]]:
    """Two finished crawls, and the URL of the site of the second."""
    async with WebServer(CLOCKS) as first, WebServer(CARE) as second:
        for site, name in ((first, "one"), (second, "two")):
            done = await goodbot("crawl", site.url(), "--into", tmp_path / name, "--allow-private", "--delay", "0")
            assert done.status == 0, done.err
        yield tmp_path / "one", tmp_path / "two", second.url("/")


async def titles(*folders: Path) -> list[str]:
    arguments = [text for folder in folders for text in ("--in", folder)]
    done = await goodbot("search", "clocks", *arguments, "--json")
    assert done.status == 0, done.err
    return sorted(hit["title"] for hit in json.loads(done.out)["hits"])


async def test_the_commands(crawls: tuple[Path, Path, str]) -> None:
    one, two, _ = crawls
    assert await titles(one) == ["Clocks"]
    assert await titles(one, two) == ["Clocks", "Oil", "Rust"]
    done = await goodbot("index", "refresh", "--in", one, "--in", two, "--json")
    assert json.loads(done.out) == {"done": True, "documents": 3}
    assert await titles(two, one) == ["Clocks", "Oil", "Rust"]


@pytest.mark.parametrize("command", [("search", "x"), ("serve",), ("index", "refresh")])
async def test_folders_that_cannot_be_joined(
    crawls: tuple[Path, Path, str], tmp_path: Path, command: tuple[str]
) -> None:
    one, two, _ = crawls
    (tmp_path / "alias").symlink_to(one)
    shutil.copytree(one, tmp_path / "copy")
    (tmp_path / "empty").mkdir()
    for other, message in (
        (one, "one is given twice"),
        (tmp_path / "alias", "is the same folder as"),
        (tmp_path / "copy", "have the same index: give it once"),
        (tmp_path / "empty", "no crawl in"),
        (tmp_path / "nothing", "no such folder"),
    ):
        done = await goodbot(*command, "--in", one, "--in", two, "--in", other)
        assert (done.status, message in done.err, done.err.count("\n")) == (2, True, 1), done.err


async def test_the_server(crawls: tuple[Path, Path, str]) -> None:
    one, two, site = crawls
    process = await start("serve", "--in", one, "--in", two, "--port", "0", "--json")
    assert process.stdout is not None
    home = json.loads(await process.stdout.readline())["url"]

    async def ask(path: str) -> tuple[int, str]:
        found = await asyncio.to_thread(Visitor(home).ask, path)
        return found.status, found.text

    rust = quote(f"{site}rust", safe="")
    try:
        found = json.loads((await ask("/api/search?q=clocks"))[1])
        assert sorted(hit["title"] for hit in found["hits"]) == ["Clocks", "Oil", "Rust"]
        status, page = await ask(f"/cached?url={rust}")
        assert (status, "Rust" in page) == (200, True)
        assert json.loads((await ask(f"/api/why?url={rust}"))[1])["state"] == "visited"
        RemovalFile(two).add(Removal("1", 1.0, "token file", "", Url(f"{site}rust")))
        found = json.loads((await ask("/api/search?q=clocks"))[1])
        assert sorted(hit["title"] for hit in found["hits"]) == ["Clocks", "Oil"]
        assert (await ask(f"/cached?url={rust}"))[0] == 404
    finally:
        process.terminate()
        assert (await ended(process)).status == 0


async def test_synonyms_of_all_folders_apply(crawls: tuple[Path, Path, str]) -> None:
    one, two, _ = crawls
    (two / "synonyms.txt").write_text("timepiece, clock\n")
    (one / "synonyms.txt").write_text("lubricant, oil\n")
    search = open_search([one, two])
    assert search.search("timepiece").total == 3
    assert [hit.title for hit in search.search("lubricant").hits] == ["Oil"]


async def snapshot(crawl: Path, to: Path) -> None:
    done = await goodbot("index", "snapshot", "--in", crawl, "--to", to)
    assert done.status == 0, done.err


async def test_a_server_follows_the_snapshots_of_both(crawls: tuple[Path, Path, str], tmp_path: Path) -> None:
    one, two, site = crawls
    RemovalFile(two).add(Removal("1", 1.0, "token file", "", Url(f"{site}rust")))
    await snapshot(one, tmp_path / "first")
    await snapshot(two, tmp_path / "second")
    both: list[str | Path] = [
        "--follow",
        tmp_path / "first",
        "--follow",
        tmp_path / "second",
        "--into",
        tmp_path / "copies",
    ]
    process = await start("serve", *both, "--follow-every", "1s", "--port", "0", "--json")
    assert process.stdout is not None
    home = json.loads(await process.stdout.readline())["url"]

    async def find(*titles: str) -> None:
        """Waits until these pages are found, and no others."""
        found: list[str] = []
        while found != [*titles]:
            answer = await asyncio.to_thread(Visitor(home).ask, "/api/search?q=clocks")
            found = sorted(hit["title"] for hit in json.loads(answer.text).get("hits", ()))
            await asyncio.sleep(0.1)

    try:
        async with asyncio.timeout(30):
            await find("Clocks", "Oil")
            RemovalFile(two).drop({"1"})
            await snapshot(two, tmp_path / "second")
            await find("Clocks", "Oil", "Rust")
        health = json.loads((await asyncio.to_thread(Visitor(home).ask, "/healthz")).text)
        assert health["documents"] == 3
        assert len(health["copy"]["version"].split("+")) == 2
    finally:
        process.terminate()
        assert (await ended(process)).status == 0


async def test_snapshots_that_cannot_be_followed_together(crawls: tuple[Path, Path, str], tmp_path: Path) -> None:
    one, _, _ = crawls
    await snapshot(one, tmp_path / "first")
    await snapshot(one, tmp_path / "again")
    for other, message in (("first", "is given twice"), ("again", "have the same index: give it once")):
        both: list[str | Path] = [
            "--follow",
            tmp_path / "first",
            "--follow",
            tmp_path / other,
            "--into",
            tmp_path / other / ".copies",
        ]
        done = await goodbot("serve", *both, "--port", "0")
        assert (done.status, message in done.err) == (2, True), done.err
