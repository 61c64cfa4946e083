"""Public hosts cannot make the robot request private addresses, however they link there. Private pages may."""

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.crawl.following import refuse_private
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.render.rendering import PageRequests, ResourceRequest
from goodbot.robot.render.subresources import PacedFetcher, Subresources
from goodbot.robot.scope.scope import Scope
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, Discovery, Failure, Headers, Request, Response

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
Store = MemoryFrontier | SqliteFrontier
PUBLIC, PRIVATE = "93.184.216.34", "127.0.0.1"
OUTSIDE = "http://example.org/"
INSIDE = "http://127.0.0.1:8000/"
DOCKER = "http://127.0.0.1:2375"
HTML = ("Content-Type", "text/html; charset=utf-8")
XML = ("Content-Type", "application/xml")


class TwoSides(FakeWeb):
    """Addresses written out and `intranet.example` are inside; as the guard has it, none of these is asked for a
    request that is for public addresses only."""

    async def send(self, request: Request) -> Capture:
        inside = request.url.host.startswith("127.") or request.url.host == "intranet.example"
        if not (inside and request.public_only):
            return replace(await super().send(request), peer=PRIVATE if inside else PUBLIC)
        refusal = Failure("private-address", "it is private, and a public host led there")
        return Capture(request, refusal, self._clock.now(), 0.0)


class Scene:
    """A crawl of everything from seeds outside and inside."""

    def __init__(self, answers: Answers, *seeds: str, frontier: Store | None = None, **settings: object) -> None:
        self.clock = FakeClock()
        self.web = TwoSides(answers, self.clock)
        self.frontier = frontier or MemoryFrontier()
        given = Settings(seeds=seeds, scope="all", **settings)  # type: ignore[arg-type]
        urls = [Url(seed) for seed in seeds]
        scope = Scope(given, urls, AddressGuard([ip_network("127.0.0.0/8")]))
        self.frontier.add(Discovery(url, 0) for url in urls)
        self.crawler = Crawler(
            given,
            leases=self.frontier,
            sink=Batch(self.frontier, self.frontier, None, None, self.clock, lambda outcome: None),
            transport=self.web,
            permission=Permission(given, "goodbot", self.web, self.frontier, self.clock),
            politeness=Politeness(given),
            **readers_of(given, "goodbot", scope)._asdict(),
            clock=self.clock,
        )

    def sent_to(self, host: str) -> list[str]:
        return [request.url.text for request in self.web.requests if request.url.host_key == host]

    def states(self) -> dict[str, str]:
        return {record.url.text: record.state for record in self.frontier.records()}

    def why(self, url: str) -> str:
        return next(record.why for record in self.frontier.records() if record.url.text == url)


@pytest.fixture(params=["memory", "sqlite"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Makes an empty frontier."""
    made: list[Store] = []

    def make() -> Store:
        path = tmp_path / f"{len(made)}.sqlite"
        made.append(MemoryFrontier() if request.param == "memory" else SqliteFrontier.open(path, create=True))
        return made[-1]

    return make


def page(*links: str, head: str = "", headers: tuple[tuple[str, str], ...] = ()) -> Response:
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return Response(200, (HTML, *headers), f"<html><head><title>t</title>{head}</head><body>{anchors}".encode())


def robots(body: str) -> Response:
    return Response(200, (("Content-Type", "text/plain"),), body.encode())


def sitemap(*urls: str) -> Response:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Response(
        200, (XML,), f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
    )


def feed(url: str) -> Response:
    body = f'<rss version="2.0"><channel><title>t</title><item><link>{url}</link></item></channel></rss>'
    return Response(200, (("Content-Type", "application/rss+xml"),), body.encode())


def moved(url: str) -> Response:
    return Response(302, (("Location", url),), b"")


def with_robots(url: str) -> Answers:
    return {OUTSIDE + "robots.txt": robots(f"Sitemap: {url}\n"), OUTSIDE: page()}


WAYS: dict[str, Callable[[str], Answers]] = {
    "a link": lambda url: {OUTSIDE: page(url)},
    "META refresh": lambda url: {OUTSIDE: page(head=f'<meta http-equiv="refresh" content="0; url={url}">')},
    "canonical": lambda url: {OUTSIDE: page(head=f'<link rel="canonical" href="{url}">')},
    "alternate": lambda url: {OUTSIDE: page(head=f'<link rel="alternate" href="{url}">')},
    "a frame": lambda url: {OUTSIDE: Response(200, (HTML,), f'<iframe src="{url}"></iframe>'.encode())},
    "a Link header": lambda url: {OUTSIDE: page(headers=(("Link", f'<{url}>; rel="next"'),))},
    "a redirect": lambda url: {OUTSIDE: page("/moved"), OUTSIDE + "moved": moved(url)},
    "a redirect, then a link": lambda url: {
        OUTSIDE: moved("http://example.org/far"),
        OUTSIDE + "far": page(url),
    },
    "a sitemap of robots.txt": with_robots,
    "an entry of a sitemap": lambda url: {**with_robots(OUTSIDE + "map"), OUTSIDE + "map": sitemap(url)},
    "an entry of a feed": lambda url: {OUTSIDE: page("/feed"), OUTSIDE + "feed": feed(url)},
    "a robots.txt that lies outside": lambda url: {
        INSIDE + "robots.txt": moved("http://example.org/theirs"),
        OUTSIDE + "theirs": robots(f"Sitemap: {url}\n"),
        OUTSIDE: page(),
    },
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_public_page_leads_to_nothing_inside(way: str, new_store: Callable[[], Store]) -> None:
    answers: Answers = {**WAYS[way](f"{DOCKER}/containers"), INSIDE: page("b"), INSIDE + "b": page()}
    scene = Scene(answers, OUTSIDE, INSIDE, frontier=new_store())
    assert await scene.crawler.run() == "finished"
    assert scene.sent_to("127.0.0.1:2375") == []
    assert scene.states()[INSIDE + "b"] == "visited"
    if f"{DOCKER}/containers" in scene.states():  # not every way is followed
        assert scene.states()[f"{DOCKER}/containers"] == "out-of-scope"
        assert scene.why(f"{DOCKER}/containers") == (
            "only public pages lead to the private address 127.0.0.1, so it is not fetched"
        )


@pytest.mark.parametrize("way", WAYS)
async def test_nor_to_a_name_that_has_a_private_address(way: str) -> None:
    target = "http://intranet.example/secret"
    answers: Answers = {**WAYS[way](target), INSIDE: page()}
    scene = Scene(answers, OUTSIDE, INSIDE)
    await scene.crawler.run()
    assert scene.sent_to("intranet.example") == []
    if target in scene.states():
        assert scene.states()[target] == "failed"
        assert "a public host led there" in scene.why(target)


@pytest.mark.parametrize("target", [f"{DOCKER}/x", "http://intranet.example/x"])
async def test_a_url_that_a_private_page_links_to_as_well_is_requested(
    target: str, new_store: Callable[[], Store]
) -> None:
    """Whoever names it first."""
    for first, second in ((OUTSIDE, INSIDE), (INSIDE, OUTSIDE)):
        answers: Answers = {first: page(target), second: page("later"), second + "later": page("last")}
        scene = Scene({**answers, second + "last": page(target), target: page()}, OUTSIDE, INSIDE, frontier=new_store())
        await scene.crawler.run()
        assert scene.states()[target] == "visited"
        assert not any(r.public_only for r in scene.web.requests if r.url.text == target)


async def test_what_was_known_is_not_closed_by_a_public_page() -> None:
    answers: Answers = {
        OUTSIDE: page(INSIDE + "b", "http://intranet.example/"),
        INSIDE: page("b"),
        INSIDE + "b": page(),
    }
    answers["http://intranet.example/"] = page()
    scene = Scene(answers, INSIDE, "http://intranet.example/", OUTSIDE)
    await scene.crawler.run()
    assert scene.states()[INSIDE + "b"] == scene.states()["http://intranet.example/"] == "visited"


async def test_behind_a_proxy_the_answering_address_is_unknown() -> None:
    scene = Scene({OUTSIDE: page(f"{DOCKER}/x"), f"{DOCKER}/x": page()}, OUTSIDE, proxy="http://p:1")
    await scene.crawler.run()
    assert scene.states()[f"{DOCKER}/x"] == "visited"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "a.localhost"])
def test_what_is_written_as_private(host: str) -> None:
    assert refuse_private(Url(f"http://{host}/"), public_only=True) is not None
    assert refuse_private(Url(f"http://{host}/"), public_only=False) is None
    assert refuse_private(Url(OUTSIDE), public_only=True) is None


async def test_a_robots_txt_that_may_not_be_requested_closes_nothing_to_others() -> None:
    clock = FakeClock()
    web = TwoSides({"http://intranet.example/robots.txt": robots("User-agent: *\nDisallow: /no")}, clock)
    permission = Permission(Settings(), "goodbot", web, MemoryFrontier(), clock)
    url = Url("http://intranet.example/yes")
    barred = await permission.check(url, public_only=True)
    assert (barred.verdict.allowed, barred.given_up, web.requests) == (False, True, [])
    assert (await permission.check(url)).verdict.allowed
    assert (await permission.check(url, public_only=True)).verdict.allowed


BY_PAGE: Headers = (("referer", INSIDE + "page"),)
BY_FRAME: Headers = (("referer", OUTSIDE), ("origin", "http://example.org"))

# what a private page asks for: a public frame before it, what the browser says of who asks, whether it is asked for
ERRANDS: list[tuple[str, bool, Headers, bool]] = [
    ("the page", False, BY_PAGE, True),
    ("somebody, without a frame", False, (), True),
    ("the page, beside a frame", True, BY_PAGE, True),
    ("the frame", True, BY_FRAME, False),
    ("somebody, beside a frame", True, (), False),
    ("an origin that only begins as the page's", True, (("origin", "http://127.0.0.1:80001"),), False),
]


@pytest.mark.parametrize(("has_frame", "said", "asked"), [e[1:] for e in ERRANDS], ids=[e[0] for e in ERRANDS])
async def test_a_public_frame_in_a_private_page_reaches_nothing_inside(
    has_frame: bool, said: Headers, asked: bool
) -> None:
    secret = f"{DOCKER}/containers"
    clock = FakeClock()
    web = TwoSides(
        {INSIDE: page(), OUTSIDE: page(), secret: Response(200, (("Content-Type", "text/plain"),), b"x")}, clock
    )
    settings, paced = Settings(), PacedFetcher(web, Pace(Settings(), clock))
    permission = Permission(settings, "goodbot", web, MemoryFrontier(), clock)
    subresources = Subresources(settings, "goodbot", permission, paced, clock)
    verdict = (await permission.check(Url(INSIDE))).verdict
    requests = PageRequests(await web.send(Request(Url(INSIDE), verdict)), settings, subresources, clock.now() + 60)
    if has_frame:
        assert await requests.answer(ResourceRequest(OUTSIDE, "document", headers=BY_PAGE)) is not None
    assert (await requests.answer(ResourceRequest(secret, "fetch", headers=said)) is not None) == asked
    assert (secret in [request.url.text for request in web.requests]) == asked
