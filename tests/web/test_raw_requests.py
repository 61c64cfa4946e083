"""Requests that no browser sends: they get an answer, never a fault."""

import asyncio
import contextlib
import re
import socket
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from goodbot.web import Rate, Site, running
from goodbot.web.server.connections import HEAD_BYTES
from goodbot.web.server.security_headers import HEADERS
from web.library import Visitor
from web.whole import routes_of, whole_app

UNLIMITED = Rate(0, 1)
SITE = Site("Sample", public_url="https://example.org/find/", page_rate=UNLIMITED, post_rate=UNLIMITED)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")), SITE)


@pytest.fixture(scope="module")
def here(app: Starlette) -> Iterator[Visitor]:
    with running(app) as url:
        yield Visitor(url)


def answer_to(here: Visitor, request: bytes) -> int:
    """Sends bytes; returns the status of the answer."""
    place = urlsplit(here.base)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        with contextlib.suppress(ConnectionError):  # the server may close before it has read all
            connection.sendall(request)
        received = bytearray()
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(65536):
                received += part
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", received)
    assert found, received[:100]
    return int(found[1])


def head_of(size: int, path: str = "/help") -> bytes:
    """A GET request whose head has so many bytes."""
    start = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Filler: ".encode()
    return start + b"x" * (size - len(start) - 4) + b"\r\n\r\n"


@pytest.mark.parametrize(("size", "status"), [(HEAD_BYTES, 200), (HEAD_BYTES + 2, 431), (60_000, 431), (200_000, 431)])
def test_a_long_head_that_arrives_at_once(here: Visitor, size: int, status: int) -> None:
    assert answer_to(here, head_of(size)) == status


def test_a_long_head_after_another_request(here: Visitor) -> None:
    first = b"GET /help HTTP/1.1\r\nHost: localhost\r\n\r\n"
    place = urlsplit(here.base)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(first)
        connection.recv(1)
        with contextlib.suppress(ConnectionError):
            connection.sendall(head_of(60_000))
        received = bytearray()
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(65536):
                received += part
    assert b"HTTP/1.1 431 " in received


def post_of(path: str, *fields: str) -> bytes:
    kind = "application/json" if path.startswith("/api/") else "application/x-www-form-urlencoded"
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", *fields, "", "")
    return "\r\n".join(lines).encode()


LIMITED = ["/submit", "/removal", "/check", "/crawl/login", "/api/submit", "/api/check", "/indexnow"]


@pytest.mark.parametrize("path", LIMITED)
@pytest.mark.parametrize("expect", [(), ("Expect: 100-continue",)])
def test_a_body_that_is_too_long_is_not_waited_for(here: Visitor, path: str, expect: tuple[str, ...]) -> None:
    assert answer_to(here, post_of(path, "Content-Length: 10000000000", *expect)) == 413


@pytest.mark.long
def test_the_length_is_judged_before_the_type(here: Visitor) -> None:
    head = "POST /api/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    assert answer_to(here, f"{head}Content-Length: {10**19}\r\n\r\n".encode()) == 413
    assert answer_to(here, f"{head}Content-Length: 2\r\n\r\n{{}}".encode()) == 415


@pytest.mark.parametrize("path", LIMITED)
def test_a_client_that_sends_all_of_it_reads_the_answer(here: Visitor, path: str) -> None:
    body = b"x" * 10_000_000
    assert answer_to(here, post_of(path, f"Content-Length: {len(body)}") + body) == 413
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(body) // 4, body[: len(body) // 4]) for _ in range(4)) + b"0\r\n\r\n"
    assert answer_to(here, post_of(path, "Transfer-Encoding: chunked") + chunked) == 413


QUERIES = [
    "q=%00",
    "q=a%00b&page=1%00",
    "q=%FF%FE&hl=%FF",
    "q=%ED%A0%80&url=%ED%BF%BF",
    "q=%",
    "q=%zz&%=&=&&&;",
    "q=" + "a" * 14_000,
    "q=" + "%D0%B6" * 2_500,
    "&".join(f"a{number}=1" for number in range(2_300)),
    "&" * 15_000,
    "q=robot&page=" + "9" * 5_000,
    "q=robot&page=-1",
    "q=robot&page=%D9%A1",
    "q=robot&q=robot&page=1&page=2",
    "q[]=robot&q[a]=b",
    "q=robot&after=9999-99-99&before=%00&site=%00&lang=%00&type=%00",
    "url=https://here.example/%00",
    "url=https://%5B::1&q=robot",
    "url=https://here.example:99999/&q=robot",
    "url=javascript:alert(1)&q=robot",
    "url=" + "https://here.example/" + "a" * 14_000,
    "token=%00&token=%FF&host=%00&after=%00&file=%00&reason=%00&page=%00&id=%00",
    "hl=ru&within=year&site=x",
    "purpose=%00&operator=%FF&verify=x&obeys=%ED%A0%80",
    "name=%00&patterns=,,%E2%80%AE&aliases=%FF&example=%22%5C&contact=%00@x&list_url=http://&reverse_dns=,",
    "scope=site&url=http://127.0.0.1:1/",
]


@pytest.mark.parametrize("query", QUERIES, ids=[query[:30] for query in QUERIES])
def test_any_query_on_any_path(app: Starlette, here: Visitor, query: str) -> None:
    for method, path in routes_of(app, lambda route: "GET" in (route.methods or ())):
        assert here.ask(f"{path}?{query}", method).status < 500, path


FORMS = [
    (b"", "application/x-www-form-urlencoded"),
    (b"url=%00&site=%00&robots=%00&agent=%00&token=%00&urls=%00", "application/x-www-form-urlencoded"),
    (b"url=%FF%FE&robots=%ED%A0%80", "application/x-www-form-urlencoded"),
    (b"\xff\xfe", "application/x-www-form-urlencoded"),
    (b"&" * 50_000, "application/x-www-form-urlencoded"),
    (b"a=1&" * 10_000, "application/x-www-form-urlencoded"),
    (b"{", "application/json"),
    (b"[" * 100_000, "application/json"),
    (b'{"a":' * 10_000, "application/json"),
    (
        b'{"url": "\\ud800", "robots": "\\ud800", "host": "\\ud800", "key": "\\u0000", "urlList": []}',
        "application/json",
    ),
    (b'{"url": 1e999, "robots": NaN}', "application/json"),
    (b"null", "application/json"),
    (b"x", "multipart/form-data"),
    (b"x", "\xff"),
]


@pytest.mark.parametrize(("body", "media_type"), FORMS, ids=[str(body[:20]) for body, _ in FORMS])
def test_any_body_on_any_path(app: Starlette, here: Visitor, body: bytes, media_type: str) -> None:
    for method, path in routes_of(app, lambda route: "POST" in (route.methods or ())):
        answer = here.ask(path, method, body, Content_Type=media_type)
        assert answer.status < 500, path


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /find/../../etc/passwd", 404),
        ("GET /static/../app.py", 404),
        ("GET /static/%2e%2e/app.py", 404),
        ("GET /static/..%5capp.py", 404),
        ("GET /static//etc/passwd", 404),
        ("GET /static/%00", 404),
        ("GET /static/" + "a" * 5_000, 404),
        ("GET /static", 404),
        ("GET /static/", 404),
        ("GET /%00", 404),
        ("GET /%FF%FE", 404),
        ("GET /search%00?q=robot", 404),
        ("GET /SEARCH?q=robot", 404),
        ("GET //", 404),
        ("GET //evil.example/%2e%2e", 404),
        ("GET /find/find", 404),
        ("GET /?", 200),
        ("GET http://localhost/search?q=robot", 200),
        ("GET HTTPS://localhost:443/find/search?q=robot", 200),
        ("GET http://localhost", 200),
        ("GET http://localhost?q=robot", 200),
        ("GET http://localhost/nowhere", 404),
        ("GET http://rebound.example/", 400),
        ("GET http://localhost@rebound.example/", 400),
        ("GET http://user:password@localhost/", 400),
        ("GET http:///search", 400),
        ("GET http://", 400),
        ("GET http:/search", 400),
        ("GET ftp://localhost/", 400),
        ("GET search", 400),
        ("GET localhost:80", 400),
        ("GET *", 400),
        ("OPTIONS *", 204),
        ("OPTIONS /", 405),
        ("CONNECT localhost:80", 405),
        ("CONNECT http://localhost/", 405),
        ("TRACE /", 405),
        ("BREW /", 405),
        ("POST /crawl/%00", 404),
        ("get /", 405),
    ],
)
def test_request_lines(here: Visitor, line: str, status: int) -> None:
    request = f"{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert answer_to(here, request.encode("latin-1")) == status


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ("Host: localhost\r\nHost: example.org", 400),
        ("Host: [", 400),
        ("Host: localhost:99999999", 200),
        ("Host: ", 400),
        ("X: y", 400),
        ("Host: localhost\r\nAccept-Language: \xff\xfe;q=9e999, *;q=.", 200),
        ("Host: localhost\r\nAccept-Language: " + "en;q=0.5," * 1_500, 200),
        ("Host: localhost\r\nCookie: \xff=\xfe; a; =;;" + "a=b; " * 1_000, 200),
        ('Host: localhost\r\nIf-None-Match: \xff, W/"\r\nIf-Modified-Since: never\r\nRange: bytes=9-1', 200),
        ("Host: localhost\r\nX-Forwarded-For: \xff, <b>\r\nX-Forwarded-Proto: \xff", 200),
        ("Host: localhost\r\nOrigin: \xff\r\nSec-Fetch-Site: \xff", 200),
        ("Host: localhost\r\nContent-Length: 5x", 400),
        ("Host: localhost\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        ("Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade", 200),
        ("Host: localhost\r\nExpect: 100-continue", 200),
        (" folded: x\r\nHost: localhost", 400),
        ("Host: localhost\r\nbad name: x", 400),
    ],
)
def test_header_fields(here: Visitor, fields: str, status: int) -> None:
    for path in ("/", "/robots.txt", "/opensearch.xml"):
        request = (
            f"GET {path} HTTP/1.1\r\n{fields}\r\n" + ("" if "Upgrade" in fields else "Connection: close\r\n") + "\r\n"
        )
        if "Upgrade" in fields:
            request += "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert answer_to(here, request.encode("latin-1")) == status


async def ask(app: Starlette, method: str, target: str, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
    """Calls the application as the server does. Returns the status once the response is complete."""
    path, _, query = target.partition("?")
    scope: MutableMapping[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("192.0.2.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    started: list[MutableMapping[str, Any]] = []
    is_complete = False

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal is_complete
        if message["type"] == "http.response.start":
            started.append(message)
        elif not message.get("more_body", False):
            is_complete = True

    await app(scope, receive, send)
    (start,) = started
    assert is_complete
    names = {name.decode().lower() for name, _ in start["headers"]}
    assert {name.lower() for name in HEADERS} <= names
    return int(start["status"])


visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40)
encoded = st.binary(max_size=20).map(quote)
words = visible | encoded | st.text(max_size=10).map(quote)
known = st.sampled_from(["q=robot", "page=", "url=https://here.example/", "site=", "after=", "hl=ru", "token=", "key="])
values = st.lists(known | words | st.tuples(known, words).map("".join), max_size=6).map("&".join)
fields = st.lists(
    st.tuples(
        st.sampled_from(
            [b"host", b"accept-language", b"cookie", b"origin", b"content-type", b"if-none-match", b"range"]
        ),
        st.binary(max_size=30).map(lambda value: re.sub(rb"[\x00\r\n]", b"", value)),
    ),
    max_size=3,
)
bodies = st.binary(max_size=60) | words.map(str.encode) | known.map(str.encode)


@given(data=st.data())
def test_any_request(app: Starlette, data: st.DataObject) -> None:
    paths = sorted({path for _, path in routes_of(app)})
    route = (
        st.sampled_from(paths)
        | words.map(lambda text: f"/{text}")
        | st.tuples(st.sampled_from(paths), words).map("".join)
    )
    method = data.draw(st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "PUT"]) | st.just("BREW"))
    target = data.draw(route) + data.draw(st.just("") | values.map(lambda text: f"?{text}"))
    status = asyncio.run(ask(app, method, target, data.draw(fields), data.draw(bodies)))
    assert 200 <= status < 500
