"""The parser for Scrapy, in a real crawl of a site on loopback: what it requests is what the server's log says."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.robotstxt import ProtegoRobotParser, RobotParser

import goodbot.integrations
from goodbot.exclusion import LIMIT_BYTES
from goodbot.integrations.scrapy import GoodbotParser
from webserver import Exchange, Route, WebServer, answer, closing

SPIDER = Path(__file__).with_name("scrapy_spider.py")
SOURCE = Path(goodbot.integrations.__file__).parents[2]
OURS = "goodbot.integrations.scrapy.GoodbotParser"
MIDDLEWARE = "goodbot.integrations.scrapy.RobotsTxtMiddleware"

ROBOTS = b"""\
User-agent: *
Disallow: /

User-agent: TestBot
Disallow: /private
Disallow: /notes/
Allow: /notes/index.html

User-agent: testbot
Allow: /private/open
Disallow: /find?in=a%2Fb
Disallow: /\xff
"""
NOT_UTF8 = b"Disallow: /\xff\n"
PAGES = [
    *("/", "/open", "/private/x", "/private/open", "/notes/", "/notes/index.html", "/notes/1"),
    *("/find?in=a/b", "/find?in=c", "/%FF"),
]
FORBIDDEN = {"/private/x", "/notes/", "/notes/1", "/find?in=a/b", "/%FF"}


def site(robots: Route) -> WebServer:
    links = "".join(f'<a href="{page}">page</a>' for page in PAGES[1:]).encode()
    return WebServer({"/robots.txt": robots, **{page: answer(b"<html><body>" + links) for page in PAGES}})


async def crawl(
    server: WebServer,
    parser: str,
    middleware: str = "",
    starts: tuple[str, ...] = ("/",),
    have_come: Callable[[], None] = lambda: None,
) -> Any:
    """What the spider prints; the crawl ends itself after 120 s, and is ended after 300. `have_come` is called when all
    of `starts` wait for the robots.txt, or have its answer."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SPIDER), parser, middleware, *map(server.url, starts)),
        stdout=subprocess.PIPE,
        env={**environment, "PYTHONPATH": str(SOURCE)},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(300):
            assert await process.stdout.readline() == b"all have come\n"
            have_come()
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    return json.loads(out)


async def test_a_crawl_requests_only_allowed_pages() -> None:
    async with site(answer(ROBOTS)) as server:
        told = await crawl(server, OURS)
        assert server.targets[0] == "/robots.txt"
        assert sorted(server.targets) == sorted({"/robots.txt", *PAGES} - FORBIDDEN)
        assert all(
            exchange.header("User-Agent") == "TestBot/1.0 (+mailto:test@example.org)" for exchange in server.exchanges
        )
    assert told["counts"].pop("robotstxt/forbidden") == len(FORBIDDEN)
    assert told["counts"].keys() == {
        *("robotstxt/request_count", "robotstxt/response_count", "robotstxt/response_status_count/200"),
    }
    assert told["reason"] == "finished"


@pytest.mark.long
async def test_requests_that_wait_together_are_all_checked() -> None:
    """Scrapy's own middleware checks only the first request, with any parser; once it checks all, ours can go."""
    starts = ("/private/x", "/notes/1", "/notes/", "/open")
    together = asyncio.Event()

    async def late(exchange: Exchange) -> None:
        await together.wait()
        await exchange.send(answer(ROBOTS))

    async with site(late) as server:
        await crawl(server, OURS, starts=starts, have_come=together.set)
        assert FORBIDDEN & set(server.targets)
    together.clear()
    async with site(late) as server:
        await crawl(server, OURS, MIDDLEWARE, starts, together.set)
        assert set(server.targets) == {"/robots.txt", *PAGES[1:]} - FORBIDDEN


@pytest.mark.long
async def test_without_a_robots_txt_requests_that_come_together_pass() -> None:
    async with WebServer({"/robots.txt": closing(b""), **dict.fromkeys(PAGES, answer(b"<html>"))}) as server:
        told = await crawl(server, OURS, MIDDLEWARE, ("/open", "/private/x", "/notes/1"))
        assert {"/open", "/private/x", "/notes/1"} <= set(server.targets)
    assert told["reason"] == "finished"


@pytest.mark.long
async def test_protego_under_scrapy_allows_three_of_the_others() -> None:
    """By Protego an allowed index.html allows its folder, and `%2F` in a query is no `/`."""
    async with site(answer(ROBOTS.replace(NOT_UTF8, b""))) as server:
        await crawl(server, "")
        asked_too = {"/notes/", "/find?in=a/b", "/%FF"}
        assert sorted(server.targets) == sorted({"/robots.txt", *PAGES} - FORBIDDEN | asked_too)


@pytest.mark.long
async def test_a_page_instead_of_a_robots_txt_has_no_rules() -> None:
    async with site(answer(b"<!DOCTYPE html><title>Not found</title><p>Disallow: /", 404)) as server:
        await crawl(server, OURS)
        assert sorted(server.targets) == sorted(["/robots.txt", *PAGES])


# ---- The parser alone -----------------------------------------------------------------------------------------------


def parser(body: bytes | None) -> GoodbotParser:
    return GoodbotParser.from_crawler(None, body)


def test_it_is_a_parser_of_scrapy() -> None:
    assert issubclass(GoodbotParser, RobotParser)
    theirs = {name for name in dir(ProtegoRobotParser) if not name.startswith("_")}
    assert theirs <= {name for name in dir(GoodbotParser) if not name.startswith("_")}


def test_octets_that_are_not_utf_8_are_not_dropped() -> None:
    """Scrapy drops them before Protego sees the text, so that this rule closes the whole site."""
    theirs = ProtegoRobotParser(b"User-agent: *\n" + NOT_UTF8, None)
    rules = parser(b"User-agent: *\n" + NOT_UTF8)
    assert (theirs.allowed("http://example.org/", "x"), rules.allowed("http://example.org/", "x")) == (False, True)
    assert not rules.allowed("http://example.org/%FF", "x")


def test_it_says_why() -> None:
    assert parser(ROBOTS).rules.verdict("/private/x", "TestBot").line == 5


def test_text_or_bytes() -> None:
    rules = parser(b"User-agent: x\nDisallow: /\xc3\xa9\nCrawl-delay: 2.5")
    assert not rules.allowed("http://example.org/%C3%A9", "x/1.0")
    assert not rules.allowed("http://example.org/\xe9".encode(), b"x/1.0")
    assert rules.allowed("http://example.org/", b"\xff\xfe")
    assert (rules.crawl_delay("x"), rules.crawl_delay(b"x"), rules.crawl_delay("y")) == (2.5, 2.5, None)


@pytest.mark.parametrize("body", [None, b"", b"<html>User-agent: *", b"\xff\xfe", b"\x1f\x8b\x08\x00", b"\0" * 99])
def test_bodies_without_rules(body: bytes | None) -> None:
    assert parser(body).allowed("http://example.org/", "x")
    assert parser(body).crawl_delay("x") is None


def test_500_kib_count() -> None:
    rules = parser(b"User-agent: *\nDisallow: /early\n" + b"#\n" * (LIMIT_BYTES // 2) + b"Disallow: /late")
    assert (rules.allowed("/early", "x"), rules.allowed("/late", "x")) == (False, True)


def test_a_delay_of_400_digits() -> None:
    assert parser(b"User-agent: *\nCrawl-delay: " + b"9" * 400).crawl_delay("x") == 1e10


@given(st.binary(), st.one_of(st.text(), st.binary()), st.one_of(st.text(), st.binary()))
def test_no_body_raises(body: bytes, url: str | bytes, agent: str | bytes) -> None:
    rules = parser(body)
    rules.allowed(url, agent)
    rules.crawl_delay(agent)


# ---- Who needs what -------------------------------------------------------------------------------------------------

PROGRAM = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})
import goodbot.integrations.robotparser, goodbot.integrations.protego
outside = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names) - {{"__main__", "goodbot"}}
print(sorted(outside))
try:
    from goodbot.integrations.scrapy import GoodbotParser
except ModuleNotFoundError as error:
    print(error.name)
"""


def test_only_the_parser_for_scrapy_needs_scrapy() -> None:
    ran = subprocess.run([sys.executable, "-S", "-I", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[]\nscrapy\n", "")
