"""`goodbot crawl --render`: a site that is nothing without its scripts, crawled, searched and explained."""

import asyncio
import json
import signal
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from journey.goodbot_process import ended, goodbot, start
from webserver import Exchange, Route, WebServer, answer

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}: apt install chromium")

SHELL = answer(b"<!doctype html><title>loading</title><main></main><script src=/app.js></script>")
APP = b"""
fetch("/api" + location.pathname).then(answer => answer.json()).then(page => {
  document.title = page.title;
  document.querySelector("main").innerHTML = page.text + page.links.map(x => ` <a href="${x}">on</a>`).join("");
});
fetch("/stock/prices").catch(() => 0);
"""


def page(title: str, text: str, *links: str) -> bytes:
    body = json.dumps({"title": title, "text": text, "links": links}).encode()
    return answer(body, headers=[("Content-Type", "application/json")])


SITE: dict[str, Route] = {
    "/robots.txt": answer(b"User-agent: *\nDisallow: /stock/\n", headers=[("Content-Type", "text/plain")]),
    "/": SHELL,
    "/zebra": SHELL,
    "/gnu": SHELL,
    "/app.js": answer(APP, headers=[("Content-Type", "text/javascript")]),
    "/api/": page("Animals", "All of them", "/zebra", "/gnu"),
    "/api/zebra": page("Zebra", "It has stripes"),
    "/api/gnu": page("Gnu", "It has horns"),
}


@pytest.fixture(autouse=True)
def patience(tmp_path: Path) -> None:
    """A page has all the time it needs, on a slow machine too."""
    (tmp_path / "goodbot.toml").write_text("render_time = 120\n")


@pytest.mark.long
async def test_a_site_of_scripts_is_crawled_searched_and_explained(tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        crawled = await goodbot(
            "crawl", server.url(), "--into", tmp_path, "--allow-private", "--render", "--workers", "2"
        )
        assert crawled.status == 0, crawled.err
        asked = server.targets
    pages = ["/", "/zebra", "/gnu"]
    assert sorted(asked) == sorted(["/robots.txt", *pages, "/app.js", *(f"/api{name}" for name in pages)])
    hits = (await goodbot("search", "stripes", "--in", tmp_path, "--json")).json["hits"]
    assert [(hit["title"], hit["url"]) for hit in hits] == [("Zebra", server.url("/zebra"))]
    events = (await goodbot("why", server.url("/zebra"), "--in", tmp_path, "--json")).json["events"]
    rendered = next(event for event in events if event["step"] == "read")
    assert rendered["decision"] == "rendered"
    assert "3 requests, 2 answered; 1 refused: 1 disallowed by robots.txt" in rendered["reason"]
    forbidden = next(event for event in events if event["decision"] == "disallowed")
    assert forbidden["line"] == 2
    assert server.url("/stock/prices") in forbidden["reason"]


async def test_without_it_there_is_nothing_to_find(tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url(), "--into", tmp_path, "--allow-private")
        assert server.targets == ["/robots.txt", "/"]


@pytest.mark.long
async def test_a_site_keeps_its_distance_between_pages_and_what_they_ask_for(tmp_path: Path) -> None:
    times: list[float] = []

    def noted(data: Route) -> Route:
        async def send(exchange: Exchange) -> None:
            assert isinstance(data, bytes)
            times.append(asyncio.get_running_loop().time())
            await exchange.send(data)

        return send

    robots = answer(b"User-agent: *\nCrawl-delay: 0.4\nDisallow: /stock/\n", headers=[("Content-Type", "text/plain")])
    routes = {target: noted(data) for target, data in {**SITE, "/robots.txt": robots}.items()}
    async with WebServer(routes) as server:
        crawled = await goodbot("crawl", server.url(), "--into", tmp_path, "--allow-private", "--render")
        assert crawled.status == 0, crawled.err
    assert len(times) == 8
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.39  # what two clocks may differ by


@pytest.mark.long
async def test_the_archive_has_the_page_as_it_came_and_what_it_asked_for(tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url(), "--into", tmp_path, "--allow-private", "--render")
        exported = await goodbot("export", "--in", tmp_path, "--what", "pages")
        assert {row["title"] for row in exported.lines} == {"loading"}
        rebuilt = tmp_path / "warc"
        names = [line for file in rebuilt.glob("*.cdxj") for line in file.read_text().splitlines()]
        assert sum("/app.js" in line for line in names) == 1


@pytest.mark.long
async def test_a_second_interrupt_leaves_no_browser_behind(tmp_path: Path) -> None:
    async with WebServer({**SITE, "/app.js": answer(b"while (true) {}")}) as server:
        process = await start("crawl", server.url(), "--into", tmp_path, "--allow-private", "--render")
        await server.received(3)
        family = psutil.Process(process.pid).children(recursive=True)
        assert any(_is_chromium(child) for child in family)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        while b"stopping" not in await process.stderr.readline():  # else the second could be taken for the first
            assert process.returncode is None
        process.send_signal(signal.SIGINT)
        assert (await ended(process)).status == 130
        _, alive = psutil.wait_procs(family, timeout=60)
        assert alive == []


def _is_chromium(process: psutil.Process) -> bool:
    try:
        return "chrom" in process.name()
    except psutil.Error:  # it has just ended
        return False


@pytest.mark.long
async def test_a_kill_leaves_no_browser_behind(tmp_path: Path) -> None:
    async with WebServer({**SITE, "/app.js": answer(b"while (true) {}")}) as server:
        process = await start("crawl", server.url(), "--into", tmp_path, "--allow-private", "--render")
        await server.received(3)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        await ended(process)
        _, alive = psutil.wait_procs(family, timeout=60)
        assert alive == []


async def test_a_browser_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text('render_executable = "/nowhere/chromium"\n')
    into = tmp_path / "crawl"
    refused = await goodbot(
        "crawl", "http://127.0.0.1:9/", "--into", into, "--allow-private", "--render", folder=tmp_path
    )
    assert refused.status == 2
    assert "no browser can be run at /nowhere/chromium" in refused.complaint
    assert not into.exists()
