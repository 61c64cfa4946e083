"""What visitors and owners of sites ask for while a crawl runs: real processes, real requests."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from goodbot.search_values import Hidden
from goodbot.visitor_values import CachedCopy
from goodbot.visitors.services import VisitorServices
from goodbot.web.visitors.indexnow import IndexNowRequest, parse_indexnow
from journey.goodbot_process import ended, goodbot, start
from visitors.visited_crawls import CONTACT, PUBLIC, services, url_at
from webserver import Exchange, WebServer, answer

KEY = "0123456789abcdef"
HTML, TEXT = ("Content-Type", "text/html"), ("Content-Type", "text/plain")


@asynccontextmanager
async def running(server: WebServer, folder: Path, *options: str) -> AsyncIterator[VisitorServices]:
    """A crawl that visits its pages again until the block ends."""
    process = await start(
        *("crawl", url_at(server, "/").text, "--into", folder, "--allow-private", "--contact", CONTACT),
        *("--delay", "0", "--resolve", f"{PUBLIC}:{server.port}:127.0.0.1", "--keep-fresh", *options),
    )
    try:
        async with asyncio.timeout(60):
            while not await _is_waiting(folder):
                pass
        yield services(folder)
    finally:
        await goodbot("stop", "--in", folder)
        await ended(process)


async def _is_waiting(folder: Path) -> bool:
    """Whether the crawl runs, and has visited what it knows."""
    status = await goodbot("status", "--in", folder, "--json")
    return status.status == 0 and status.json["running"] and status.json["finished"] and status.json["pages"] > 0


async def fetched(server: WebServer, target: str, times: int = 1) -> Exchange:
    """Waits until the crawl has requested a page so often; returns the last request."""
    async with asyncio.timeout(60):
        while server.targets.count(target) < times:
            await server.received(len(server.exchanges) + 1)
    return [exchange for exchange in server.exchanges if exchange.target == target][-1]


async def test_a_running_crawl_takes_what_visitors_submit(tmp_path: Path) -> None:
    routes = {"/": answer(b"<title>Home</title>home"), "/new": answer(b"new")}
    async with WebServer(routes) as server, running(server, tmp_path) as visitors:
        found = await asyncio.to_thread(visitors.submissions.submit, url_at(server, "/new").text)
        assert (found.result, found.state_before) == ("submitted", None)
        await fetched(server, "/new")
        copy = await asyncio.to_thread(visitors.copies.copy_of, url_at(server, "/"))
        assert isinstance(copy, CachedCopy)
        assert copy.html == "<title>Home</title>home"


async def test_a_name_that_leads_inside_gets_no_request(tmp_path: Path) -> None:
    """The crawl may reach the private address of its seed, but not for a visitor."""
    async with WebServer({"/": answer(b"<title>Home</title>home")}) as server, WebServer() as inside:
        name = "rebinding.example"
        pin = f"{name}:{inside.port}:127.0.0.1"
        async with running(server, tmp_path, "--scope", "all", "--resolve", pin) as visitors:
            url = url_at(inside, "/secret", name)
            found = await asyncio.to_thread(visitors.submissions.submit, url.text)
            assert (found.result, found.state_before) == ("submitted", None)
            async with asyncio.timeout(60):
                while (story := await asyncio.to_thread(visitors.stories.story_of, url)).state in ("ready", "leased"):
                    pass
            assert story.state == "failed"
            assert "private range 127.0.0.0/8" in story.summary
        assert inside.targets == []


def report(server: WebServer, path: str) -> IndexNowRequest:
    body = {"host": f"{PUBLIC}:{server.port}", "key": KEY, "urlList": [url_at(server, path).text]}
    found = parse_indexnow(json.dumps(body).encode())
    assert isinstance(found, IndexNowRequest)
    return found


async def test_a_page_reported_by_indexnow_is_visited_at_once(tmp_path: Path) -> None:
    home = answer(b"<title>Home</title>home", headers=[HTML, ("ETag", '"1"')])
    routes = {"/": home, f"/{KEY}.txt": answer(KEY.encode(), headers=[TEXT])}
    async with WebServer(routes) as server, running(server, tmp_path) as visitors:
        outcome = await visitors.indexnow.take(report(server, "/"))
        assert outcome.status == 200
        assert [item.state_before for item in outcome.submissions] == ["visited"]
        again = await fetched(server, "/", 2)
        assert again.header("If-None-Match") is None


async def test_a_removed_page_is_hidden_at_once_and_then_out_of_the_index(tmp_path: Path) -> None:
    routes = {"/": answer(b"<title>Home</title>home", headers=[HTML])}
    async with WebServer(routes) as server, running(server, tmp_path) as visitors:
        url = url_at(server, "/")
        server.routes["/"] = answer(b"<meta name=robots content=noindex>home", headers=[HTML])
        answered = await visitors.removals.request(url.text)
        assert answered.result == "removed"
        assert visitors.removals.hidden() == Hidden(frozenset({url.text}))
        await fetched(server, "/", 3)  # the first visit, the check, the visit that was due at once
        async with asyncio.timeout(60):
            while (await asyncio.to_thread(visitors.stories.story_of, url)).in_index:
                pass
