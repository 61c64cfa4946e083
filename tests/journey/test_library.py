"""`goodbot.crawl`: pages as they come, and nothing left when the loop is left."""

import asyncio
import gc
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from goodbot import WebPage, crawl
from goodbot import api as library
from goodbot.config import Settings
from goodbot.crawl_folder import open_ledger
from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.values import Outcome
from webserver import Exchange, WebServer, answer, closing, kept_port, silence

PAGES = 60


def site() -> dict[str, bytes]:
    """A page that links to 60, each with a link to the next and to one that is forbidden."""
    links = "".join(f"<a href=/{number}>{number}</a>" for number in range(PAGES))
    routes = {
        "/robots.txt": answer(b"User-agent: *\nDisallow: /closed", headers=[("Content-Type", "text/plain")]),
        "/": answer(f"<title>Home</title>{links}<a href=/old>old</a>".encode()),
        "/old": answer(b"", 301, [("Location", "/1")]),
    }
    for number in range(PAGES):
        text = (
            f"<title>Page {number}</title><h1>No {number}</h1><p>text<a href=/closed/{number}>x</a><a href=/>home</a>"
        )
        routes[f"/{number}"] = answer(text.encode())
    return routes


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(site()) as made:
        yield made


@pytest.fixture(params=["memory", "folder"])
def into(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """Where the crawl is kept."""
    return tmp_path / "crawl" if request.param == "folder" else None


async def until(condition: Callable[[], bool]) -> bool:
    """Whether it came true, what is to be cleaned up being cleaned up meanwhile; on a slow machine that takes long."""
    try:
        async with asyncio.timeout(60):
            while not condition():
                gc.collect(0)
                await asyncio.sleep(0.01)
    except TimeoutError:
        return False
    return True


async def test_without_a_contact_a_private_host_leads_to_no_public_one(into: Path | None) -> None:
    outcomes: list[Outcome] = []
    async with WebServer({"/robots.txt": answer(status=404)}) as server:
        ways = ["http://8.8.4.4:9/linked", "http://www.example:9/linked"]
        server.routes["/"] = answer("".join(f"<a href={url}>x</a>" for url in [*ways, "/hop", "/ends"]).encode())
        server.routes["/hop"] = answer(b"", 302, [("Location", "http://8.8.4.4:9/hopped")])
        server.routes["/ends"] = answer(b"", 302, [("Location", "http://www.example:9/hopped")])
        options = {"scope": "all", "resolve": ["www.example:9:8.8.4.4"], "into": into, "observe": outcomes.append}
        pages = [page.url async for page in crawl(server.url("/"), allow_private=True, **options)]  # type: ignore[arg-type]
    assert pages == [server.url("/")]
    left_out = {outcome.url.text: outcome.why for outcome in outcomes if outcome.state == "out-of-scope"}
    assert sorted(left_out) == ["http://www.example:9/hopped", "http://www.example:9/linked"]
    assert all("www.example is public, and no contact is set" in why for why in left_out.values())
    assert {outcome.state for outcome in outcomes} == {"visited", "out-of-scope"}
    refused = {link.url.text: link.refused for outcome in outcomes for link in outcome.links if link.refused}
    assert sorted(refused) == ["http://8.8.4.4:9/hopped", "http://8.8.4.4:9/linked"]


async def test_pages_come_with_what_they_say(server: WebServer, into: Path | None) -> None:
    outcomes: list[Outcome] = []
    pages = [page async for page in crawl(server.url("/"), allow_private=True, into=into, observe=outcomes.append)]
    assert len(pages) == PAGES + 1
    assert all(isinstance(page, WebPage) and page.status == 200 for page in pages)
    home = pages[0]
    assert (home.url, home.title, len(home.links)) == (server.url("/"), "Home", PAGES + 1)
    assert home.fetched_at > 0
    page = next(page for page in pages if page.url == server.url("/7"))
    assert (page.title, page.headings, page.select("h1")[0].text) == ("Page 7", ("No 7",), "No 7")
    assert page.response.header("content-type") == "text/html; charset=utf-8"
    assert "text" in page.text
    assert {outcome.state for outcome in outcomes} == {"visited", "disallowed"}
    assert sum(outcome.state == "disallowed" for outcome in outcomes) == PAGES
    assert not [target for target in server.targets if target.startswith("/closed")]
    assert server.most_busy == 1
    await server.deserted()


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"max_pages": 5}, 5),
        ({"depth": 0}, 1),
        ({"include": ["*/1?"]}, 0),
        ({"include": "*/1?"}, 0),
        ({"exclude": ["*/1?", "*/2?"]}, PAGES + 1 - 20),
        ({"scope": "page"}, 1),
    ],
)
async def test_the_options_are_those_of_the_command(server: WebServer, options: dict[str, object], count: int) -> None:
    seeds = [server.url("/")] if count else [server.url("/10"), server.url("/11")]
    pages = [page async for page in crawl(seeds, allow_private=True, **options)]  # type: ignore[arg-type]
    assert len(pages) == count or (not count and {page.title for page in pages} == {"Page 10", "Page 11"})


@pytest.mark.parametrize(
    ("seeds", "options", "wrong"),
    [
        ([], {}, "no seed given"),
        ("example.org", {}, "did you mean"),
        ("https://93.184.216.34/", {}, "say who you are with contact "),
        ("http://127.0.0.1/", {}, "add allow_private if you mean it"),
        ("http://127.0.0.1/", {"allow_private": True, "agent": "My Bot!"}, "agent must be"),
        ("http://127.0.0.1/", {"allow_private": True, "concurrency": 0}, "concurrency must be at least 1"),
        ("http://127.0.0.1/", {"allow_private": True, "exclude": ["*"]}, "out of scope"),
        ("http://127.0.0.1/", {"allow_private": True, "delay": float("nan")}, "delay must be"),
        ("http://127.0.0.1/", {"allow_private": True, "delay": "soon"}, "delay must be a number: 'soon'"),
        ("http://127.0.0.1/", {"allow_private": True, "depth": -1}, "depth must be at least 0"),
        ("http://127.0.0.1/", {"allow_private": True, "max_pages": 0}, "max_pages must be at least 1: 0"),
        ("http://127.0.0.1/", {"allow_private": True, "max_pages": -1}, "max_pages must be at least 1: -1"),
        ("http://127.0.0.1/", {"allow_private": True, "scope": "Host"}, "scope must be one of page, .*: 'Host'"),
        ("http://127.0.0.1/", {"allow_private": True, "scope": "site"}, "scope must be one of page, .*: 'site'"),
        (None, {}, "a seed is the text of a URL, not None"),
        ([None], {}, "a seed is the text of a URL, not None"),
    ],
)
async def test_what_cannot_be_crawled_is_one_clear_error(
    seeds: object, options: dict[str, object], wrong: str, into: Path | None
) -> None:
    with pytest.raises(GoodbotError, match=wrong) as raised:
        [page async for page in crawl(seeds, into=into, **options)]  # type: ignore[arg-type]
    assert isinstance(raised.value, InputError)


# ---- left in the middle ---------------------------------------------------------------------------------------------


async def by_break(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    async for _ in pages():
        break


async def by_exception(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    async def loop() -> None:
        async for _ in pages():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await loop()


async def by_cancellation(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    async def loop() -> None:
        async for _ in pages():
            await asyncio.sleep(3600)

    task = asyncio.create_task(loop())
    await asyncio.sleep(0.2)
    task.cancel()
    await asyncio.wait((task,))


async def by_cancellation_while_waiting(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    async def loop() -> None:
        async for _ in pages():
            pass

    task = asyncio.create_task(loop())
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait((task,))


async def by_forgetting(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    iterator = pages()
    await anext(iterator)
    del iterator


async def by_closing(pages: Callable[[], AsyncIterator[WebPage]]) -> None:
    async with aclosing(pages()) as made:  # type: ignore[type-var]
        await anext(made)


@pytest.mark.parametrize(
    "leave", [by_break, by_exception, by_cancellation, by_cancellation_while_waiting, by_forgetting, by_closing]
)
async def test_however_the_loop_is_left_nothing_stays(
    leave: Callable[[Callable[[], AsyncIterator[WebPage]]], object], into: Path | None
) -> None:
    before, threads = asyncio.all_tasks(), threading.active_count()
    process = psutil.Process()
    children = process.children()
    routes: dict[str, object] = {**site(), "/3": silence, "/4": silence}
    async with WebServer(routes) as server:  # type: ignore[arg-type]
        files = len(os.listdir("/proc/self/fd"))

        def pages() -> AsyncIterator[WebPage]:
            return crawl(server.url("/"), allow_private=True, into=into, settings=Settings(per_host=4, concurrency=8))

        await leave(pages)  # type: ignore[misc]
        assert await until(lambda: len(os.listdir("/proc/self/fd")) <= files and threading.active_count() == threads)
        await server.deserted()
        asked = len(server.exchanges)
        await asyncio.sleep(0.05)
        assert len(server.exchanges) == asked
        assert process.children() == children
    assert await until(lambda: asyncio.all_tasks() == before)


def test_a_loop_cut_off_by_the_end_of_its_event_loop_leaves_nothing() -> None:
    async def main() -> AsyncIterator[WebPage]:
        async with WebServer(site()) as server:
            pages = crawl(server.url("/"), allow_private=True)
            await anext(pages)
            return pages

    with pytest.raises(StopAsyncIteration):
        asyncio.run(anext(asyncio.run(main())))  # type: ignore[arg-type]


async def test_a_crawl_that_was_left_is_resumed_with_no_page_lost(server: WebServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    seen: list[str] = []

    async def some(count: int) -> None:
        seeds = [] if folder.exists() else server.url("/")
        async with aclosing(crawl(seeds, allow_private=True, into=folder)) as pages:
            async for page in pages:
                seen.append(page.url)
                count -= 1
                if not count:
                    return

    for _ in range(4):
        await some(10)
    await some(1000)
    assert set(seen) == {server.url(f"/{number}") for number in range(PAGES)} | {server.url("/")}
    assert len(seen) == PAGES + 1 + 4  # the page at which the loop was left comes once more
    with open_ledger(folder) as ledger:
        status = ledger.status()
        assert status.finished
        assert status.states["visited"] == PAGES + 2
    assert list((folder / "warc").glob("*.warc.gz"))


async def test_max_pages_counts_each_run_of_a_folder(server: WebServer, tmp_path: Path) -> None:
    counts = []
    for _ in range(3):
        pages = [
            page async for page in crawl(server.url("/"), allow_private=True, into=tmp_path / "crawl", max_pages=25)
        ]
        counts.append(len(pages))
    assert counts[0] in (24, 25)  # a redirect is a visit too
    assert sum(counts) == PAGES + 1


# ---- a slow program -------------------------------------------------------------------------------------------------


async def test_a_slow_program_slows_the_crawl(server: WebServer) -> None:
    async with aclosing(crawl(server.url("/"), allow_private=True, concurrency=4)) as pages:
        await anext(pages)
        await anext(pages)
        while True:
            asked = len(server.exchanges)
            await asyncio.sleep(0.3)
            if len(server.exchanges) == asked:
                break
        assert asked < PAGES / 2
        assert len([page async for page in pages]) == PAGES - 1


async def test_many_hosts_are_held_back_as_well() -> None:
    async def page(exchange: Exchange) -> None:
        await exchange.send(answer(b"x" * 10_000))

    hosts = [f"h{number}.example" for number in range(200)]
    async with WebServer(fallback=page) as server:
        pins = [f"{host}:{server.port}:127.0.0.1" for host in hosts]
        seeds = [f"http://{host}:{server.port}/" for host in hosts]
        crawled = crawl(seeds, allow_private=True, resolve=pins, contact="me@example.org", delay=0, concurrency=8)
        async with aclosing(crawled) as pages:
            await anext(pages)
            await asyncio.sleep(0.5)
            held = len(server.exchanges)
            assert held < 100
            assert len([page async for page in pages]) == 199


async def test_a_page_that_breaks_off_says_so(into: Path | None) -> None:
    async with WebServer({"/": closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")}) as server:
        pages = [page async for page in crawl(server.url("/"), allow_private=True, into=into)]
        assert [(page.body, page.response.truncated) for page in pages] == [(b"abc", "disconnect")]


async def test_a_sitemap_is_no_page() -> None:
    kind = [("Content-Type", "application/xml")]
    async with WebServer() as server:
        listed = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{server.url('/a')}</loc></url></urlset>"
        server.routes |= {
            "/robots.txt": answer(
                f"Sitemap: {server.url('/map.xml')}".encode(), headers=[("Content-Type", "text/plain")]
            ),
            "/map.xml": answer(listed.encode(), headers=kind),
            "/a": answer(b"<title>A"),
            "/": answer(b"<title>Home"),
        }
        pages = [page async for page in crawl(server.url("/"), allow_private=True)]
        assert [page.title for page in pages] == ["Home", "A"]
        assert "/map.xml" in server.targets


async def test_a_crawl_in_memory_knows_only_so_many_urls(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MAX_KNOWN", 1)
    pages = [page async for page in crawl(server.url("/"), allow_private=True)]
    assert len(pages) == 1


async def test_a_crawl_of_seeds_that_all_fail_ends_with_an_error(into: Path | None) -> None:
    hasty = Settings(robots_retry_first=0.01, backoff_first=0.01)
    with kept_port() as port:
        dead = f"http://127.0.0.1:{port}/"
        with pytest.raises(RunError, match=rf"^no seed could be fetched: {dead}: robots\.txt is unreachable, so"):
            [page async for page in crawl(dead, allow_private=True, into=into, settings=hasty)]
        async with WebServer({"/": answer(b"<p>here")}) as server:
            seeds = dead, server.url("/")
            assert len([page async for page in crawl(seeds, allow_private=True, into=into, settings=hasty)]) == 1
