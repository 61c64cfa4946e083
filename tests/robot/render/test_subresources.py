"""Requests of pages: judged, paced, redirected and cached, over a fake web and a fake clock."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.config import Settings
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission
from goodbot.robot.render.rendering import PageRequests, RenderedDom, ResourceRequest, ServedResource, may_run
from goodbot.robot.render.subresources import FetchedResource, PacedFetcher, RefusedResource, Subresources
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Capture, Request, Response

SITE = "http://site.example"
LATER = float("inf")


def script(body: bytes = b"0", *fields: tuple[str, str]) -> Response:
    return Response(200, (("Content-Type", "text/javascript"), *fields), body)


def redirect(to: str) -> Response:
    return Response(302, (("Location", to),), b"")


class Desk:
    """`Subresources` over a web in memory."""

    def __init__(self, answers: dict[str, Response], *, peer: str | None = None, **settings: object) -> None:
        self.settings = Settings(**settings)  # type: ignore[arg-type]
        self.clock = FakeClock()
        self.web = FakeWeb(answers, self.clock, elapsed_s=0.1, peer=peer)
        self.transport = PacedFetcher(self.web, Pace(self.settings, self.clock))
        self.kept: list[tuple[str, bool]] = []
        self.permission = Permission(self.settings, "goodbot", self.transport, MemoryFrontier(), self.clock)
        self.subresources = Subresources(
            self.settings, "goodbot", self.permission, self.transport, self.clock, self._keep
        )

    def _keep(self, capture: Capture, headers_only: bool) -> None:
        self.kept.append((capture.request.url.text, headers_only))

    async def get(
        self, url: str, until: float = LATER, *, public_only: bool = False
    ) -> FetchedResource | RefusedResource:
        return await self.subresources.get(Url(url), (), until, public_only=public_only)

    async def page(self, url: str = f"{SITE}/", body: bytes = b"<script></script>") -> Capture:
        permit = await self.permission.check(Url(url))
        response = Response(200, (("Content-Type", "text/html"),), body)
        return Capture(Request(Url(url), permit.verdict), response, self.clock.now(), 0.1, "93.184.216.34")

    @property
    def asked(self) -> list[str]:
        return [request.url.text for request in self.web.requests]

    def gaps(self) -> list[float]:
        return [round(after - before, 3) for before, after in pairwise(self.web.times)]


def robots(text: str) -> Response:
    return Response(200, (("Content-Type", "text/plain"),), text.encode())


async def test_requests_of_pages_wait_for_each_other_and_for_the_crawl() -> None:
    names = [f"{SITE}/{number}.js" for number in range(3)]
    control = Desk({f"{SITE}/robots.txt": robots("User-agent: *\nCrawl-delay: 7"), **dict.fromkeys(names, script())})
    page = await control.page()
    await asyncio.gather(control.transport.send(page.request), *(control.get(name) for name in names))
    assert sorted(control.asked[1:]) == sorted([f"{SITE}/", *names])
    assert min(control.gaps()[1:]) >= 7
    assert control.web.most_in_flight == 1


async def test_other_hosts_do_not_wait() -> None:
    urls = [f"http://{name}.example/x.js" for name in "abc"]
    control = Desk(dict.fromkeys(urls, script()))
    await asyncio.gather(*map(control.get, urls))
    assert control.web.most_in_flight == 3


async def test_the_answer_says_when_its_host_may_be_requested_again() -> None:
    control = Desk({f"{SITE}/robots.txt": robots("User-agent: *\nCrawl-delay: 7"), f"{SITE}/x.js": script()})
    result = await control.get(f"{SITE}/x.js")
    assert isinstance(result, FetchedResource)
    assert result.ready_at == control.web.times[-1] + 0.1 + 7


async def test_a_request_that_cannot_be_sent_in_time_is_refused_at_once() -> None:
    control = Desk({f"{SITE}/robots.txt": robots("User-agent: *\nCrawl-delay: 60"), f"{SITE}/x.js": script()})
    began_at = control.clock.now()
    result = await control.get(f"{SITE}/x.js", until=began_at + 30)
    assert isinstance(result, RefusedResource)
    assert "its host may be requested again only in 60 s" in result.reason
    assert control.clock.now() < began_at + 1
    assert control.asked == [f"{SITE}/robots.txt"]


async def test_a_host_in_trouble_is_left_alone() -> None:
    busy = Response(503, (("Retry-After", "600"),), b"")
    control = Desk({f"{SITE}/a.js": busy, f"{SITE}/b.js": script()})
    await control.get(f"{SITE}/a.js", control.clock.now() + 30)
    result = await control.get(f"{SITE}/b.js", control.clock.now() + 30)
    assert isinstance(result, RefusedResource)
    assert control.asked[-1] == f"{SITE}/a.js"


KEPT = [
    ("ten minutes if nothing is said", (), 599.0, True),
    ("and no longer", (), 601.0, False),
    ("as long as it says", (("Cache-Control", "max-age=3600"),), 3599.0, True),
    ("not what is stale, but for a minute", (("Cache-Control", "no-store"),), 61.0, False),
    ("which is one page", (("Cache-Control", "no-store"),), 50.0, True),
]


@pytest.mark.parametrize(("fields", "later_s", "known"), [row[1:] for row in KEPT], ids=[row[0] for row in KEPT])
async def test_kept(fields: tuple[tuple[str, str], ...], later_s: float, known: bool) -> None:
    control = Desk({f"{SITE}/x.js": script(b"0", *fields)})
    await control.get(f"{SITE}/x.js")
    control.clock.advance(later_s)
    result = await control.get(f"{SITE}/x.js")
    assert isinstance(result, FetchedResource)
    assert control.asked.count(f"{SITE}/x.js") == (1 if known else 2)


async def test_pages_that_ask_at_once_ask_once() -> None:
    control = Desk({f"{SITE}/x.js": script()})
    await asyncio.gather(*(control.get(f"{SITE}/x.js") for _ in range(5)))
    assert control.asked.count(f"{SITE}/x.js") == 1


async def test_what_is_kept_is_bounded() -> None:
    body = b"x" * 3_000_000
    urls = [f"{SITE}/{number}.js" for number in range(30)]
    control = Desk(dict.fromkeys(urls, script(body)), delay=0.0, response_factor=0.0)
    for url in urls:
        await control.get(url)
    assert control.subresources._cache_bytes <= 64 * 1024 * 1024
    assert len(control.subresources._cache) == 22


async def test_each_redirect_needs_a_verdict_of_its_own() -> None:
    other = "http://other.example"
    control = Desk(
        {
            f"{SITE}/x.js": redirect(f"{other}/y.js"),
            f"{other}/robots.txt": robots("User-agent: *\nDisallow: /"),
            f"{other}/y.js": script(),
        }
    )
    result = await control.get(f"{SITE}/x.js")
    assert isinstance(result, RefusedResource)
    assert (result.by_robots_txt, result.line) == (True, 2)
    assert f"{other}/y.js" not in control.asked


async def test_redirects_end() -> None:
    control = Desk({f"{SITE}/x.js": redirect("/x.js")})
    result = await control.get(f"{SITE}/x.js")
    assert isinstance(result, RefusedResource)
    assert "redirects" in result.reason


async def test_a_public_host_cannot_lead_to_a_private_address() -> None:
    control = Desk({f"{SITE}/x.js": redirect("http://127.0.0.1:8000/x.js")}, peer="93.184.216.34")
    for url in ("http://127.0.0.1:8000/x.js", "http://[::1]/x.js", "http://localhost/x.js"):
        assert isinstance(await control.get(url, public_only=True), RefusedResource)
    assert control.asked == []
    result = await control.get(f"{SITE}/x.js")
    assert isinstance(result, RefusedResource)
    assert control.asked == [f"{SITE}/robots.txt", f"{SITE}/x.js"]
    assert [request.public_only for request in control.web.requests] == [False, False]


async def test_names_of_a_public_page_may_not_lead_inside_either() -> None:
    control = Desk({f"{SITE}/x.js": script()})
    await control.get(f"{SITE}/x.js", public_only=True)
    assert control.web.requests[-1].public_only


async def test_the_archive_gets_each_answer_once_and_no_body_that_asks_not_to_be_kept() -> None:
    control = Desk({f"{SITE}/a.js": script(), f"{SITE}/b.js": script(b"0", ("X-Robots-Tag", "noarchive"))})
    for name in ("a", "b", "a"):
        await control.get(f"{SITE}/{name}.js")
    assert control.kept == [(f"{SITE}/a.js", False), (f"{SITE}/b.js", True)]


# ---- one page's requests ---------------------------------------------------------------------------------------------


async def requests_of(control: Desk) -> PageRequests:
    return PageRequests(await control.page(), control.settings, control.subresources, LATER)


async def test_a_page_gets_so_many_answers_and_no_more() -> None:
    control = Desk({f"{SITE}/{number}": script() for number in range(5)}, render_requests=3, delay=0.0)
    requests = await requests_of(control)
    result = [await requests.answer(ResourceRequest(f"{SITE}/{number}", "script")) for number in range(5)]
    assert [one is not None for one in result] == [True, True, True, False, False]


async def test_a_page_gets_so_many_bytes_and_no_more() -> None:
    bodies = {f"{SITE}/{number}": script(b"x" * 4_000_000) for number in range(4)}
    control = Desk(bodies, delay=0.0)
    requests = await requests_of(control)
    result = [await requests.answer(ResourceRequest(url, "fetch")) for url in bodies]
    assert [one is not None for one in result] == [True, True, False, False]


async def test_a_page_that_sends_endless_requests_is_stopped() -> None:
    control = Desk({})
    requests = await requests_of(control)
    for number in range(500):
        assert not requests.is_flooded
        await requests.answer(ResourceRequest(f"{SITE}/{number}", "image"))
    assert requests.is_flooded
    rendered = requests.rendered(RenderedDom(None, "flood"), 0.0, 1.0)
    assert "500 refused: 500 kind image" in rendered.events[-1].reason


async def test_only_what_a_server_may_need_is_handed_on() -> None:
    control = Desk({f"{SITE}/x": script()})
    requests = await requests_of(control)
    said = (("accept", "application/json"), ("origin", SITE), ("cookie", "a=b"), ("user-agent", "Chrome"), ("x-a", "b"))
    await requests.answer(ResourceRequest(f"{SITE}/x", "fetch", "GET", said))
    assert control.web.requests[-1].headers == (("accept", "application/json"), ("origin", SITE))


async def test_the_browser_gets_no_field_that_has_it_do_more() -> None:
    fields = (
        *(("Content-Encoding", "identity"), ("Set-Cookie", "a=b"), ("NEL", "{}"), ("Report-To", "{}")),
        *(("Refresh", "0;url=/"), ("X-Total", "7"), ("Access-Control-Allow-Origin", "*")),
    )
    control = Desk({f"{SITE}/x": script(b"0", *fields)})
    served = await (await requests_of(control)).answer(ResourceRequest(f"{SITE}/x", "fetch"))
    assert isinstance(served, ServedResource)
    assert [name for name, _ in served.headers] == ["Content-Type", "X-Total", "Access-Control-Allow-Origin"]


@given(
    url=st.text() | st.text().map(lambda text: f"{SITE}/{text}"),
    kind=st.sampled_from(["script", "document", "fetch", "image"]) | st.text(),
    method=st.sampled_from(["GET", "POST"]) | st.text(),
    value=st.text(),
)
def test_whatever_a_page_asks_for_nothing_is_raised(url: str, kind: str, method: str, value: str) -> None:
    async def request_one() -> None:
        requests = await requests_of(Desk({}))
        wanted = ResourceRequest(url, kind, method, (("accept", value), ("origin", value)))
        await requests.answer(wanted)
        requests.rendered(RenderedDom("<p>", "quiet"), 0.0, 1.0)

    asyncio.run(request_one())


# ---- which pages are rendered ---------------------------------------------------------------------------------------

PAGES = [
    ("with a script", b"<script>0</script>", True),
    ("with a handler", b"<body onload=f()>", True),
    ("with a URL that runs", b"<iframe src=JavaScript:f()>", True),
    ("of words", b"<p>words", False),
    ("with a style", b"<link rel=stylesheet href=x>", False),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in PAGES], ids=[row[0] for row in PAGES])
def test_may_run(body: bytes, expected: bool) -> None:
    assert may_run(body) is expected
