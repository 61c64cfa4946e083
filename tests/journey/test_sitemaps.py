"""Sitemaps and feeds as a crawl meets them: named by robots.txt, linked to or typed; over real HTTP."""

import gzip
from pathlib import Path

import pytest

from journey.goodbot_process import goodbot
from webserver import Exchange, Route, WebServer, answer

XML = [("Content-Type", "application/xml")]
TEXT = [("Content-Type", "text/plain")]
PAGE = answer(b"<title>A page</title><p>words")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the crawl is kept."""
    return tmp_path / "crawl"


def urlset(*paths: str) -> bytes:
    """A sitemap of these."""
    return f"<urlset>{''.join(f'<url><loc>{path}</loc></url>' for path in paths)}</urlset>".encode()


def xml(body: bytes) -> bytes:
    return answer(body, headers=XML)


SITE: dict[str, Route] = {
    "/robots.txt": answer(b"User-agent: *\nDisallow: /no\nSitemap: /index.xml\nSitemap: /no.xml\n", headers=TEXT),
    "/": PAGE,
    "/index.xml": xml(b"<sitemapindex><sitemap><loc>/s.xml.gz</loc></sitemap></sitemapindex>"),
    "/s.xml.gz": answer(
        gzip.compress(urlset("/a", "/no/b", "http://x.example/")), headers=[("Content-Type", "application/gzip")]
    ),
    "/a": answer(b"<title>A</title><a href=/feed>feed</a>"),
    "/feed": answer(
        b"<rss><channel><title>Latest news</title><item><title>Cuckoo</title><link>/c</link></item></channel></rss>",
        headers=[("Content-Type", "application/rss+xml")],
    ),
    "/c": PAGE,
}
FOUND = {"/robots.txt", "/", "/index.xml", "/s.xml.gz", "/a", "/feed", "/c"}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ((), FOUND),
        (("--no-index",), FOUND),
        (("--no-archive", "--per-host", "4"), FOUND),
        (("--depth", "1"), {"/robots.txt", "/", "/index.xml", "/s.xml.gz", "/a"}),
        (("--depth", "0"), {"/robots.txt", "/"}),
        (("--scope", "page"), {"/robots.txt", "/"}),
        (("--no-sitemaps",), {"/robots.txt", "/"}),
    ],
)
async def test_sitemaps_of_robots_txt(options: tuple[str, ...], asked: set[str], folder: Path) -> None:
    async with WebServer(SITE) as server:
        crawl = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", *options)
        assert crawl.status == 0, crawl.err
        assert set(server.targets) == asked
        assert len(server.targets) == len(asked)


async def test_why_says_where_a_url_was_found_and_that_a_sitemap_is_not_indexed(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        index = (await goodbot("why", server.url("/index.xml"), "--in", folder)).out
        assert server.url("/robots.txt") in index
        assert "a list of 1 URL, 0 of them out of scope" in index
        assert "a sitemap: the pages that it lists are indexed, not the list" in index
        assert server.url("/index.xml") in (await goodbot("why", server.url("/s.xml.gz"), "--in", folder)).out
        assert server.url("/s.xml.gz") in (await goodbot("why", server.url("/a"), "--in", folder)).out
        other = (await goodbot("why", "http://x.example/", "--in", folder, "--json")).json
        assert other["state"] == "out-of-scope"
        hits = (await goodbot("search", "cuckoo", "--in", folder, "--json")).json["hits"]
        assert [(hit["url"], hit["title"]) for hit in hits] == [(server.url("/feed"), "Latest news")]


async def test_several_workers_and_sites(folder: Path) -> None:
    async with WebServer(SITE) as one, WebServer(SITE) as other:
        seeds = (one.url("/"), other.url("/"))
        crawl = await goodbot("crawl", *seeds, "--into", folder, "--allow-private", "--workers", "2")
        assert crawl.status == 0, crawl.err
        assert set(one.targets) == set(other.targets) == FOUND


@pytest.mark.parametrize("seed", ["/index.xml", "/s.xml.gz", "/feed"])
async def test_a_typed_sitemap_or_feed_is_read_as_such(seed: str, folder: Path) -> None:
    async with WebServer(SITE) as server:
        options = ("--allow-private", "--depth", "0", "--no-sitemaps")
        crawl = await goodbot("crawl", server.url(seed), "--into", folder, *options)
        assert crawl.status == 0, crawl.err
        assert "/a" in server.targets or "/c" in server.targets


async def test_a_run_that_ends_early_leaves_the_sitemaps_to_the_next(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--no-sitemaps")
        assert "/index.xml" not in server.targets
        await goodbot("submit", server.url("/c"), "--in", folder)
        await goodbot("crawl", "--into", folder, "--sitemaps")
        assert {"/index.xml", "/a"} <= set(server.targets)
        assert server.targets.count("/robots.txt") == 1


async def test_a_chain_of_sitemaps_without_end_is_left(folder: Path) -> None:
    async def endless(exchange: Exchange) -> None:
        number = int(exchange.target.strip("/s.xml") or 0)
        body = f"<sitemapindex><sitemap><loc>/s{number + 1}.xml</loc></sitemap></sitemapindex>"
        await exchange.send(xml(body.encode()))

    async with WebServer({"/robots.txt": answer(b"", 404)}, fallback=endless) as server:
        crawl = await goodbot("crawl", server.url("/s0.xml"), "--into", folder, "--allow-private")
        assert crawl.status == 0, crawl.err
        assert server.targets == ["/robots.txt", "/s0.xml", "/s1.xml"]
        why = (await goodbot("why", server.url("/s1.xml"), "--in", folder)).out
        assert "a sitemap index inside a sitemap index: the protocol allows one level" in why


@pytest.mark.long
async def test_bombs_and_entities_are_given_up_and_nobody_else_is_asked(folder: Path) -> None:
    async with WebServer() as canary:
        laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
        entities = f'<!ENTITY % p SYSTEM "{canary.url("/p")}"> %p; <!ENTITY x SYSTEM "{canary.url("/x")}">'
        entities += f'<!ENTITY l0 "ha">{laughs}'
        body = (
            f'<!DOCTYPE u SYSTEM "{canary.url("/dtd")}" [{entities}]><urlset><url><loc>/a</loc></url>&x;&l9;</urlset>'
        )
        bomb = gzip.compress(b"<urlset><url><loc>/c</loc></url>" + bytes(200_000_000))
        site: dict[str, Route] = {
            **SITE,
            "/index.xml": xml(body.encode()),
            "/no.xml": answer(bomb, headers=XML),
            "/robots.txt": answer(b"Sitemap: /index.xml\nSitemap: /no.xml", headers=TEXT),
        }
        async with WebServer(site) as server:
            crawl = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--scope", "all")
            assert crawl.status == 0, crawl.err
            assert {"/a", "/c"} <= set(server.targets)
            why = (await goodbot("why", server.url("/index.xml"), "--in", folder)).out
            assert "it declares entities, which are not expanded" in why
        assert canary.targets == []
