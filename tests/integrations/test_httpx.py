"""A robot under HTTPX clients, against a real server."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable

import httpx
import pytest

from goodbot import Robot
from goodbot.api import RobotOptions
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.integrations.httpx import (
    AsyncRobotTransport,
    CallError,
    Forbidden,
    RobotTransport,
    Unsupported,
    WaitTooLong,
)
from goodbot.robot.client.client import Client
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, Request, Response
from webserver import Exchange, WebServer, answer, closing, silence

ROBOTS = answer(b"User-agent: *\nDisallow: /private", headers=[("Content-Type", "text/plain")])
Told = dict[str, object] | None
Ask = Callable[..., Awaitable[httpx.Response]]
OPTIONS: RobotOptions = {"allow_private": True, "contact": "mailto:me@example.org"}


@pytest.fixture(params=["async", "sync"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Sends one request with a client of its own: method, URL, and other options."""

    async def of_async(method: str, url: str, client: Told = None, **given: object) -> httpx.Response:
        async with Robot("MyBot/1.0", **OPTIONS) as robot:
            transport = AsyncRobotTransport(robot)
            async with httpx.AsyncClient(transport=transport, **(client or {})) as made:  # type: ignore[arg-type]
                return await made.request(method, url, **given)  # type: ignore[arg-type]

    def of_thread(method: str, url: str, client: Told = None, **given: object) -> httpx.Response:
        robot = Robot.blocking("MyBot/1.0", **OPTIONS)
        transport = RobotTransport(robot)
        with robot, httpx.Client(transport=transport, **(client or {})) as made:  # type: ignore[arg-type]
            return made.request(method, url, **given)  # type: ignore[arg-type]

    async def of_sync(*args: object, **given: object) -> httpx.Response:
        return await asyncio.to_thread(of_thread, *args, **given)  # type: ignore[arg-type]

    return of_async if request.param == "async" else of_sync


def moved(to: str, *fields: tuple[str, str]) -> bytes:
    return answer(b"", 302, [("Location", to), *fields])


async def test_an_answer_is_that_of_httpx(ask: Ask) -> None:
    page = "<p>Grüße".encode()
    fields = [("Content-Type", "text/html; charset=utf-8"), ("X-Twice", "a"), ("X-Twice", "b")]
    async with WebServer({"/robots.txt": ROBOTS, "/": answer(page, headers=fields)}) as server:
        got = await ask("GET", server.url("/"))
        assert (got.status_code, got.reason_phrase, got.http_version) == (200, "OK", "HTTP/1.1")
        assert (got.text, got.content, got.headers.get_list("x-twice")) == ("<p>Grüße", page, ["a", "b"])
        assert got.url == server.url("/")
        assert server.targets == ["/robots.txt", "/"]
        asked = server.exchanges[-1]
        assert asked.header("User-Agent") == "Mozilla/5.0 (compatible; MyBot/1.0; me@example.org)"
        assert asked.header("Accept-Encoding") == "gzip, deflate, br, zstd"


async def test_a_disallowed_url_raises_an_exception_of_httpx_with_the_verdict(ask: Ask) -> None:
    async with WebServer({"/robots.txt": ROBOTS, "/to": moved("/private/x")}) as server:
        for target in ("/private", "/to"):
            with pytest.raises(httpx.TransportError) as raised:
                await ask("GET", server.url(target), {"follow_redirects": True})
            assert isinstance(raised.value, Forbidden)
            assert isinstance(raised.value.verdict, Verdict)
            assert raised.value.verdict.rule == "Disallow: /private"
            assert raised.value.request.url.path.startswith("/private")
        assert not [target for target in server.targets if target.startswith("/private")]


async def test_redirects_and_cookies_are_the_clients(ask: Ask) -> None:
    routes = {"/in": moved("/home", ("Set-Cookie", "who=me; Path=/")), "/home": answer(b"home")}
    async with WebServer(routes) as server:
        got = await ask("GET", server.url("/in"), {"follow_redirects": True})
        assert (got.text, got.url.path, [hop.status_code for hop in got.history]) == ("home", "/home", [302])
        assert [exchange.header("Cookie") for exchange in server.exchanges] == [None, None, "who=me"]
        assert (await ask("GET", server.url("/in"))).status_code == 302


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
async def test_head_and_coded_bodies(ask: Ask, coding: str) -> None:
    body = b"hello " * 1000
    coded = zlib.compress(body, wbits=31)

    async def page(exchange: Exchange) -> None:
        whole = answer(coded, headers=[("Content-Encoding", "gzip")])
        if exchange.head.startswith(b"HEAD"):
            whole = answer(b"", headers=[("Content-Encoding", coding)])
        await exchange.send(whole)

    async with WebServer({"/": page}) as server:
        assert (await ask("GET", server.url("/"))).content == body
        head = await ask("HEAD", server.url("/"))
        assert (head.content, head.headers["Content-Encoding"]) == (b"", coding)


@pytest.mark.parametrize(
    ("method", "given"), [("POST", {}), ("PUT", {"content": b"x"}), ("DELETE", {}), ("GET", {"content": b"x"})]
)
async def test_a_robot_sends_nothing(ask: Ask, method: str, given: dict[str, bytes]) -> None:
    async with WebServer() as server:
        with pytest.raises(httpx.TransportError) as raised:
            await ask(method, server.url("/"), **given)
        assert isinstance(raised.value, Unsupported)
        assert server.targets == []


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        (silence, httpx.ReadTimeout),
        (closing(b""), httpx.ReadError),
        (closing(b"SSH-2.0\r\n\r\n"), httpx.RemoteProtocolError),
        (closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), httpx.RemoteProtocolError),
    ],
)
async def test_failures_are_those_of_httpx(ask: Ask, route: object, kind: type[Exception]) -> None:
    async with WebServer({"/": route}) as server:  # type: ignore[dict-item]
        with pytest.raises(kind):
            await ask("GET", server.url("/"), timeout=0.05 if route is silence else None)
    with pytest.raises(httpx.ConnectError):
        await ask("GET", "http://127.0.0.1:1/")


async def test_a_wrong_call_raises_an_exception_of_both_libraries(ask: Ask) -> None:
    with pytest.raises(httpx.TransportError, match="cannot be sent") as raised:
        await ask("GET", "http://127.0.0.1:1/", headers={"a b": "x"})
    assert isinstance(raised.value, CallError)
    assert isinstance(raised.value, InputError)


async def test_a_wait_longer_than_patience_s_is_an_error() -> None:
    async with WebServer({"/": answer(b"", 503, [("Retry-After", "7200")])}) as server:
        robot = Robot("MyBot/1.0", **OPTIONS)
        async with robot, httpx.AsyncClient(transport=AsyncRobotTransport(robot)) as client:
            assert (await client.get(server.url("/"))).status_code == 503
            with pytest.raises(WaitTooLong) as raised:
                await client.get(server.url("/"))
            assert raised.value.held_until > 0


async def test_a_redirect_from_public_to_private_is_refused() -> None:
    inside = "http://127.0.0.1:8000/admin"

    def refuse(request: Request) -> Response | Failure:
        return Failure("private-address", "a public host led there") if request.public_only else Response(200, (), b"x")

    async def admit(url: Url) -> None:
        """Every URL may be asked."""

    clock = FakeClock()
    web = FakeWeb(
        {
            "https://example.org/": Response(302, (("location", inside),), b""),
            inside: refuse,
            "http://127.0.0.1:8000/robots.txt": refuse,
        },
        clock,
        peer="93.184.216.34",
    )
    robot = Client(Settings(), "MyBot", connect=lambda: web, admit=admit, store=MemoryRobots, clock=clock)
    async with httpx.AsyncClient(transport=AsyncRobotTransport(robot), follow_redirects=True) as client:
        assert (await client.get(inside)).text == "x"
        with pytest.raises(httpx.ConnectError, match="private-address"):
            await client.get("https://example.org/")
        assert (await client.get(inside)).text == "x"
