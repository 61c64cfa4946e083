"""Forms of requests that RFC 9112 has beside the usual one, and requests whose end is ambiguous."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from goodbot.web import Rate, Site, running
from goodbot.web.server.request_targets import RequestTargets
from web.connections import connected, conversation, received
from web.library import Visitor
from web.whole import routes_of, whole_app

UNLIMITED = Rate(0, 1)
SITE = Site("Sample", page_rate=UNLIMITED, post_rate=UNLIMITED)
GET = b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")), SITE)


@pytest.fixture(scope="module")
def url(app: Starlette) -> Iterator[str]:
    with running(app) as url:
        yield url


# ---- where a request ends (RFC 9112 §6) -----------------------------------------------------------------------------

HIDDEN = b"0\r\n\r\nGET /robots.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""A request that follows the body, or is part of it: Transfer-Encoding and Content-Length disagree."""
AMBIGUOUS = [
    ("both", "1.1", f"Content-Length: {len(HIDDEN)}\r\nTransfer-Encoding: chunked", 400),
    ("both, the other way round", "1.1", f"Transfer-Encoding: chunked\r\nContent-Length: {len(HIDDEN)}", 400),
    ("both, other letters", "1.1", f"CONTENT-LENGTH: {len(HIDDEN)}\r\ntransfer-encoding: Chunked", 400),
    ("two lengths", "1.1", f"Content-Length: 5\r\nContent-Length: {len(HIDDEN)}", 400),
    ("a list of lengths", "1.1", f"Content-Length: 5, {len(HIDDEN)}", 400),
    ("a sign", "1.1", f"Content-Length: +{len(HIDDEN)}", 400),
    ("a negative length", "1.1", "Content-Length: -1", 400),
    ("no number", "1.1", "Content-Length: 0x5", 400),
    ("another coding", "1.1", "Transfer-Encoding: gzip, chunked", 501),
    ("chunked twice", "1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
    ("a hidden coding", "1.1", "Transfer-Encoding: \x0bchunked", 400),
    ("a space before the colon", "1.1", f"Transfer-Encoding : chunked\r\nContent-Length: {len(HIDDEN)}", 400),
    ("chunks in HTTP/1.0", "1.0", "Transfer-Encoding: chunked", 400),
    ("both in HTTP/1.0", "1.0", f"Content-Length: {len(HIDDEN)}\r\nTransfer-Encoding: chunked", 400),
]


@pytest.mark.parametrize(
    ("version", "fields", "status"), [case[1:] for case in AMBIGUOUS], ids=[c[0] for c in AMBIGUOUS]
)
def test_an_ambiguous_length_ends_the_connection(url: str, version: str, fields: str, status: int) -> None:
    """Nothing that follows is taken for a request."""
    head = f"POST /check HTTP/{version}\r\nHost: localhost\r\n{fields}\r\n\r\n".encode("latin-1")
    (answer,) = conversation(url, head + HIDDEN)
    assert (answer.status, answer.headers["Connection"]) == (status, "close")


def test_one_length_stated_twice_is_no_contradiction(url: str) -> None:
    head = b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    sent = head + b"Content-Length: 8\r\nContent-Length: 8\r\n\r\nrobots=a" + LAST % b"/robots.txt"
    assert [answer.status for answer in conversation(url, sent)] == [200, 200]


@pytest.mark.parametrize("line", ["GET / HTTP/2.0", "GET / HTTP/0.9", "PRI * HTTP/2.0"])
def test_other_versions(url: str, line: str) -> None:
    (answer,) = conversation(url, f"{line}\r\nHost: localhost\r\n\r\nSM\r\n\r\n".encode())
    assert answer.status == 505


# ---- several requests on one connection -----------------------------------------------------------------------------


def test_pipelined_requests_are_answered_in_order(url: str) -> None:
    post = b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = b'{"robots": "User-agent: *"}'
    sent = [
        GET % b"/robots.txt",
        b"HEAD /help HTTP/1.1\r\nHost: localhost\r\n\r\n",
        post + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        post + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345",
        GET % b"/healthz",
        LAST % b"/search?q=robot",
        GET % b"/about",
    ]
    found = conversation(url, b"".join(sent), "GET HEAD POST POST POST GET GET")
    assert [answer.status for answer in found] == [200, 200, 200, 200, 404, 200, 200]
    kinds = ["text/plain", "text/html", "application/json", "application/json", "text/html", "application/json"]
    assert [answer.headers.get_content_type() for answer in found] == [*kinds, "text/html"]
    assert [answer.headers["Connection"] for answer in found] == [None] * 6 + ["close"]


def test_many_pipelined_requests(url: str) -> None:
    found = conversation(url, GET % b"/robots.txt" * 300 + LAST % b"/healthz")
    assert [answer.status for answer in found] == [200] * 301


@pytest.mark.parametrize("field", ["close", "Close", "keep-alive, close", "upgrade, CLOSE"])
def test_the_client_may_ask_for_the_end_of_the_connection(url: str, field: str) -> None:
    request = f"GET /robots.txt HTTP/1.1\r\nHost: localhost\r\nConnection: {field}\r\n\r\n".encode()
    (answer,) = conversation(url, request + GET % b"/help")
    assert (answer.status, answer.headers["Connection"]) == (200, "close")


# ---- HTTP/1.0 and Host ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/search?q=robot", "/api/search?q=robot", "/opensearch.xml", "/search.atom?q=robot"]
)
def test_http_1_0_needs_no_host(url: str, path: str) -> None:
    (answer,) = conversation(url, f"GET {path} HTTP/1.0\r\n\r\n".encode() + b"GET /help HTTP/1.0\r\n\r\n")
    assert answer.status == 200
    assert answer.headers["Connection"] == "close"
    if path == "/opensearch.xml":
        assert f'template="{url}search?'.encode() in answer.body


@pytest.mark.parametrize(("host", "status"), [("localhost", 200), ("rebound.example", 400)])
def test_http_1_0_with_host(url: str, host: str, status: int) -> None:
    (answer,) = conversation(url, f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    assert answer.status == status


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost/search?q=robot", "rebound.example", 200),
        ("http://rebound.example/search?q=robot", "localhost", 400),
        ("http://127.0.0.1:1/search?q=robot", "", 200),
    ],
)
def test_the_host_of_a_whole_url_replaces_the_field(url: str, target: str, host: str, status: int) -> None:
    (answer,) = conversation(url, f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert answer.status == status


def test_a_whole_url_is_the_base_of_absolute_links(url: str) -> None:
    target = b"http://search.localhost:81/opensearch.xml"
    (answer,) = conversation(url, b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % target)
    assert answer.status == 200
    assert b'template="http://search.localhost:81/search?' in answer.body


def test_what_the_whole_server_can_do(url: str) -> None:
    """RFC 9110 §9.3.7."""
    request = b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for answer in conversation(url, request + LAST % b"/robots.txt", "OPTIONS GET")[:1]:
        assert (answer.status, answer.headers["Allow"]) == (204, "GET, HEAD, OPTIONS, POST")


visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)
starts = st.sampled_from(["", "/", "http://", "HTTPS://", "http://localhost", "http://a@b", "//", "*", "?"])


@given(
    target=st.tuples(starts, visible).map("".join).filter(bool), method=st.sampled_from(["GET", "OPTIONS", "CONNECT"])
)
def test_any_target_is_refused_or_becomes_a_path(target: str, method: str) -> None:
    given_paths, statuses = list[tuple[str, list[tuple[bytes, bytes]]]](), list[int]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        given_paths.append((scope["path"], scope["headers"]))

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    raw_path, _, query = target.encode().partition(b"?")
    headers = [(b"host", b"localhost")]
    scope = {
        "type": "http",
        "method": method,
        "raw_path": raw_path,
        "path": unquote(raw_path.decode()),
        "headers": headers,
    }
    asyncio.run(RequestTargets(app)({**scope, "query_string": query}, receive, send))
    assert len(given_paths) + len(statuses) == 1
    assert set(statuses) <= {204, 400, 405}
    for path, fields in given_paths:
        assert path.startswith("/")
        assert [name for name, _ in fields] == [b"host"]


pieces = st.sampled_from(
    [
        *(b"GET / HTTP/1.1\r\n", b"POST /check HTTP/1.1\r\n", b"HEAD * HTTP/1.0\r\n", b"OPTIONS * HTTP/1.1\r\n"),
        *(
            b"Host: localhost\r\n",
            b"Content-Length: 3\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Connection: close\r\n",
        ),
        *(b"Expect: 100-continue\r\n", b"Upgrade: websocket\r\nConnection: upgrade\r\n", b"\r\n", b"\r\n\r\n"),
        *(b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc", b"\n", b"\0", b"http://localhost/"),
    ]
)


@given(sent=st.lists(pieces | st.binary(max_size=8), max_size=12).map(b"".join))
def test_any_bytes_are_answered_and_the_server_goes_on(url: str, sent: bytes) -> None:
    with connected(url, 1, sent) as (client,):
        client.shutdown(socket.SHUT_WR)
        answer = received(client)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
    assert [found.status for found in conversation(url, LAST % b"/robots.txt")] == [200]


# ---- HEAD -----------------------------------------------------------------------------------------------------------


TIMED = {"date", "signature", "signature-input"}
"""Header fields that say the second of the response."""


@pytest.mark.long
def test_head_has_the_header_fields_of_get(app: Starlette, url: str) -> None:
    visitor = Visitor(url)
    given = "?q=robot&url=https://here.example/&host=here.example&id=1"
    for _, path in routes_of(app, lambda route: "GET" in (route.methods or ()) and "{" not in route.path):
        if path in ("/indexnow", "/metrics"):  # the first request changes the answer to the second
            continue
        got, head = (visitor.ask(path + given, method) for method in ("GET", "HEAD"))
        assert (head.status, head.text) == (got.status, ""), path
        fields = [
            {name: "" if name in TIMED else value for name, value in found.headers.items()} for found in (got, head)
        ]
        assert fields[0] == fields[1], path
