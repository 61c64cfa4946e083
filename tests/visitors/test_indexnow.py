"""IndexNow requests carried out: the key is fetched from a real server, the pages are those of a real frontier."""

import json
import time
from math import inf
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.values import Discovery, LastVisit, Outcome, Release
from goodbot.visitor_values import IndexNowOutcome
from goodbot.web.public_sites import FETCHES_PER_MINUTE, PublicSites
from goodbot.web.visitors.indexnow import IndexNowRequest, parse_indexnow
from visitors.visited_crawls import CONTACT, INSIDE, PUBLIC, services, sites, url_at
from webserver import Route, WebServer, answer, closing

KEY = "0123456789abcdef"
NOW = time.time()
SEEN = LastVisit(at=NOW - 100, due_at=NOW + 1e6, interval_s=1e6, changed_at=NOW - 100, etag='"1"', indexed=True)
TEXT = [("Content-Type", "text/plain")]


def crawl_of(folder: Path, server: WebServer, more: str = "") -> Path:
    """A crawl whose seed is the server, and which has visited the page /old."""
    seed, old = url_at(server, "/"), url_at(server, "/old")
    with SqliteFrontier.open(folder / "frontier.sqlite", create=True) as frontier:
        frontier.add([Discovery(old, 0)])
        (lease,) = frontier.lease(1, 1, NOW)
        frontier.settle([Outcome(old, "visited", NOW - 100, "status 200", seen=SEEN)], [Release(lease.host, 0.0)])
    (folder / "goodbot.toml").write_text(f'seeds = ["{seed}"]\ncontact = "{CONTACT}"\n{more}')
    return folder


def request(server: WebServer, *paths: str, key: str = KEY, name: str = PUBLIC) -> IndexNowRequest:
    urls = [url_at(server, path, name).text for path in paths]
    body = {"host": f"{name}:{server.port}", "key": key, "urlList": urls}
    found = parse_indexnow(json.dumps(body).encode())
    assert isinstance(found, IndexNowRequest)
    return found


def results(outcome: IndexNowOutcome) -> list[str]:
    return [item.result for item in outcome.submissions]


def due(folder: Path) -> set[str]:
    """The paths that the crawl would request next."""
    with SqliteFrontier.open(folder / "frontier.sqlite", revisit_until=inf) as frontier:
        return {item.url.path for lease in frontier.lease(10, 1000, time.time()) for item in lease.urls}


async def test_a_right_key(tmp_path: Path) -> None:
    async with WebServer({f"/{KEY}.txt": answer(f"{KEY}\n".encode(), headers=TEXT)}) as server:
        indexnow = services(crawl_of(tmp_path, server)).indexnow
        outcome = await indexnow.take(request(server, "/old", "/new"))
        assert (outcome.status, outcome.reason) == (200, "2 of 2 URLs belong to this crawl")
        assert results(outcome) == ["known", "submitted"]
        assert server.targets == ["/robots.txt", f"/{KEY}.txt"]
        again = await indexnow.take(request(server, "/newer"))
        assert (again.status, len(server.targets)) == (200, 2)  # the key is known by now
        assert due(tmp_path) == {"/old", "/new", "/newer"}


WRONG: dict[str, tuple[Route, str]] = {
    "another key": (answer(b"another key", headers=TEXT), "does not have the key"),
    "a page that has the key": (answer(f"<p>{KEY}".encode()), "does not have the key"),
    "a long file": (answer(KEY.encode() + b" " * 2000, headers=TEXT), "does not have the key"),
    "an empty file": (answer(b"", headers=TEXT), "does not have the key"),
    "no file": (answer(b"", 404), "answers with status 404"),
    "a redirect elsewhere": (
        answer(b"", 302, [("Location", "https://evil.example/key.txt")]),
        "answers with status 302",
    ),
    "half an answer": (closing(b"HTTP/1.1 200 OK\r\nnonsense"), "gave no answer"),
}


@pytest.mark.parametrize(("route", "reason"), WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_key(tmp_path: Path, route: Route, reason: str) -> None:
    async with WebServer({f"/{KEY}.txt": route}) as server:
        indexnow = services(crawl_of(tmp_path, server)).indexnow
        for _ in range(2):
            outcome = await indexnow.take(request(server, "/old", "/new"))
            assert (outcome.status, outcome.submissions) == (403, ())
            assert reason in outcome.reason
        assert due(tmp_path) == set()


async def test_robots_txt_closes_the_key_file(tmp_path: Path) -> None:
    async with WebServer({"/robots.txt": answer(b"User-agent: *\nDisallow: /\n", headers=TEXT)}) as server:
        outcome = await services(crawl_of(tmp_path, server)).indexnow.take(request(server, "/new"))
        assert outcome.status == 403
        assert "Disallow: / (line 2)" in outcome.reason
        assert server.targets == ["/robots.txt"]


@pytest.mark.parametrize("path", ["/new", "/old"])
async def test_another_host_is_not_requested(tmp_path: Path, path: str) -> None:
    async with WebServer() as server, WebServer() as other:
        indexnow = services(crawl_of(tmp_path, server)).indexnow
        outcome = await indexnow.take(request(other, path, name="other.example"))
        assert (outcome.status, results(outcome)) == (403, ["out of scope"])
        assert "other.example is not the host of a seed" in outcome.reason
        assert (server.targets, other.targets) == ([], [])


async def test_known_hosts(tmp_path: Path) -> None:
    async with WebServer() as server:
        indexnow = services(crawl_of(tmp_path, server)).indexnow
        seed = url_at(server, "/")
        hosts = (seed.authority, seed.authority.upper(), "other.example", "1.2.3.4.5", "", "a b", "x" * 300)
        assert [indexnow.knows(host) for host in hosts] == [True, True, False, False, False, False, False]


async def test_only_urls_in_scope_are_submitted(tmp_path: Path) -> None:
    async with WebServer({f"/{KEY}.txt": answer(KEY.encode(), headers=TEXT)}) as server:
        folder = crawl_of(tmp_path, server, 'exclude = ["*/x/*"]\n')
        outcome = await services(folder).indexnow.take(request(server, "/x/1", "/new", "/x/2"))
        assert (outcome.status, outcome.reason) == (200, "1 of 3 URLs belong to this crawl")
        assert results(outcome) == ["out of scope", "submitted", "out of scope"]


UNCHECKED = {
    "no contact": (Settings(delay=0), PUBLIC, 'scope = "all"\n'),
    "a proxy": (Settings(contact=CONTACT, proxy="http://127.0.0.1:9"), PUBLIC, ""),
}


@pytest.mark.parametrize(("settings", "name", "more"), UNCHECKED.values(), ids=UNCHECKED.keys())
async def test_a_key_that_cannot_be_checked(tmp_path: Path, settings: Settings, name: str, more: str) -> None:
    """Its URLs count as submitted by a visitor, so a page visited before is not due."""
    async with WebServer() as server:
        visitors = services(crawl_of(tmp_path, server, more), sites(settings)).indexnow
        outcome = await visitors.take(request(server, "/old", "/new", name=name))
        assert (outcome.status, results(outcome)) == (202, ["known", "submitted"])
        assert outcome.reason.startswith("this server cannot check the key")
        assert server.targets == []
        assert due(tmp_path) == {"/new"}


@pytest.mark.parametrize("name", ["127.0.0.1", INSIDE])
async def test_a_seed_on_a_private_address(tmp_path: Path, name: str) -> None:
    async with WebServer() as server:
        seed = url_at(server, "/", name)
        with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True) as frontier:
            frontier.add([Discovery(seed, 0)])
        pin = f'resolve = ["{INSIDE}:{server.port}:127.0.0.1"]\n'
        (tmp_path / "goodbot.toml").write_text(
            f'seeds = ["{seed}"]\nallow_private = true\ncontact = "{CONTACT}"\n{pin}'
        )
        outcome = await services(tmp_path).indexnow.take(request(server, "/new", name=name))
        assert (outcome.status, results(outcome)) == (202, ["submitted"])
        assert server.targets == []


async def test_another_private_address(tmp_path: Path) -> None:
    async with WebServer() as server, WebServer() as other:
        indexnow = services(crawl_of(tmp_path, server, 'scope = "all"\nallow_private = true\n')).indexnow
        outcome = await indexnow.take(request(other, "/new", name="127.0.0.1"))
        assert (outcome.status, results(outcome)) == (403, ["private"])
        outcome = await indexnow.take(request(other, "/new", name=INSIDE))
        assert (outcome.status, outcome.submissions) == (403, ())
        assert "has no public address" in outcome.reason
        assert other.targets == []


async def test_only_some_urls_are_taken_without_a_check(tmp_path: Path) -> None:
    async with WebServer() as server:
        indexnow = services(
            crawl_of(tmp_path, server), sites(Settings(contact=CONTACT, proxy="http://127.0.0.1:9"))
        ).indexnow
        outcome = await indexnow.take(request(server, *(f"/{number}" for number in range(150))))
        assert (outcome.status, len(outcome.submissions)) == (202, 100)
        assert outcome.reason.endswith(
            "only the first 100 URLs count as submitted by a visitor: 100 of 100 URLs belong to this crawl"
        )


async def test_too_many_keys(tmp_path: Path) -> None:
    async with WebServer() as server:
        visited: PublicSites = sites()
        indexnow = services(crawl_of(tmp_path, server), visited).indexnow
        statuses = [
            (await indexnow.take(request(server, "/new", key=f"{number:08}"))).status
            for number in range(FETCHES_PER_MINUTE + 1)
        ]
        assert statuses == [403] * FETCHES_PER_MINUTE + [429]


@pytest.mark.long
async def test_ten_thousand_urls(tmp_path: Path) -> None:
    async with WebServer({f"/{KEY}.txt": answer(KEY.encode(), headers=TEXT)}) as server:
        outcome = await services(crawl_of(tmp_path, server)).indexnow.take(
            request(server, *(f"/{number}" for number in range(10_000)))
        )
        assert (outcome.status, outcome.reason) == (200, "10,000 of 10,000 URLs belong to this crawl")
        with SqliteFrontier.open(tmp_path / "frontier.sqlite", read_only=True) as frontier:
            assert frontier.status().states["ready"] == 10_000
