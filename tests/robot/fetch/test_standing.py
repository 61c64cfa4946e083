"""Tests that nothing is sent while this process may not send requests, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest

from goodbot.clock import SystemClock, passed_s
from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.standing import LOOK_S, Standing
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.url import Url
from goodbot.values import Request, Response
from webserver import WebServer, answer

PAGE = answer(b"hello")


class Scripted(Standing):
    """Holds or not, as scripted, once for each look; from the end of the script on, it holds."""

    def __init__(self, *looks: bool) -> None:
        super().__init__()
        self.looks = list(looks)

    @property
    def holds(self) -> bool:
        return self.looks.pop(0) if self.looks else True


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer({"/": PAGE}) as server:
        yield server


def request(server: WebServer) -> Request:
    url = Url(server.url("/"))
    return Request(url, Verdict(True, None, None, "", "", url=url.text))


def transport(standing: Standing) -> CurlTransport:
    settings, clock = Settings(), SystemClock()
    guard = AddressGuard([ip_network("127.0.0.0/8")])
    return CurlTransport(
        settings, guard, "test/1", None, clock, resolver=NameResolver(settings, clock), standing=standing
    )


async def test_a_request_waits_until_it_may_be_sent(server: WebServer) -> None:
    standing = Standing(0.0)
    curl = transport(standing)
    sending = asyncio.ensure_future(curl.send(request(server)))
    await asyncio.sleep(3 * LOOK_S)
    assert not sending.done()
    assert not server.targets
    standing.until = passed_s() + 60
    assert isinstance((await sending).result, Response)
    await curl.close()


@pytest.mark.parametrize("connections", ["new", "reused"])
async def test_nothing_is_sent_if_it_ended_while_the_connection_was_made(server: WebServer, connections: str) -> None:
    standing = Scripted()
    curl = transport(standing)
    if connections == "reused":
        await curl.send(request(server))
    before = len(server.targets)
    standing.looks += [True, False, False, True, False]  # it ends within a request, comes back, and ends once more
    capture = await curl.send(request(server))
    assert isinstance(capture.result, Response)
    assert len(server.targets) == before + 1
    assert not standing.looks
    await curl.close()
