"""`goodbot serve` as an operator starts it: what it prints, when it is ready, and that its help names every path."""

import asyncio
import json
import re
import shutil
import signal
import socket
import sqlite3
from pathlib import Path

import pytest
from starlette.routing import Mount

from goodbot.cli import serve
from goodbot.config import Settings
from goodbot.serve_settings import ServeSettings
from goodbot.web import create_app
from journey.goodbot_process import ended, goodbot, start
from web.library import Visitor
from web.watch_study import Followed
from webserver import Exchange, WebServer, answer

PAGES = {"/": answer(b"<title>Clocks</title><p>Old clocks are wound weekly. <a href=/care>care</a>")}


@pytest.fixture
async def crawl(tmp_path: Path) -> Path:
    """A finished crawl of one page."""
    async with WebServer(PAGES) as site:
        done = await goodbot("crawl", site.url(), "--into", tmp_path / "crawl", "--allow-private")
    assert done.status == 0, done.err
    return tmp_path / "crawl"


async def started(*arguments: str | Path, **settings: str) -> tuple[asyncio.subprocess.Process, dict[str, str]]:
    """Starts `goodbot serve --json`, and returns what it prints once it answers."""
    process = await start("serve", *arguments, "--port", "0", "--json", settings=settings)
    assert process.stdout is not None
    line = await process.stdout.readline()
    assert line, (await ended(process)).err
    return process, json.loads(line)


async def ask(url: str, path: str) -> tuple[int, str]:
    found = await asyncio.to_thread(Visitor(url).ask, path)
    return found.status, found.text


# ---- the help -------------------------------------------------------------------------------------------------------

WITHOUT_LINE = {"/cached/document", "/check/report", "/crawl/{order}", "/favicon.ico", "/robots/{name}", "/static"}
"""Paths that only pages use."""


async def test_the_help_names_every_path_and_no_other(crawl: Path) -> None:
    opened = serve.open_crawl(crawl, Settings())
    site = serve.site_of(ServeSettings(), Settings())
    app = create_app(opened.search, site, opened.crawl, None, None, opened.visitors, logs=Followed())
    paths = {route.path for route in app.routes if hasattr(route, "path")}
    assert any(isinstance(route, Mount) for route in app.routes)
    text = (await goodbot("serve", "--help")).out
    named = set(re.findall(r"(?<![\w/:.*])/[\w./*-]*", text.partition("Exit status")[0]))
    operators = {path for path in paths if path.startswith("/crawl/")}
    assert paths - operators - WITHOUT_LINE - named == set()
    assert named - paths == {"/.well-known/http-message-signatures-directory"}


# ---- what it prints -------------------------------------------------------------------------------------------------

# options and settings → what is printed on standard error once it serves, beside the URLs
PRINTED: list[tuple[str, str, list[str]]] = [
    ("", "", ["no contact is set"]),
    ("", "me@example.org", []),
    ("--listen 0.0.0.0", "me@example.org", ["listening on every address of this machine (0.0.0.0)"]),
    ("--listen ::", "", ["listening on every address of this machine (::)", "no contact is set"]),
    ("--listen 0.0.0.0 --public-url https://example.org/find", "me@example.org", []),
    ("--quiet --listen 0.0.0.0", "", []),
]


@pytest.mark.parametrize(("options", "contact", "lines"), PRINTED)
async def test_warnings(options: str, contact: str, lines: list[str], crawl: Path) -> None:
    settings = {"GOODBOT_CONTACT": contact} if contact else {}
    process, _ = await started("--in", crawl, *options.split(), **settings)
    process.terminate()
    end = await ended(process)
    assert end.status == 0
    assert [line for line in end.err.splitlines() if not any(line.startswith(text) for text in lines)] == []
    assert len(end.err.splitlines()) == len(lines)


async def test_the_urls(crawl: Path) -> None:
    public = "https://example.org/find/"
    process, urls = await started("--in", crawl, "--public-url", public)
    token = (crawl / "token").read_text().strip()
    assert urls["public_url"] == public
    assert urls["crawl_url"] == f"{urls['url']}crawl?token={token}"
    process.terminate()
    assert (await ended(process)).status == 0
    shown = await start("serve", "--in", crawl, "--port", "0", "--public-url", public)
    assert shown.stderr is not None
    lines = [(await shown.stderr.readline()).decode() for _ in range(2)]
    assert re.fullmatch(rf"search page on http://127.0.0.1:\d+/ \(Ctrl-C ends it\); visitors use {public}\n", lines[0])
    assert re.fullmatch(rf"operator's pages on http://127.0.0.1:\d+/crawl\?token={token}\n", lines[1])
    shown.terminate()
    assert (await ended(shown)).status == 0


async def test_the_settings_reach_the_pages(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text('contact = "me@example.org"\n[serve]\nname = "Clock search"\n')
    options = ["--config", str(tmp_path / "goodbot.toml"), "--no-submissions", "--no-removals"]
    process, urls = await started("--in", crawl, *options, GOODBOT_SERVE_PAGE_RATE="0")
    home, about = (await ask(urls["url"], "/"))[1], (await ask(urls["url"], "/about"))[1]
    assert "<title>Clock search</title>" in home
    assert "me@example.org" in about
    assert 'action="/submit"' not in home
    assert (await ask(urls["url"], "/"))[0] == 200
    process.terminate()
    assert (await ended(process)).status == 0


# ---- when it is ready -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["socket", "@abstract"])
async def test_it_reports_to_systemd_when_it_answers_and_stops(name: str, crawl: Path, tmp_path: Path) -> None:
    address = str(tmp_path / name) if name[0] != "@" else f"@{tmp_path}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(address.replace("@", "\0", 1) if name[0] == "@" else address)
        process = await start("serve", "--in", crawl, "--port", "0", "--json", settings={"NOTIFY_SOCKET": address})
        assert await asyncio.to_thread(supervisor.recv, 100) == b"READY=1"
        assert process.stdout is not None
        assert (await ask(json.loads(await process.stdout.readline())["url"], "/healthz"))[0] == 200
        process.terminate()
        assert await asyncio.to_thread(supervisor.recv, 100) == b"STOPPING=1"
    assert (await ended(process)).status == 0


async def test_it_ends_with_its_terminal(crawl: Path) -> None:
    process, _ = await started("--in", crawl)
    process.send_signal(signal.SIGHUP)
    end = await ended(process)
    assert (end.status, "Traceback" in end.err) == (0, False)


async def test_a_socket_that_is_gone_does_no_harm(crawl: Path, tmp_path: Path) -> None:
    process, urls = await started("--in", crawl, NOTIFY_SOCKET=str(tmp_path / "none"))
    assert (await ask(urls["url"], "/healthz"))[0] == 200
    process.terminate()
    assert (await ended(process)).status == 0


@pytest.mark.long
async def test_it_serves_before_a_running_crawl_has_an_index(tmp_path: Path) -> None:
    """The site answers only after the server has. Then the server finds its page, without being started again."""
    go_on = asyncio.Event()

    async def late(exchange: Exchange) -> None:
        await go_on.wait()
        await exchange.send(PAGES["/"])

    async with WebServer(fallback=late) as site, asyncio.timeout(120):
        crawling = await start("crawl", site.url(), "--into", tmp_path / "crawl", "--allow-private")
        await site.received(1)
        process, urls = await started("--in", tmp_path / "crawl")
        for path in ("/", "/search?q=clocks", "/crawl", "/submit", "/why?url=" + site.url(), "/healthz", "/metrics"):
            assert (await ask(urls["url"], path))[0] in (200, 403)
        assert json.loads((await ask(urls["url"], "/api/search?q=clocks"))[1])["total"] == 0
        go_on.set()
        assert (await ended(crawling)).status == 0
        while not json.loads((await ask(urls["url"], "/api/search?q=clocks"))[1])["total"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        process.terminate()
        assert "Traceback" not in (await ended(process)).err


async def test_a_backup_without_the_index_is_restored(crawl: Path, tmp_path: Path) -> None:
    """As docs/how-to/run-a-search-service.md makes and restores one."""
    shutil.copytree(crawl, tmp_path / "backup", ignore=shutil.ignore_patterns("index*"))
    rebuilt = await goodbot("index", "rebuild", "--in", tmp_path / "backup")
    assert rebuilt.status == 0, rebuilt.err
    assert (await goodbot("search", "clocks", "--in", tmp_path / "backup", "--json")).json["total"] == 1


async def test_a_crawl_of_an_older_format_can_still_be_searched(crawl: Path) -> None:
    with sqlite3.connect(crawl / "frontier.sqlite") as frontier:
        (version,) = frontier.execute("PRAGMA user_version").fetchone()
        frontier.execute(f"PRAGMA user_version = {version - 1}")
    frontier.close()
    process, urls = await started("--in", crawl)
    assert json.loads((await ask(urls["url"], "/api/search?q=clocks"))[1])["total"] == 1
    for path in ("/", "/about", "/submit", "/check"):
        assert (await ask(urls["url"], path))[0] == 200
    process.terminate()
    assert "Traceback" not in (await ended(process)).err
