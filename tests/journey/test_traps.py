"""Whole crawls of sites that are traps and copies: what is asked for, what is learned, what is told."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from journey.goodbot_process import goodbot
from webserver import Exchange, WebServer, answer

TEXTS = ("apples", "boats", "clocks", "drums", "engines", "ferries", "gardens", "harbours")
_PAGE = re.compile(r"/page/([0-9])(?:\?sid=([0-9]+))?")


def html(title: str, text: str, *links: str, head: str = "") -> bytes:
    """A page."""
    anchors = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
    return answer(f"<!doctype html><title>{title}</title>{head}<body><p>{text}{anchors}".encode())


class Shop:
    """Eight pages, each link of which has a session id nobody has seen before; and copies."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, exchange: Exchange) -> None:
        self.asked += 1
        found = _PAGE.fullmatch(exchange.target)
        if exchange.target == "/":
            await exchange.send(html("Start", "Welcome.", "/page/0?sid=0", "/a?utm_source=start", "/old", "/print/a"))
        elif found is not None:
            number = int(found[1])
            link = f"/page/{(number + 1) % 8}?sid={self.asked}"
            await exchange.send(html(f"Page {number}", f"All about {TEXTS[number]}.", link))
        elif exchange.target in ("/a", "/old"):
            await exchange.send(html("A", "Something to say."))
        elif exchange.target == "/print/a":
            await exchange.send(html("Print", "Say it on paper.", head='<link rel=canonical href="/a">'))
        else:
            await exchange.send(answer(b"", 404))


@pytest.fixture
async def shop() -> AsyncIterator[WebServer]:
    """The shop, open."""
    async with WebServer(fallback=Shop()) as server:
        yield server


async def crawl(server: WebServer, folder: Path, *options: str) -> Any:
    """The crawl of a site, to its end or to its bound."""
    made = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--json", *options)
    assert made.status == 0, made.err
    return made.lines


async def why(server: WebServer, folder: Path, target: str) -> str:
    """What is told about a URL."""
    told = await goodbot("why", server.url(target), "--in", folder)
    assert told.status == 0, told.err
    return told.out


@pytest.mark.parametrize("option", [(), ("--no-index",)], ids=["with an index", "without"])
async def test_session_ids_are_learned_and_the_lesson_survives_a_restart(
    shop: WebServer, tmp_path: Path, option: tuple[str, ...]
) -> None:
    await crawl(shop, tmp_path, *option)
    pages = [target for target in shop.targets if target.startswith("/page/")]
    assert {f"/page/{number}" for number in range(8)} <= {target.partition("?")[0] for target in pages}
    assert len(pages) < 60
    await crawl(shop, tmp_path, shop.url("/page/5?sid=again"), *option)
    again = [target for target in shop.targets if target.startswith("/page/")][len(pages) :]
    assert again == ["/page/5?sid=again"]  # a seed is asked for as it is; where it leads is known


async def test_why_knows_a_link_by_what_it_is_asked_for_as(tmp_path: Path) -> None:
    robots = b"User-agent: *\nClean-param: from /c\n"
    routes = {
        "/robots.txt": answer(robots, headers=[("Content-Type", "text/plain")]),
        "/": html("Start", "Hi.", "/a?utm_source=x", "/b?PHPSESSID=1", "/c?from=here"),
        **{f"/{name}": html(name, f"All about {name}.") for name in "abc"},
    }
    async with WebServer(routes) as server:
        await crawl(server, tmp_path)
        for dirty, cleaned in (("/a?utm_source=x", "/a"), ("/b?PHPSESSID=1", "/b"), ("/c?from=here", "/c")):
            told = await why(server, tmp_path, dirty)
            assert f"{server.url(dirty)}: a link to it is requested as {server.url(cleaned)}\n" in told
            assert f"{server.url(cleaned)}: visited" in told
            found = (await goodbot("why", server.url(dirty), "--in", tmp_path, "--json")).json
            assert (found["url"], found["asked_as"]) == (server.url(dirty), server.url(cleaned))
            assert (found["state"], found["events"] != []) == ("visited", True)
        told = await why(server, tmp_path, "/nowhere?utm_source=x&b=1")
        assert f"requested as {server.url('/nowhere?b=1')}\n{server.url('/nowhere?b=1')}: unknown; " in told


async def test_why_of_what_only_links_name_that_are_not_followed(tmp_path: Path) -> None:
    start = b'<a href="/marked" rel=nofollow>x</a><a href="/quiet">y</a>'
    quiet = b'<meta name=robots content=nofollow><a href="/unfollowed">x</a>'
    async with WebServer({"/": answer(start), "/quiet": answer(quiet)}) as server:
        await crawl(server, tmp_path)
        for target in ("/marked", "/unfollowed"):
            told = await why(server, tmp_path, target)
            assert (
                told == f"{server.url(target)}: unknown; it is not a seed, and no link that was followed leads to it\n"
            )


async def test_copies_are_told_and_not_indexed(shop: WebServer, tmp_path: Path) -> None:
    await crawl(shop, tmp_path)
    assert "/a" in shop.targets
    assert "/a?utm_source=start" not in shop.targets
    assert "the page says that it is a copy of" in await why(shop, tmp_path, "/print/a")
    told = [await why(shop, tmp_path, target) for target in ("/a", "/old")]
    assert sum("the same bytes as" in text for text in told) == 1
    found = await goodbot("search", "something", "--in", tmp_path, "--json")
    assert found.json["total"] == 1


async def test_a_refused_url_says_on_what_evidence(tmp_path: Path) -> None:
    async def sorry(exchange: Exchange) -> None:
        number = int(exchange.target.rpartition("/")[2] or 0) if exchange.target != "/robots.txt" else 0
        await exchange.send(html("Nothing", "There is nothing to see.", *(f"/room/{number + n}" for n in (1, 2))))

    async with WebServer(fallback=sorry) as server:
        await crawl(server, tmp_path, "--no-index")
        assert len(server.targets) < 60
        last = max(int(target.rpartition("/")[2]) for target in server.targets if "room" in target)
        told = await why(server, tmp_path, f"/room/{last + 1}")
    assert "out-of-scope" in told
    assert f"pages of {server.url('/room/0')}" in told.replace("\n", " ")
