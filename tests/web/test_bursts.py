"""More clients than there are connections, and clients that still send while they are refused: each reads its answer,
and none sees a reset connection."""

import socket
from threading import Event

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from goodbot.web import Rate, Site, create_app, running
from goodbot.web.server.connections import ConnectionLimit
from web.connections import connected, conversation, received, responses
from web.library import SPECIMENS, Library, Visitor

GET = b"GET /search?q=robot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
MUCH = 8_000_000
"""More bytes than the sockets of both sides hold: the client is still sending when it is refused."""


@pytest.mark.parametrize(
    ("count", "first", "then"),
    [(400, GET, b""), (150, b"", GET), (150, GET[:20], GET[20:])],
    ids=["at once", "late", "in two parts"],
)
def test_every_client_is_answered_or_refused(count: int, first: bytes, then: bytes) -> None:
    with (
        running(create_app(Library(SPECIMENS), Site("Sample")), limit=ConnectionLimit(8, last_timeout_s=30)) as url,
        connected(url, count, first) as clients,
    ):
        for client in clients:
            client.sendall(then)
        answers = [responses(received(client)) for client in clients]
    assert {len(answer) for answer in answers} == {1}
    assert {answer[0].status for answer in answers} == {200, 503}


def waiting_app(asked: Event, go_on: Event) -> Starlette:
    """Makes an application that answers once `go_on` is set."""

    def wait(request: Request) -> Response:
        asked.set()
        go_on.wait()
        return PlainTextResponse("late")

    return Starlette(routes=[Route("/healthz", wait)])


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_refusal_is_read_although_the_client_still_sends(method: str) -> None:
    body = b"x" * MUCH if method == "POST" else b""
    head = f"{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    asked, go_on = Event(), Event()
    with (
        running(waiting_app(asked, go_on), limit=ConnectionLimit(1)) as url,
        connected(url, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ):
        try:
            asked.wait()
            (refusal,) = conversation(url, head + body, method)
        finally:
            go_on.set()
    assert (refusal.status, refusal.headers["Retry-After"], refusal.headers["Connection"]) == (503, "10", "close")
    assert refusal.headers["X-Content-Type-Options"] == "nosniff"
    assert (b"busy" in refusal.body) == (method != "HEAD")


def test_a_place_is_free_once_a_refused_client_has_gone() -> None:
    asked, go_on = Event(), Event()
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with (
        running(waiting_app(asked, go_on), limit=ConnectionLimit(1)) as url,
        connected(url, 1, request) as (first,),
    ):
        asked.wait()
        statuses = [conversation(url, request)[0].status for _ in range(20)]
        go_on.set()
        assert [answer.body for answer in responses(received(first))] == [b"late"]
        assert Visitor(url).ask("/healthz").text == "late"
    assert statuses == [503] * 20


POST = b"POST /check HTTP/1.1\r\nHost: localhost\r\n"
LENGTH = b"Connection: close\r\nContent-Length: %d\r\n\r\n" % MUCH
FILL = b"a" * MUCH
REFUSED = [
    ("long first line", b"GET /search?q=" + FILL, 414),
    ("long field", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + FILL, 431),
    ("many fields", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-Many: a\r\n" * (MUCH // 11), 431),
    ("no request", b"\0nonsense\r\n\r\n" + FILL, 400),
    ("unknown coding", POST + b"Transfer-Encoding: gzip\r\n\r\n" + FILL, 501),
    ("bad chunks", POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"zz\r\n" * (MUCH // 4), 400),
    ("long body", POST + b"Content-Length: %d\r\n\r\n" % MUCH + FILL, 413),
    ("long chunk", POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % MUCH + FILL, 413),
    ("no such page", b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\n" + LENGTH + FILL, 404),
    ("no such method", b"PUT /help HTTP/1.1\r\nHost: localhost\r\n" + LENGTH + FILL, 405),
]


@pytest.mark.parametrize(("sent", "status"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_is_refused_early_is_read_by_a_client_that_sends_all(sent: bytes, status: int) -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample"))) as url:
        (answer,) = conversation(url, sent)
    assert answer.status == status


def test_too_many_requests_with_long_bodies() -> None:
    """As nginx sends them: it asks for the end of the connection, and sends the whole body first."""
    site = Site("Sample", post_rate=Rate(1, 1))
    with running(create_app(Library(SPECIMENS), site)) as url:
        post = b"POST /submit HTTP/1.1\r\nHost: localhost\r\n" + LENGTH + FILL
        statuses = [conversation(url, post)[0].status for _ in range(3)]
    assert statuses[1:] == [429, 429]


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nX-", POST + b"Content-Length: 100\r\n\r\nrobots="], ids=["head", "body"]
)
def test_a_slow_client_reads_408_although_it_sends_more(begun: bytes) -> None:
    limit = ConnectionLimit(20, head_timeout_s=0.2, body_timeout_s=0.2)
    with (
        running(create_app(Library(SPECIMENS), Site("Sample")), limit=limit) as url,
        connected(url, 1, begun) as (client,),
    ):
        client.recv(1, socket.MSG_PEEK)
        client.sendall(b"x" * 50)
        assert [answer.status for answer in responses(received(client))] == [408]


def test_a_client_that_sends_without_end_is_cut_off() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample"))) as url, connected(url) as (client,):
        with pytest.raises(ConnectionError):
            client.sendall(bytes(100_000_000))
        assert Visitor(url).ask("/healthz").status == 200


def test_clients_that_never_close_do_not_hold_their_connections() -> None:
    """More of them than may linger at once, and then a new client."""
    with (
        running(create_app(Library(SPECIMENS), Site("Sample")), limit=ConnectionLimit(2, most_ending=8)) as url,
        connected(url, 100, b"\0nonsense\r\n\r\n"),
    ):
        assert Visitor(url).ask("/search?q=robot").status == 200
