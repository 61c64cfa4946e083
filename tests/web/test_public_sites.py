"""Documents fetched for visitors: robots.txt first, from public sites only. Over real servers, of which 127.0.0.1
counts as public and 127.0.0.2 as private."""

import asyncio
from functools import partial

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.one_shot import public_sites
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Response
from goodbot.web.public_sites import (
    BODY_BYTES,
    FETCHES_PER_MINUTE,
    MAX_HOPS,
    PublicSites,
    SiteVisit,
    TooManyRequestsError,
    VisitedDocument,
)
from visitors.visited_crawls import CONTACT, INSIDE, PUBLIC, sites, url_at
from webserver import WebServer, answer, silence

TEXT = [("Content-Type", "text/plain")]
KNOWN = Settings(contact=CONTACT)
RULES = answer(b"User-agent: *\nDisallow: /closed\n", headers=TEXT)


def moved(target: str, status: int = 301) -> bytes:
    return answer(b"", status, [("Location", target)])


async def fetched(url: Url, hops: int = 0, visited: PublicSites | None = None) -> VisitedDocument:
    return await (visited or sites()).visit(url, lambda visit: visit.document(url, hops=hops))


async def test_a_document() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": answer(b"hello", headers=TEXT)}) as server:
        document = await fetched(url_at(server, "/a"))
        assert document.response is not None
        assert (document.response.status, document.response.body, document.trouble) == (200, b"hello", "")
        assert server.targets == ["/robots.txt", "/a"]
        assert server.exchanges[1].header("From") == CONTACT
        assert "goodbot" in (server.exchanges[1].header("User-Agent") or "")


async def test_robots_txt_decides() -> None:
    async with WebServer({"/robots.txt": RULES}) as server:
        document = await fetched(url_at(server, "/closed"))
        assert (document.response, document.verdict.line) == (None, 2)
        assert document.trouble == document.verdict.reason
        assert server.targets == ["/robots.txt"]


async def test_robots_txt_that_is_unreachable() -> None:
    async with WebServer({"/robots.txt": answer(b"", 503), "/a": answer(b"hello")}) as server:
        document = await fetched(url_at(server, "/a"))
        assert (document.response, document.verdict.access) == (None, "unreachable")
        assert set(server.targets) == {"/robots.txt"}


async def test_redirects_within_the_host_are_followed() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": moved("/b"), "/b": moved("/c"), "/c": answer(b"here")}) as server:
        document = await fetched(url_at(server, "/a"), hops=2)
        assert document.response is not None
        assert (document.response.body, document.url) == (b"here", url_at(server, "/c"))
        document = await fetched(url_at(server, "/a"), hops=1)
        assert document.response is not None
        assert (document.response.status, document.url) == (301, url_at(server, "/b"))


@pytest.mark.parametrize(
    "target", ["/a", "/closed", f"http://{INSIDE}/", "http://other.example/", "file:///etc/passwd"]
)
async def test_other_redirects_are_not_followed(target: str) -> None:
    async with WebServer({"/robots.txt": RULES, "/a": moved(target)}) as server:
        document = await fetched(url_at(server, "/a"), hops=MAX_HOPS)
        status = document.response.status if document.response is not None else None
        assert (status, document.url.path) == ((None, "/closed") if target == "/closed" else (301, "/a"))
        assert server.targets == ["/robots.txt", "/a"]


async def test_private_addresses_get_no_request() -> None:
    async with WebServer({"/robots.txt": RULES}, host="127.0.0.2") as inside:
        for host in ("127.0.0.2", INSIDE):
            with pytest.raises(InputError, match="fetches from public sites only"):
                await fetched(url_at(inside, "/a", host))
        async with WebServer({"/robots.txt": moved(url_at(inside, "/robots.txt", INSIDE).text)}) as server:
            with pytest.raises(InputError, match=rf"^it redirects to {INSIDE}, which has no public address"):
                await fetched(url_at(server, "/a"))
        assert inside.targets == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "[::1]", "2130706433"])
async def test_as_served_no_setting_opens_a_private_address(host: str) -> None:
    visited = public_sites(Settings(contact=CONTACT, allow_private=True, resolve=("*:80:127.0.0.1",)))
    url = Url(f"http://{'127.0.0.1' if host.isdigit() else host}/")
    with pytest.raises(InputError, match="is on a private address"):
        await fetched(url, visited=visited)


async def test_a_name_pinned_to_a_private_address_is_refused_as_served() -> None:
    async with WebServer({"/robots.txt": RULES}) as server:
        pins = (f"{PUBLIC}:{server.port}:127.0.0.1",)
        visited = public_sites(Settings(contact=CONTACT, allow_private=True, resolve=pins))
        with pytest.raises(InputError, match=f"^{PUBLIC} has no public address"):
            await fetched(url_at(server, "/a"), visited=visited)
        assert server.targets == []


async def test_no_passwords_and_no_cookies_are_sent() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": answer(b"x", headers=[("Set-Cookie", "a=b")])}) as server:
        auth = (f"http://{PUBLIC}:{server.port}=basic:me:secret",)
        visited = sites(Settings(contact=CONTACT, delay=0, cookies=True, auth=auth))
        for _ in range(2):
            await fetched(url_at(server, "/a"), visited=visited)
        assert [exchange.header("Authorization") for exchange in server.exchanges] == [None] * 4
        assert [exchange.header("Cookie") for exchange in server.exchanges] == [None] * 4


async def test_a_long_document_is_cut() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": answer(b"x" * (BODY_BYTES + 1), headers=TEXT)}) as server:
        document = await fetched(url_at(server, "/a"))
        assert document.response is not None
        assert (len(document.response.body), document.response.truncated) == (BODY_BYTES, "length")


async def test_a_site_that_does_not_answer() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": silence}) as server:
        with pytest.raises(InputError, match=r"has not answered within 0\.3 seconds"):
            await asyncio.wait_for(fetched(url_at(server, "/a"), visited=sites(timeout_s=0.3)), 60)


async def test_a_connection_that_breaks() -> None:
    async with WebServer({"/robots.txt": RULES, "/a": b"HTTP/1.1 nonsense\r\n\r\n"}) as server:
        document = await fetched(url_at(server, "/a"))
        assert document.response is None
        assert document.trouble.startswith(f"{PUBLIC} gave no answer: ")


async def test_a_bot_wall_is_no_document() -> None:
    wall = answer(
        b"<title>Just a moment...</title>", 403, [("Content-Type", "text/html"), ("cf-mitigated", "challenge")]
    )
    async with WebServer({"/robots.txt": RULES, "/a": wall}) as server:
        document = await fetched(url_at(server, "/a"))
        assert (document.response, document.trouble) == (None, f"a bot wall (Cloudflare) answered for {PUBLIC}")


# ---- with a clock of its own ----------------------------------------------------------------------------------------


class Scene:
    """Sites in memory."""

    def __init__(self, settings: Settings = KNOWN, robots: Response | None = None) -> None:
        self.clock = FakeClock()
        self.web = FakeWeb({"https://a.example/robots.txt": robots} if robots is not None else {}, self.clock)
        self.sites = PublicSites(settings, "goodbot", lambda: self.web, MemoryFrontier, self.clock)

    async def fetch(self, path: str) -> VisitedDocument:
        return await self.sites.visit(Url(f"https://a.example/{path}"), partial(_document, path))


async def _document(path: str, visit: SiteVisit) -> VisitedDocument:
    return await visit.document(Url(f"https://a.example/{path}"))


async def test_requests_keep_their_distance_also_between_visits() -> None:
    scene = Scene()
    for _ in range(2):
        await scene.fetch("a")
    gaps = [later - sooner for sooner, later in zip(scene.web.times, scene.web.times[1:], strict=False)]
    assert len(gaps) == 3
    assert min(gaps) >= 1.0


async def test_a_delay_that_is_too_long_for_a_visitor() -> None:
    robots = Response(200, (("content-type", "text/plain"),), b"User-agent: *\nCrawl-delay: 60\n")
    scene = Scene(robots=robots)
    document = await scene.fetch("a")
    assert (document.response, document.trouble) == (None, "this server may not request a.example for another 60 s")
    assert len(scene.web.requests) == 1


async def test_too_many_visits() -> None:
    scene = Scene(Settings(contact=CONTACT, delay=0, response_factor=0))
    for _ in range(FETCHES_PER_MINUTE):
        await scene.fetch("a")
    with pytest.raises(TooManyRequestsError, match=r"try again in a minute$"):
        await scene.fetch("a")
    scene.clock.advance(61)
    await scene.fetch("a")


WHY_NOT = [
    (Settings(), "has no contact"),
    (Settings(contact=CONTACT, proxy="http://127.0.0.1:8080"), "through a proxy"),
]


@pytest.mark.parametrize(("settings", "reason"), WHY_NOT)
async def test_settings_that_permit_no_visit(settings: Settings, reason: str) -> None:
    scene = Scene(settings)
    assert reason in scene.sites.why_not
    with pytest.raises(InputError, match=reason):
        await scene.fetch("a")
    assert scene.web.requests == []
