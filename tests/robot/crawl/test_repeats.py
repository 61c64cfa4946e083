"""Which connections are kept, how often a page is requested if they break, and which one the next try uses."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.lru import share_of
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.transport import MAX_KEPT, CurlTransport, kept_connections
from goodbot.url import parse_url
from goodbot.values import Failure, Request, Response
from http2server import Answer, Http2Server, goaway, hints_without_end, page, refused
from webserver import Authority, WebServer, answer, closing


def request(url: str, *, fresh: bool = False, delay_s: float | None = None) -> Request:
    parsed = parse_url(url)
    assert parsed is not None
    return Request(parsed, Verdict(True, None, None, "", "", url=parsed.text, delay_s=delay_s), fresh=fresh)


@asynccontextmanager
async def transport(**settings: Any) -> AsyncIterator[CurlTransport]:
    given, clock = Settings(**settings), SystemClock()
    guard = AddressGuard([ip_network("127.0.0.0/8")])
    made = CurlTransport(given, guard, "goodbot/0", None, clock, resolver=NameResolver(given, clock))
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


@asynccontextmanager
async def over_http2(authority: Authority, *answers: Answer) -> AsyncIterator[tuple[Http2Server, CurlTransport]]:
    context = authority.server_context("127.0.0.1")
    async with Http2Server(context, answers) as server, transport(ca_file=str(authority.file)) as curl:
        yield server, curl


@pytest.mark.parametrize("broken", [goaway, refused])
async def test_no_request_is_repeated_at_once_on_a_new_connection(authority: Authority, broken: Answer) -> None:
    async with over_http2(authority, broken) as (server, curl):
        capture = await curl.send(request(server.url()))
        assert isinstance(capture.result, Failure)
        assert capture.result.kind == "reset"
        assert "refused the request, and did not answer" in capture.result.detail
        assert (server.asked, server.connections) == (1, 1)


@pytest.mark.parametrize(("delay_s", "times"), [(None, 2), (1.0, 1)])
@pytest.mark.parametrize("broken", [goaway, refused])
async def test_a_request_is_repeated_once_on_a_reused_connection_unless_the_host_has_a_delay(
    authority: Authority, broken: Answer, delay_s: float | None, times: int
) -> None:
    async with over_http2(authority, page, broken) as (server, curl):
        assert isinstance((await curl.send(request(server.url()))).result, Response)
        capture = await curl.send(request(server.url("/x"), delay_s=delay_s))
        assert isinstance(capture.result, Failure)
        assert capture.result.kind == "reset"
        assert server.asked == 1 + times
        assert server.connections == times


async def test_a_kept_connection_that_ended_meanwhile_costs_no_page(authority: Authority) -> None:
    async with over_http2(authority, page, goaway, page) as (server, curl):
        for path in ("/a", "/b"):
            assert isinstance((await curl.send(request(server.url(path)))).result, Response)
        assert server.asked == 3


async def test_answers_without_end_on_one_stream_cost_the_next_page_nothing(authority: Authority) -> None:
    async with over_http2(authority, hints_without_end, page) as (server, curl):
        flooded = (await curl.send(request(server.url("/flood")))).result
        assert isinstance(flooded, Failure)
        for path in ("/a", "/b", "/c"):
            assert isinstance((await curl.send(request(server.url(path)))).result, Response)
        assert server.spoken == ["HTTP/2", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1"]


async def test_http_1_1_without_an_answer() -> None:
    async with WebServer({"/": answer()}, fallback=closing(b"")) as server, transport() as curl:
        for path, times in (("/new", 1), ("/", 1), ("/kept", 2)):
            before = len(server.targets)
            result = (await curl.send(request(server.url(path)))).result
            assert isinstance(result, Response) is (path == "/")
            assert len(server.targets) - before == times


async def test_a_further_try_goes_on_a_connection_of_its_own() -> None:
    async with WebServer(fallback=answer()) as server, transport() as curl:
        for fresh in (False, False, True, False):
            await curl.send(request(server.url(), fresh=fresh))
        numbers = [exchange.connection for exchange in server.exchanges]
        assert numbers[:3] == [1, 1, 2]
        assert server.connections == 2


async def test_hosts_requested_in_turn_reuse_their_connections() -> None:
    async with AsyncExitStack() as stack, transport(concurrency=2) as curl:
        servers = [await stack.enter_async_context(WebServer(fallback=answer())) for _ in range(12)]
        for _ in range(3):
            for server in servers:
                await curl.send(request(server.url()))
        assert [server.connections for server in servers] == [1] * 12


@pytest.mark.parametrize(
    ("concurrency", "files_most", "kept"),
    [(64, 1024, 256), (64, 256, 128), (64, 1_000_000, 1024), (1000, 1024, 2000), (1, 4096, 1024)],
)
def test_connections_kept_are_bounded_by_the_files_a_process_may_open(
    concurrency: int, files_most: int, kept: int
) -> None:
    assert kept_connections(concurrency, files_most) == kept


def test_the_connections_of_a_crawl_are_shared_by_its_processes() -> None:
    assert [kept_connections(32, 1_000_000, share_of(MAX_KEPT, count)) for count in (1, 2, 64)] == [1024, 512, 128]
