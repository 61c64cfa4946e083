"""Requests by GET, HEAD and POST over one connection, as a server receives them."""

import pytest

from goodbot.exclusion import Verdict
from goodbot.one_shot import service_request, service_transport
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure, Method, Request, Response
from webserver import Exchange, WebServer, answer

JSON = (("Content-Type", "application/json"),)


async def echo(exchange: Exchange) -> None:
    """Answers with the method and the length and first bytes of the body; HEAD gets no body."""
    method = exchange.head.split(b" ", 1)[0]
    length = int(exchange.header("content-length") or "0")
    body = await exchange.reader.readexactly(length)
    said = b"%s %d %s" % (method, length, body[:5])
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said)
    await exchange.send(head if method == b"HEAD" else head + said)


def url_of(server: WebServer, target: str) -> Url:
    url = parse_url(server.url(target))
    assert url is not None
    return url


def body_of(capture: Capture) -> bytes:
    assert isinstance(capture.result, Response), capture.result
    return capture.result.body


async def test_methods_follow_one_another_on_one_connection() -> None:
    sent: list[tuple[Method, bytes]] = [
        ("GET", b""),
        ("POST", b"first"),
        ("POST", b"second and longer"),
        ("HEAD", b""),
        ("POST", b""),
        ("GET", b""),
        ("HEAD", b""),
        ("GET", b""),
    ]
    async with WebServer({"/echo": echo}) as server, service_transport([url_of(server, "/")]) as transport:
        url = url_of(server, "/echo")
        answers = [
            body_of(await transport.send(service_request(url, method=method, body=body))) for method, body in sent
        ]
        connections = {exchange.connection for exchange in server.exchanges}
    expected = [b"" if method == "HEAD" else f"{method} {len(body)} ".encode() + body[:5] for method, body in sent]
    assert answers == expected
    assert connections == {1}


@pytest.mark.parametrize("size", [0, 1, 1_000, 3 * 1024 * 1024], ids=["empty", "a byte", "small", "3 MiB"])
async def test_a_posted_body_arrives_whole_without_waiting_for_permission(size: int) -> None:
    async with WebServer({"/echo": echo}) as server, service_transport([url_of(server, "/")]) as transport:
        request = service_request(url_of(server, "/echo"), method="POST", headers=JSON, body=b"x" * size)
        capture = await transport.send(request)
        exchange = server.exchanges[0]
    assert body_of(capture).split()[:2] == [b"POST", str(size).encode()]
    assert exchange.header("content-type") == "application/json"
    assert exchange.header("expect") is None
    assert capture.request_head == exchange.head


async def test_a_post_is_not_sent_again_when_a_kept_connection_breaks() -> None:
    async def serves_one_get(exchange: Exchange) -> None:
        if exchange.head.startswith(b"POST"):
            await exchange.close()
        else:
            await echo(exchange)

    async with WebServer({"/echo": serves_one_get}) as server, service_transport([url_of(server, "/")]) as transport:
        url = url_of(server, "/echo")
        await transport.send(service_request(url))
        capture = await transport.send(service_request(url, method="POST", body=b"once"))
        methods = [exchange.head.split(b" ", 1)[0] for exchange in server.exchanges]
    assert isinstance(capture.result, Failure)
    assert capture.result.kind == "reset"
    assert methods == [b"GET", b"POST"]


async def test_a_service_on_a_public_address_does_not_open_private_ones() -> None:
    async with WebServer({"/": answer(b"x")}) as server:
        public = parse_url("http://192.0.2.1/")
        assert public is not None
        async with service_transport([public]) as transport:
            capture = await transport.send(service_request(url_of(server, "/")))
    assert isinstance(capture.result, Failure)
    assert capture.result.kind == "private-address"


async def test_a_service_that_does_not_answer_in_time_is_a_failure() -> None:
    async def hangs(exchange: Exchange) -> None:
        await exchange.client_left()

    async with WebServer({"/": hangs}) as server, service_transport([url_of(server, "/")], 0.2) as transport:
        capture = await transport.send(service_request(url_of(server, "/")))
    assert isinstance(capture.result, Failure)
    assert capture.result.kind == "timeout"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_only_a_post_has_a_body(method: Method) -> None:
    url = parse_url("https://example.org/")
    assert url is not None
    with pytest.raises(ValueError, match="no body"):
        Request(url, Verdict(True, None, None, "", "", url=url.text), method=method, body=b"x")
