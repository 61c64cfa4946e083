"""What every `Transport` keeps to, whatever it fetches from."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.ports import Transport
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.testing import FakeResolver
from goodbot.url import parse_url
from goodbot.values import Capture, Failure, Request, Response
from webserver import Route, WebServer, answer, resetting

BODY_LIMIT = 512 * 1024

ANSWERS: dict[str, Route] = {
    "/": answer(
        b"<p>hello", headers=[("Content-Type", "Text/HTML; charset=utf-8"), ("X-Twice", "1"), ("x-twice", "2")]
    ),
    "/moved": answer(b"over there", 302, [("Location", "/")]),
    "/coded": answer(b"\x1f\x8bnot even gzip", headers=[("Content-Encoding", "gzip")]),
    "/big": answer(b"x" * (BODY_LIMIT + 1)),
    "/none": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/reset": resetting(),
}


@dataclass(frozen=True)
class World:
    """A transport, and the base URL under which `ANSWERS` are served to it."""

    transport: Transport
    base: str

    async def get(self, target: str, *, public_only: bool = False) -> Capture:
        url = parse_url(self.base + target)
        assert url is not None
        verdict = Verdict(True, None, None, "", "", url=url.text)
        return await self.transport.send(Request(url, verdict, public_only=public_only))


@asynccontextmanager
async def curl_world() -> AsyncIterator[World]:
    guard = AddressGuard([ip_network("127.0.0.0/8")])
    settings = Settings(body_limit=BODY_LIMIT)
    transport = CurlTransport(settings, guard, "test/1", None, SystemClock(), resolver=FakeResolver({}))
    async with WebServer(ANSWERS) as server:
        yield World(transport, server.origin)
        await transport.close()


WORLDS: list[Callable[[], AbstractAsyncContextManager[World]]] = [curl_world]


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with request.param() as world:
        yield world


def received(capture: Capture) -> Response:
    assert isinstance(capture.result, Response), capture.result
    return capture.result


async def test_status_fields_and_body_come_as_sent(world: World) -> None:
    capture = await world.get("/")
    response = received(capture)
    assert (response.status, response.body, response.truncated) == (200, b"<p>hello", None)
    assert response.headers[:3] == (
        ("Content-Type", "Text/HTML; charset=utf-8"),
        ("X-Twice", "1"),
        ("x-twice", "2"),
    )
    assert capture.fetched_at > 0
    assert capture.elapsed_s >= 0


async def test_the_capture_carries_its_request(world: World) -> None:
    capture = await world.get("/?q=1")
    assert capture.request.url.target == "/?q=1"
    assert received(capture).status == 404


async def test_a_redirect_is_an_answer(world: World) -> None:
    response = received(await world.get("/moved"))
    assert (response.status, response.header("location"), response.body) == (302, "/", b"over there")


async def test_content_coding_is_left_on(world: World) -> None:
    assert received(await world.get("/coded")).body == b"\x1f\x8bnot even gzip"


async def test_a_long_body_is_cut_and_marked(world: World) -> None:
    response = received(await world.get("/big"))
    assert (len(response.body), response.truncated) == (BODY_LIMIT, "length")


async def test_no_body(world: World) -> None:
    response = received(await world.get("/none"))
    assert (response.status, response.body, response.truncated) == (204, b"", None)


async def test_no_answer_is_a_failure(world: World) -> None:
    result = (await world.get("/reset")).result
    assert isinstance(result, Failure)
    assert result.kind == "reset"
    assert "\n" not in result.detail


async def test_public_only_refuses_a_private_address(world: World) -> None:
    result = (await world.get("/", public_only=True)).result
    assert isinstance(result, Failure)
    assert result.kind == "private-address"


async def test_close_may_be_called_again(world: World) -> None:
    await world.get("/")
    await world.transport.close()
    await world.transport.close()
