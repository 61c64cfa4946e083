"""Fetching for the checker page: from public sites only, politely, within limits. Over a fake web, and over real
servers, of which one address counts as public and the others as private."""

import asyncio
from ipaddress import ip_network

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.one_shot import robots_fetcher
from goodbot.ports import Transport
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.testing import FakeClock, FakeResolver, FakeWeb, MemoryFrontier
from goodbot.values import Failure, Response
from goodbot.web.checker.site_robots import (
    FETCHES_PER_MINUTE,
    REFUSAL_DELAY_S,
    REUSE_S,
    SITES_CACHED,
    RobotsFetcher,
    TooManyRequestsError,
)
from webserver import WebServer, answer, silence

CONTACT = Settings(contact="mailto:me@example.org")
RULES = b"User-agent: *\nDisallow: /private/\n"
TEXT = (("Content-Type", "text/plain"),)


class Scene:
    """A fetcher with a web in memory."""

    def __init__(self, settings: Settings = CONTACT, **answers: Response | Failure) -> None:
        self.clock = FakeClock()
        sites = {f"https://{name}.example/robots.txt": result for name, result in answers.items()}
        self.web = FakeWeb(sites, self.clock)
        self.fetcher = RobotsFetcher(settings, "goodbot", lambda: self.web, MemoryFrontier, self.clock)

    @property
    def asked(self) -> list[str]:
        return [request.url.text for request in self.web.requests]


def text(body: bytes) -> Response:
    return Response(200, TEXT, body)


def redirect(target: str) -> Response:
    return Response(301, (("location", target),), b"moved")


# ---- what is asked --------------------------------------------------------------------------------------------------

NAMES = ["a.example", "https://a.example", " https://a.example/shop/?q=1#x ", "HTTPS://A.example/robots.txt"]


@pytest.mark.parametrize("name", NAMES)
async def test_the_robots_txt_of_a_site_is_fetched(name: str) -> None:
    scene = Scene(a=text(RULES))
    site = await scene.fetcher.fetch(name)
    assert scene.asked == ["https://a.example/robots.txt"]
    assert (site.url.text, site.body, site.answer.status) == ("https://a.example/robots.txt", RULES, 200)
    assert not site.access.verdict("https://a.example/private/x", "any").allowed
    assert scene.fetcher.cached("https://a.example") is site
    assert scene.fetcher.cached("https://b.example") is None


@pytest.mark.parametrize("name", ["", "  ", "ftp://a.example/", "https://", "http://[", "a" * 3000, "mailto://x y"])
async def test_text_that_is_not_a_site(name: str) -> None:
    scene = Scene()
    with pytest.raises(InputError, match=r"example\.org|not an http"):
        await scene.fetcher.fetch(name)
    assert scene.asked == []


async def test_redirects_are_reported() -> None:
    scene = Scene(a=redirect("https://b.example/robots.txt"), b=text(RULES))
    site = await scene.fetcher.fetch("a.example")
    assert site.answer.redirects == ("https://a.example/robots.txt", "https://b.example/robots.txt")
    assert site.body == RULES


async def test_redirects_without_an_end() -> None:
    site = await Scene(a=redirect("/robots.txt")).fetcher.fetch("a.example")
    assert (site.answer.status, len(site.answer.redirects), site.access.result) == (301, 7, "unavailable")


async def test_no_response_is_a_result() -> None:
    site = await Scene(a=Failure("connect", "no connection could be made")).fetcher.fetch("a.example")
    assert (site.answer.status, site.body) == (None, b"")
    assert "no connection" in (site.answer.failure or "")


async def test_without_a_contact_nothing_is_fetched() -> None:
    scene = Scene(Settings(), a=text(RULES))
    with pytest.raises(InputError, match="GOODBOT_CONTACT"):
        await scene.fetcher.fetch("a.example")
    assert scene.asked == []


async def test_with_a_proxy_nothing_is_fetched() -> None:
    """Only the proxy knows which address a name has."""
    scene = Scene(Settings(contact="me@example.org", proxy="http://127.0.0.1:8080"), a=text(RULES))
    with pytest.raises(InputError, match="proxy"):
        await scene.fetcher.fetch("a.example")
    assert scene.asked == []


# ---- how often ------------------------------------------------------------------------------------------------------


async def test_an_answer_is_reused() -> None:
    scene = Scene(a=text(RULES))
    first = await scene.fetcher.fetch("a.example")
    scene.clock.advance(REUSE_S - 1)
    assert await scene.fetcher.fetch("https://a.example/other") is first
    scene.clock.advance(2)
    assert await scene.fetcher.fetch("a.example") is not first
    assert len(scene.asked) == 2


async def test_fetches_per_minute_are_limited() -> None:
    scene = Scene()
    for number in range(FETCHES_PER_MINUTE):
        await scene.fetcher.fetch(f"s{number}.example")
    with pytest.raises(TooManyRequestsError):
        await scene.fetcher.fetch("one-more.example")
    scene.clock.advance(61)
    await scene.fetcher.fetch("one-more.example")
    assert len(scene.asked) == FETCHES_PER_MINUTE + 1


async def test_the_cache_is_limited() -> None:
    scene = Scene()
    for number in range(SITES_CACHED + 1):
        scene.clock.advance(60)
        await scene.fetcher.fetch(f"s{number}.example")
    known = [scene.fetcher.cached(f"https://s{number}.example") is not None for number in range(SITES_CACHED + 1)]
    assert known == [False] + [True] * SITES_CACHED


# ---- private addresses ----------------------------------------------------------------------------------------------

PRIVATE = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8020/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "http://x.localhost./",
    "http://10.1.2.3/",
    "http://192.168.0.1/",
    "http://169.254.169.254/latest/",
    "http://[fe80::1]/",
    "http://0.0.0.0/",
]


@pytest.mark.parametrize("name", PRIVATE)
async def test_private_addresses_are_refused(name: str) -> None:
    scene = Scene()
    with pytest.raises(InputError, match="on a private address, and this page fetches from public sites only"):
        await scene.fetcher.fetch(name)
    assert scene.asked == []
    with pytest.raises(InputError, match="on a private address"):  # also by a crawl that may go there
        await robots_fetcher(Settings(contact="me@example.org", allow_private=True)).fetch(name)


async def test_a_name_that_leads_inside() -> None:
    """The transport as `goodbot serve` has it: no name and no `resolve` opens a private range."""
    async with WebServer({"/robots.txt": answer(RULES, headers=TEXT)}) as server:
        settings = Settings(
            contact="me@example.org", allow_private=True, resolve=(f"inside.example:{server.port}:127.0.0.1",)
        )
        with pytest.raises(InputError, match=r"^inside\.example has no public address") as refused:
            await robots_fetcher(settings).fetch(f"http://inside.example:{server.port}/")
        assert "127.0.0.1" not in str(refused.value)
        assert server.targets == []


async def test_a_redirect_that_leads_inside() -> None:
    async with WebServer({"/robots.txt": answer(RULES, headers=TEXT)}, host="127.0.0.2") as inside:
        there = {
            f"http://127.0.0.2:{inside.port}/robots.txt": "127.0.0.2, which is on a private address",
            f"http://inside.example:{inside.port}/robots.txt": "inside.example, which has no public address",
            "http://nowhere.example/robots.txt": "nowhere.example, which has no public address",
        }
        for target, reason in there.items():
            moved = answer(b"", 302, [("Location", target)])
            async with WebServer({"/robots.txt": moved}) as outside:
                with pytest.raises(InputError, match=f"^it redirects to {reason}, and"):
                    await real_fetcher().fetch(f"http://public.example:{outside.port}/")
                assert outside.targets == ["/robots.txt"]
        assert inside.targets == []


async def test_names_inside_and_names_that_do_not_exist_are_refused_alike() -> None:
    """Otherwise the words or the response time would reveal which names exist in the server's own network."""
    refused = []
    for failure, took_s in (
        (Failure("private-address", "x.example leads to a private address: 10.1.2.3"), 0.01),
        (Failure("dns", "the name has no address (x.example)"), 0.7),
    ):
        scene = Scene()
        scene.web = FakeWeb({"https://x.example/robots.txt": failure}, scene.clock, elapsed_s=took_s)
        began_at = scene.clock.now()
        with pytest.raises(InputError) as error:
            await scene.fetcher.fetch("x.example")
        refused.append((str(error.value), scene.clock.now() - began_at))
    assert refused[0] == refused[1]
    assert refused[0][1] == pytest.approx(REFUSAL_DELAY_S)


async def test_a_site_that_is_public() -> None:
    async with WebServer({"/robots.txt": answer(RULES, headers=TEXT)}) as server:
        site = await real_fetcher().fetch(f"http://public.example:{server.port}/")
        assert site.body == RULES
        assert server.exchanges[0].header("From") == "me@example.org"


async def test_a_site_that_does_not_respond() -> None:
    async with WebServer({"/robots.txt": silence}) as server:
        fetcher = real_fetcher(timeout_s=0.3)
        with pytest.raises(InputError, match=r"has not answered within 0\.3 seconds"):
            await asyncio.wait_for(fetcher.fetch(f"http://public.example:{server.port}/"), 60)


def real_fetcher(timeout_s: float = 60.0) -> RobotsFetcher:
    """Makes a fetcher over sockets, for which 127.0.0.1 alone is public."""
    names = {"public.example": ["127.0.0.1"], "inside.example": ["127.0.0.2"]}
    guard, clock = AddressGuard([ip_network("127.0.0.1/32")]), SystemClock()

    def transport() -> Transport:
        return CurlTransport(CONTACT, guard, "goodbot/0", "me@example.org", clock, resolver=FakeResolver(names))

    return RobotsFetcher(CONTACT, "goodbot", transport, MemoryFrontier, clock, timeout_s, refusal_delay_s=0.0)
