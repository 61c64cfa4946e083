"""The headers of every response: of all routes, of errors, and of what the server answers without the application."""

import contextlib
import re
import socket
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from http.client import HTTPMessage
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette

from goodbot.web import Rate, Site, create_app, running
from goodbot.web.server.connections import ConnectionLimit
from goodbot.web.server.security_headers import HEADERS
from goodbot.web.server.static_files import static_path
from web.library import SPECIMENS, Library, Visitor
from web.whole import routes_of, whole_app

QUERIES = {
    "/search": "q=chapter",
    "/search.atom": "q=chapter",
    "/api/search": "q=chapter",
    "/api/explain": "q=chapter&url=x",
}
EXPECTED = {
    "Content-Security-Policy": r"default-src 'none'; .*|.*\bsandbox\b.*",
    "Referrer-Policy": "same-origin|no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin|unsafe-none",
    "Cross-Origin-Resource-Policy": "same-origin|cross-origin",
    "Permissions-Policy": r"accelerometer=\(\), camera=\(\), .*",
    "Cache-Control": r"no-cache|no-store|(public, )?max-age=\d+(, immutable)?",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def everywhere(app: Starlette) -> Iterator[Visitor]:
    with running(app) as url:
        yield Visitor(url)


def assert_secure(headers: HTTPMessage | Message, what: str = "") -> None:
    for name, pattern in EXPECTED.items():
        assert re.fullmatch(pattern, headers.get(name, "")), f"{what}: {name}: {headers.get(name)}"
        assert len(headers.get_all(name, [])) == 1, f"{what}: {name}"
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy
    assert "Server" not in headers


def test_every_route(app: Starlette, everywhere: Visitor) -> None:
    for method, path in routes_of(app):
        answer = everywhere.ask(f"{path}?{QUERIES.get(path, '')}", method, b"" if method == "POST" else None)
        assert answer.status < 500, path
        assert_secure(answer.headers, f"{method} {path}: {answer.status}")


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/nowhere", "GET", 404),
        ("/search/", "GET", 404),
        ("/static/nothing.css", "GET", 404),
        ("/static/style.css", "POST", 405),
        ("/search?q=robot&page=x", "GET", 400),
        ("/api/search", "GET", 400),
        ("/api/search", "DELETE", 405),
        ("/api/check", "POST", 415),
        ("/check", "OPTIONS", 405),
        ("/", "TRACE", 405),
    ],
)
def test_errors(everywhere: Visitor, path: str, method: str, status: int) -> None:
    answer = everywhere.ask(path, method)
    assert answer.status == status
    assert_secure(answer.headers)


def test_faults_and_refusals() -> None:
    library = Library(SPECIMENS)
    with running(create_app(library, Site("Sample", proxies=("127.0.0.1",), page_rate=Rate(1, 2)))) as url:
        visitor = Visitor(url)
        library.trouble = ZeroDivisionError("a fault")
        assert_secure(fault := visitor.ask("/", X_Forwarded_For="192.0.2.1").headers)
        assert "Retry-After" not in fault
        assert visitor.ask("/", X_Forwarded_For="192.0.2.1").status == 500
        refused = visitor.ask("/", X_Forwarded_For="192.0.2.1")
        stranger = visitor.ask("/", Host="rebound.example")
    assert [refused.status, stranger.status] == [429, 400]
    assert_secure(refused.headers)
    assert_secure(stranger.headers)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-", 408),
        (b"nonsense\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /search?q=" + b"a" * 70_000, 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-Many: a\r\n" * 7_000, 431),
        (b"POST /check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ],
    ids=["slow", "nonsense", "bytes", "long line", "long field", "many fields", "unknown coding"],
)
def test_what_is_answered_without_the_application(sent: bytes, status: int) -> None:
    with running(create_app(Library([]), Site("Sample")), limit=ConnectionLimit(9, head_timeout_s=0.2)) as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
            with contextlib.suppress(ConnectionError):  # the server may close before it has read all
                connection.sendall(sent)
            received = bytearray()
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    received += part
    line, _, fields = bytes(received).partition(b"\r\n")
    assert line.startswith(b"HTTP/1.1 %d " % status)
    assert_secure(message_from_bytes(fields))


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [(None, None), ("http://search.example/", None), ("https://search.example/", "max-age=31536000")],
)
def test_only_https_if_visitors_use_it(public_url: str | None, expected: str | None) -> None:
    library = Library(SPECIMENS)
    with running(create_app(library, Site("Sample", public_url=public_url))) as url:
        for path in ("/", "/nowhere", "/static/style.css", "/api/search?q=robot"):
            assert Visitor(url).ask(path).headers["Strict-Transport-Security"] == expected
        library.trouble = ZeroDivisionError("a fault")
        assert Visitor(url).ask("/").headers["Strict-Transport-Security"] == expected


def test_files_with_their_hash_are_kept_for_a_year(everywhere: Visitor) -> None:
    hashed = everywhere.ask(static_path("style.css"))
    assert hashed.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert hashed.headers["Content-Type"].startswith("text/css")
    for path in ("/static/style.css", "/static/style.css?v=0123456789abcdef", "/static/style.css?v=", "/favicon.ico"):
        assert everywhere.ask(path).headers["Cache-Control"] == "no-cache"
    again = everywhere.ask("/static/style.css", If_None_Match=hashed.headers["ETag"])
    assert (again.status, again.text) == (304, "")
    assert_secure(again.headers)


def test_pages_name_files_with_their_hash(everywhere: Visitor) -> None:
    html = everywhere.ask("/").text
    assert f'href="{static_path("style.css")}"' in html
    assert [file for file in re.findall(r'"(/static/[^"]*)"', html) if "?v=" not in file] == []


def test_no_inline_script_or_style_on_any_page(app: Starlette, everywhere: Visitor) -> None:
    assert "unsafe-inline" not in HEADERS["Content-Security-Policy"]
    for method, path in routes_of(app):
        answer = everywhere.ask(f"{path}?{QUERIES.get(path, '')}") if method == "GET" else None
        if answer is not None and answer.headers["Content-Type"].startswith("text/html"):
            assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", answer.text) == [], path
