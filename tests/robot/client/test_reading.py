"""Reading pages from a program: content, verdict, preferences, and what stands in their place if there is no page."""

import gzip
import json
from typing import Unpack

import pytest

from goodbot import Robot
from goodbot.api import RobotOptions
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.client.client import Client
from goodbot.robot.client.page_rendering import no_browser
from goodbot.robot.render.rendering import Browser, RenderedDom, ResourceLoader, ResourceRequest, ServedResource
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Response
from webserver import Handler, WebServer, answer, closing

PLAIN = (("Content-Type", "text/plain"),)
PAGE = b"""<!doctype html><html lang="en"><head><title>Old clocks - The Clock Site</title>
<meta name="author" content="Ann Example"><meta property="article:published_time" content="2026-03-04T10:00:00Z">
<meta name="robots" content="noarchive"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>
<main><article><h1>Old clocks</h1>
<p>The first clocks had no hands, and a bell told everybody in the town what time it was, day and night.</p>
<p>Later clocks had <a href="hands.html">one hand</a>, which was enough for people who never had to be on time.</p>
</article></main><footer>Copyright of the footer</footer></body></html>"""


def robots(text: str) -> bytes:
    return answer(text.encode(), headers=PLAIN)


def robot_of(**options: Unpack[RobotOptions]) -> Robot:
    options.setdefault("allow_private", True)
    return Robot("MyBot/1.0", **options)


async def test_a_page_is_read_with_all_that_is_known_of_it() -> None:
    pages = {"/robots.txt": robots("User-agent: *\nContent-Signal: ai-train=no, search=yes\n"), "/a/old": answer(PAGE)}
    async with WebServer(pages) as server, robot_of() as robot:
        got = await robot.read(server.url("/a/old"))
        assert (got.ok, got.allowed, got.status, got.trouble, got.unread) == (True, True, 200, None, "")
        assert (got.url, got.final_url, got.type) == (server.url("/a/old"), server.url("/a/old"), "text/html")
        assert (got.title, got.author, got.date, got.lang) == ("Old clocks", "Ann Example", "2026-03-04", "en")
        assert f"[one hand]({server.url('/a/hands.html')})" in got.markdown
        assert "had no hands" in got.text
        assert not any(word in got.text + got.markdown + got.html for word in ("Shop", "footer"))
        assert [link.url.text for link in got.links] == [server.url(to) for to in ("/", "/shop", "/a/hands.html")]
        assert (got.directives.index, got.directives.archive) == (True, False)
        assert got.preferences == {"search": "allowed", "ai-input": "unknown", "ai-train": "disallowed"}
        assert server.targets == ["/robots.txt", "/a/old"]
        whole = await robot.read(server.url("/a/old"), whole=True)
        assert "Shop" in whole.text
        assert "Copyright of the footer" in whole.markdown
        assert json.loads(json.dumps(got.as_json()))["verdict"]["allowed"] is True


async def test_a_closed_page_is_a_reading_without_text() -> None:
    async with WebServer({"/robots.txt": robots("User-agent: *\nDisallow: /closed\n")}) as server, robot_of() as robot:
        got = await robot.read(server.url("/closed"))
        assert (got.ok, got.allowed, got.status, got.text) == (False, False, None, "")
        assert (got.verdict.line, got.verdict.rule) == (2, "Disallow: /closed")
        assert (got.trouble or "").startswith("disallowed by robots.txt: ")
        assert server.targets == ["/robots.txt"]


async def test_what_cannot_be_fetched_is_a_reading_without_text() -> None:
    pages: dict[str, bytes | Handler] = {"/gone": answer(b"<p>Sorry, this is gone</p>", 404), "/off": closing(b"")}
    async with WebServer(pages) as server, robot_of(delay=0) as robot:
        gone = await robot.read(server.url("/gone"))
        assert (gone.ok, gone.status, gone.text, gone.trouble) == (False, 404, "", "status 404 Not Found")
        off = await robot.read(server.url("/off"))
        assert (off.status, off.text) == (None, "")
        assert off.failure is not None


async def test_a_part_of_a_page_is_named() -> None:
    ranges = {"/part": "bytes 0-99/1234", "/open": "bytes 100-/*", "/whole": "bytes 0-99/100", "/none": ""}
    routes = {path: answer(PAGE, 206, [("Content-Range", value)]) for path, value in ranges.items()}
    routes["/gz"] = answer(gzip.compress(PAGE)[:-60], headers=[("Content-Encoding", "gzip")])
    async with WebServer(routes) as server, robot_of(delay=0) as robot:
        for path, value in ranges.items():
            got = await robot.read(server.url(path))
            named = f"Content-Range {value!r}" if value else "no Content-Range"
            said = f"the server sent only a part of it (status 206, {named})"
            assert (got.ok, got.unread) == (True, "" if path == "/whole" else said)
        broken = await robot.read(server.url("/gz"))
        assert (broken.ok, "could be decoded (gzip: the data ends early)" in broken.unread) == (True, True)


async def test_wrong_calls_raise() -> None:
    async with WebServer({"/": answer(PAGE.replace(b"</body>", b"<script>1</script>"))}) as server:
        async with robot_of(contact="mailto:me@example.org") as robot:
            with pytest.raises(InputError, match="not an http or https URL"):
                await robot.read("ftp://example.org/")
        blocking = Robot.blocking("MyBot/1.0", allow_private=True)
        blocking.close()
        with pytest.raises(InputError, match="closed"):
            blocking.read(server.url("/"))


class ShownPage:
    """A browser that shows one document, whatever it gets."""

    def __init__(self, html: str | None) -> None:
        self.html = html
        self.urls: list[str] = []
        self.closed = False

    async def show(self, url: str, document: ServedResource, answers: ResourceLoader, time_s: float) -> RenderedDom:
        self.urls.append(url)
        resource = await answers.answer(ResourceRequest("http://127.0.0.1/", "xhr"))
        assert resource is None  # a public page may not request a private address
        return RenderedDom(self.html, "quiet")

    async def close(self) -> None:
        self.closed = True


def client_of(pages: dict[str, Response], browser: ShownPage | None = None) -> Client:
    clock = FakeClock()
    answers = {"https://example.org/robots.txt": Response(404, (), b""), **pages}

    async def admit(url: Url) -> None:
        """Every URL may be requested."""

    async def browse() -> Browser:
        return browser if browser is not None else await no_browser()

    web = FakeWeb(answers, clock, peer="93.184.216.34")
    settings = Settings(allow_private=True)
    return Client(settings, "MyBot", connect=lambda: web, admit=admit, store=MemoryRobots, clock=clock, browse=browse)


HTML = (("Content-Type", "text/html"),)
APP = "https://example.org/app"
SCRIPTED = Response(200, HTML, b"<title>Before</title><meta name=robots content=noarchive><script>x</script>")


async def test_a_page_is_rendered_before_it_is_read() -> None:
    browser = ShownPage("<title>After</title><main><p>What the scripts have made of it.</main>")
    client = client_of({APP: SCRIPTED, "https://example.org/plain": Response(200, HTML, b"<p>no program")}, browser)
    got = await client.read(APP, render=True)
    assert (got.title, got.text, got.directives.archive) == ("After", "What the scripts have made of it.", False)
    plain = await client.read("https://example.org/plain", render=True)
    assert (plain.text, browser.urls, browser.closed) == ("no program", [APP], False)
    assert (await client.read(APP)).title == "Before"
    await client.close()
    assert browser.closed


async def test_a_browser_that_fails_leaves_the_page_as_it_came() -> None:
    client = client_of({APP: SCRIPTED}, ShownPage(None))
    assert (await client.read(APP, render=True)).title == "Before"


async def test_rendering_without_a_browser_is_bad_input() -> None:
    client = client_of({APP: SCRIPTED})
    with pytest.raises(InputError, match="without a browser"):
        await client.read(APP, render=True)
    await client.close()


async def test_a_long_answer_says_that_it_was_cut() -> None:
    robot = robot_of(settings=Settings(body_limit=524_288))
    async with WebServer({"/": answer(b"<p>word " + b"x" * 600_000)}) as server, robot:
        got = await robot.read(server.url("/"))
        assert (got.ok, got.unread) == (True, "only the first 524.3 kB were fetched")
        assert got.text.startswith("word")


async def test_a_bot_wall_has_no_text() -> None:
    wall = Response(403, (*HTML, ("cf-mitigated", "challenge")), b"<title>Just a moment...</title><p>Checking")
    got = await client_of({APP: wall}).read(APP)
    assert (got.ok, got.wall, got.text) == (False, "Cloudflare", "")
