"""Tests `CurlTransport` over real sockets: its answers whatever the server does, and the requests it sends."""

import asyncio
import gzip
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.ports import Resolver
from goodbot.robot.fetch.field_lines import parse_head
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.testing import FakeResolver
from goodbot.url import parse_url
from goodbot.values import Capture, Failure, FailureKind, Request, Response
from webserver import Authority, Exchange, Route, WebServer, answer, closing, resetting, silence

GUARD = AddressGuard([ip_network("127.0.0.0/8")])
SETTINGS = Settings(timeout=300, connect_timeout=60, idle_timeout=300, body_limit=512 * 1024)
AGENT = "goodbot/0 (+https://example.org/bot)"
OK = b"HTTP/1.1 200 OK\r\n"


def request(url: str, **options: Any) -> Request:
    parsed = parse_url(url)
    assert parsed is not None
    return Request(parsed, Verdict(True, None, None, "", "", url=parsed.text), **options)


@asynccontextmanager
async def transport(
    guard: AddressGuard = GUARD, resolver: Resolver | None = None, **settings: Any
) -> AsyncIterator[CurlTransport]:
    given, clock = replace(SETTINGS, **settings), SystemClock()
    resolver = resolver or NameResolver(given, clock)
    made = CurlTransport(given, guard, AGENT, "owner@example.org", clock, resolver=resolver)
    try:
        yield made
    finally:
        await made.close()


async def fetch(route: Route, **settings: Any) -> Capture:
    """What one request to a server with this one route brings."""
    async with WebServer(fallback=route) as server, transport(**settings) as curl:
        return await curl.send(request(server.url("/")))


def response(capture: Capture) -> Response:
    assert isinstance(capture.result, Response), capture.result
    return capture.result


def failure(capture: Capture) -> Failure:
    assert isinstance(capture.result, Failure), capture.result
    assert capture.result.detail
    assert capture.result.detail.isprintable()
    return capture.result


async def test_each_fetch_is_logged_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="goodbot.robot.fetch")
    async with WebServer(fallback=answer(b"abc")) as server, transport() as curl:
        url = server.url("/")
        await curl.send(request(url))
        await curl.send(request("http://nowhere.invalid/"))
    records = [item for item in caplog.records if item.name.endswith("fetch.transport")]
    assert [(item.__dict__["url"], item.__dict__["status"]) for item in records] == [
        (url, 200),
        ("http://nowhere.invalid/", None),
    ]
    assert all(item.__dict__["elapsed_s"] >= 0 for item in records)
    first, second = [item.getMessage() for item in records]
    assert first.startswith(f"GET {url}: 200, 3 bytes (")
    assert "abc" not in first
    assert second.startswith("GET http://nowhere.invalid/: the name has no address (")


# ---- answers --------------------------------------------------------------------------------------------------------

BODIES = [
    ("until the connection closes", closing(b"HTTP/1.0 200 OK\r\n\r\nold"), b"old"),
    ("chunked", OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", b"abcde"),
    ("trailers", OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n", b"a"),
    ("longer than announced", closing(OK + b"Content-Length: 2\r\n\r\nabcdef"), b"ab"),
    ("lines ended by LF", closing(b"HTTP/1.1 200 OK\nX: y\n\nhi"), b"hi"),
    ("no reason", closing(b"HTTP/1.1 200\r\n\r\nhi"), b"hi"),
    ("early hints first", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer(b"late"), b"late"),
    ("empty", answer(b""), b""),
]


@pytest.mark.parametrize(("route", "body"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
async def test_body(route: Route, body: bytes) -> None:
    got = response(await fetch(route))
    assert (got.status, got.body, got.truncated) == (200, body, None)
    assert got.header("link") is None
    assert got.header("x-sum") is None


@pytest.mark.parametrize("status", [204, 304])
async def test_no_body_where_none_can_be(status: int) -> None:
    head = f'HTTP/1.1 {status} Nothing\r\nETag: "1"\r\n\r\n'.encode()
    async with WebServer(fallback=head) as server, transport() as curl:
        for _ in range(2):  # the connection stays usable
            got = response(await curl.send(request(server.url("/"))))
            assert (got.status, got.body, got.header("etag")) == (status, b"", '"1"')
        assert server.connections == 1


async def test_odd_bytes_in_the_head_are_kept_as_latin_1() -> None:
    raw = b"HTTP/1.1 200 \xe9t\xe9\r\nX-\xe9:  \xff\xfe \r\nEmpty:\r\nFolded: a\r\n  b\r\n\tc\r\nLast: z\r\n\r\n"
    got = response(await fetch(closing(raw)))
    assert (got.version, got.reason) == ("HTTP/1.1", "été")
    assert got.headers == (("X-é", "ÿþ"), ("Empty", ""), ("Folded", "a b c"), ("Last", "z"))


async def test_odd_status_codes() -> None:
    assert response(await fetch(closing(b"HTTP/1.1 999 Request denied\r\n\r\n"))).status == 999


async def test_gzip_stays_coded() -> None:
    coded = gzip.compress(b"<p>hello")
    got = response(await fetch(answer(coded, headers=[("Content-Encoding", "gzip")])))
    assert got.body == coded


class SlowResolver(FakeResolver):
    """Looks a name up for longer than the answer takes."""

    async def resolve(self, host: str) -> tuple[str, ...] | Failure:
        await asyncio.sleep(0.3)
        return await super().resolve(host)


async def test_the_time_of_a_request_holds_what_the_server_saw_of_it() -> None:
    clock, saw = SystemClock(), list[float]()

    async def note(exchange: Exchange) -> None:
        saw.append(clock.now())
        await exchange.send(answer())

    async with WebServer(fallback=note) as server:
        guard, resolver = AddressGuard([ip_network("127.0.0.0/8")]), SlowResolver({"one.test": ["127.0.0.1"]})
        curl = CurlTransport(SETTINGS, guard, AGENT, None, clock, resolver=resolver)
        capture = await curl.send(request(server.url().replace("127.0.0.1", "one.test")))
        await curl.close()
    assert response(capture).status == 200
    assert capture.fetched_at <= saw[0] <= capture.fetched_at + capture.elapsed_s <= clock.now()


# ---- bodies that end early ------------------------------------------------------------------------------------------

SHORT = [
    ("closed", closing(OK + b"Content-Length: 100\r\n\r\nabc")),
    ("reset", resetting(OK + b"Content-Length: 100\r\n\r\nabc")),
    ("chunk closed", closing(OK + b"Transfer-Encoding: chunked\r\n\r\n30\r\nabc")),
    ("last chunk missing", closing(OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")),
]


@pytest.mark.parametrize("route", [case[1] for case in SHORT], ids=[case[0] for case in SHORT])
async def test_a_lost_connection_keeps_what_came(route: Route) -> None:
    got = response(await fetch(route))
    assert (got.status, got.body, got.truncated) == (200, b"abc", "disconnect")


async def test_an_endless_body_is_cut() -> None:
    async def endless(exchange: Exchange) -> None:
        await exchange.send(OK + b"\r\n")
        while True:
            await exchange.send(b"x" * 65536)

    got = response(await fetch(endless))
    assert (len(got.body), got.truncated) == (SETTINGS.body_limit, "length")


@pytest.mark.parametrize(("extra", "truncated"), [(0, None), (1, "length")])
async def test_the_body_limit_is_exact(extra: int, truncated: str | None) -> None:
    got = response(await fetch(answer(b"x" * (SETTINGS.body_limit + extra))))
    assert (len(got.body), got.truncated) == (SETTINGS.body_limit, truncated)


async def test_after_a_cut_the_next_request_is_answered() -> None:
    async with WebServer({"/": answer(b"ok"), "/big": answer(b"x" * 600_000)}) as server, transport() as curl:
        assert response(await curl.send(request(server.url("/big")))).truncated == "length"
        assert response(await curl.send(request(server.url("/")))).body == b"ok"


# ---- no answer ------------------------------------------------------------------------------------------------------

FAILURES: list[tuple[str, Route, FailureKind]] = [
    ("reset before the answer", resetting(), "reset"),
    ("closed before the answer", closing(b""), "reset"),
    ("reset within the head", resetting(OK + b"Content-Le"), "reset"),
    ("closed within the head", closing(OK + b"Content-Le"), "reset"),
    ("reset before the body", resetting(OK + b"Content-Length: 9\r\n\r\n"), "reset"),
    ("closed before the body", closing(OK + b"Content-Length: 9\r\n\r\n"), "reset"),
    ("HTTP/0.9", closing(b"<html>hello"), "protocol"),
    ("another protocol", closing(b"SSH-2.0-OpenSSH_9.9\r\n"), "protocol"),
    ("noise", closing(bytes(range(256))), "protocol"),
    ("unasked switch of protocols", closing(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc"), "protocol"),
    ("status 0", closing(b"HTTP/1.1 000 Odd\r\n\r\n"), "protocol"),
    ("length that is no number", closing(OK + b"Content-Length: many\r\n\r\nabc"), "protocol"),
    ("two lengths", closing(OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), "protocol"),
    ("no chunk", closing(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"), "protocol"),
    ("field without colon", closing(OK + b"field\r\n\r\n"), "protocol"),
    ("NUL in a field", closing(OK + b"X: a\0b\r\n\r\n"), "protocol"),
    ("a field of 1 MB", closing(OK + b"X: " + b"x" * 1_000_000 + b"\r\n\r\nhi"), "protocol"),
    ("fields of 400 kB", closing(OK + (b"X: " + b"x" * 95 + b"\r\n") * 4000 + b"\r\nhi"), "protocol"),
    ("6,000 fields", closing(OK + b"X: y\r\n" * 6000 + b"\r\nhi"), "protocol"),
    ("20,000 early hints", closing(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20_000), "protocol"),
    ("9,000 trailers", closing(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 9000), "protocol"),
]


@pytest.mark.parametrize(("route", "kind"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
async def test_no_answer(route: Route, kind: FailureKind) -> None:
    capture = await fetch(route)
    assert failure(capture).kind == kind
    assert capture.peer == "127.0.0.1"
    assert capture.request_head.startswith(b"GET / HTTP/1.1\r\n")


async def test_a_server_that_never_answers() -> None:
    assert failure(await fetch(silence, timeout=0.3)).kind == "timeout"


async def test_an_answer_that_pauses_too_long() -> None:
    async def pauses(exchange: Exchange) -> None:
        await exchange.send(OK + b"Content-Length: 9\r\n\r\n")
        await silence(exchange)

    assert failure(await fetch(pauses, idle_timeout=1)).kind == "timeout"


async def test_a_slow_drip_ends() -> None:
    async def drip(exchange: Exchange) -> None:
        await exchange.send(OK + b"\r\n")
        while True:
            await exchange.send(b"x")
            await asyncio.sleep(0.02)

    assert failure(await fetch(drip, timeout=0.3)).kind == "timeout"


async def test_a_refused_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        async with transport() as curl:
            capture = await curl.send(request(f"http://127.0.0.1:{taken.getsockname()[1]}/"))
    assert failure(capture).kind == "connect"
    assert (capture.peer, capture.request_head) == (None, b"")


async def test_a_name_without_address() -> None:
    async with transport() as curl:
        capture = await curl.send(request("http://nonexistent.invalid/"))  # RFC 6761 §6.4
    assert failure(capture).kind == "dns"
    assert "nonexistent.invalid" in failure(capture).detail
    assert capture.peer is None


# ---- what is sent ---------------------------------------------------------------------------------------------------

TARGETS = [
    "/",
    "/a%2fb%C3%a9?x=%2f%C3",
    "/a/%2e%2E/b",
    "/x?",
    "/?q=a+b&c=%22",
    "//double",
    "/a|b'c^`{d}?x={}|[]\\'",
    "/%zz",
    "/?" + "q" * 3000,
]


@pytest.mark.parametrize("target", TARGETS)
async def test_the_request_head_is_what_was_sent(target: str) -> None:
    async with WebServer(fallback=answer()) as server, transport() as curl:
        for headers in ((), (("If-None-Match", '"1"'), ("X-Empty", ""), ("X-Odd", "é")), ()):
            sent = request(server.url(target), headers=headers)
            capture = await curl.send(sent)
            assert capture.request_head == server.exchanges[-1].head
            assert server.exchanges[-1].target == sent.url.target


async def test_a_server_of_http_1_0_is_asked_the_same_way_again() -> None:
    old = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
    async with WebServer(fallback=old) as server, transport() as curl:
        for _ in range(2):
            capture = await curl.send(request(server.url("/")))
            assert capture.request_head == server.exchanges[-1].head


async def test_the_robot_says_who_it_is_and_no_more() -> None:
    async with WebServer({"/": answer(headers=[("Set-Cookie", "a=b")])}, fallback=answer()) as server:
        async with transport() as curl:
            await curl.send(request(server.url("/")))
            await curl.send(request(server.url("/second")))
        names = [line.split(b":")[0] for line in server.exchanges[-1].head.split(b"\r\n")[1:-2]]
        assert names == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding", b"From"]
        assert server.exchanges[-1].header("user-agent") == AGENT
        assert server.exchanges[-1].header("from") == "owner@example.org"


async def test_a_field_of_the_request_replaces_ours() -> None:
    async with WebServer(fallback=answer()) as server, transport() as curl:
        await curl.send(request(server.url("/"), headers=(("accept", "text/plain"),)))
        assert server.exchanges[-1].head.lower().count(b"accept:") == 1
        assert server.exchanges[-1].header("Accept") == "text/plain"


async def test_a_line_break_in_a_field_is_refused() -> None:
    async with WebServer(fallback=answer()) as server, transport() as curl:
        with pytest.raises(ValueError, match="line break"):
            await curl.send(request(server.url("/"), headers=(("X", "a\r\nY: b"),)))
        assert server.exchanges == []


@pytest.mark.parametrize(("settings", "asked_s"), [({}, 2.0), ({"delay": 2.0}, None)])
async def test_where_a_distance_is_kept_a_reset_is_not_asked_again_at_once(
    settings: dict[str, Any], asked_s: float | None
) -> None:
    async with WebServer({"/x": resetting()}, fallback=answer()) as server, transport(**settings) as curl:
        await curl.send(request(server.url("/")))  # a connection that is kept
        wanted = request(server.url("/x"))
        capture = await curl.send(replace(wanted, verdict=replace(wanted.verdict, delay_s=asked_s)))
        assert failure(capture).kind == "reset"
        assert capture.request_head.startswith(b"GET /x ")
        response(await curl.send(request(server.url("/"))))
        assert server.targets == ["/", "/x", "/"]


async def test_where_none_is_kept_it_is() -> None:
    async def reset_once(exchange: Exchange) -> None:
        await (exchange.reset() if exchange.connection == 1 else exchange.send(answer()))

    async with WebServer({"/x": reset_once}, fallback=answer()) as server, transport() as curl:
        await curl.send(request(server.url("/")))
        response(await curl.send(request(server.url("/x"))))
        assert server.targets == ["/", "/x", "/x"]


async def test_connections_are_kept_and_the_capture_tells_the_peer() -> None:
    async with WebServer(fallback=answer()) as server, transport() as curl:
        before = curl._clock.now()
        captures = [await curl.send(request(server.url(f"/{number}"))) for number in range(3)]
        assert server.connections == 1
        assert {capture.peer for capture in captures} == {"127.0.0.1"}
        assert all(capture.fetched_at >= before for capture in captures)


async def test_the_environments_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with WebServer(fallback=answer(b"proxy")) as proxy, WebServer(fallback=answer(b"direct")) as server:
        monkeypatch.setenv("http_proxy", proxy.origin)
        monkeypatch.setenv("all_proxy", proxy.origin)
        async with transport() as curl:
            assert response(await curl.send(request(server.url("/")))).body == b"direct"
        assert proxy.exchanges == []


async def test_a_name_is_connected_to_where_the_settings_say() -> None:
    async with WebServer(fallback=answer(b"pinned")) as server:
        pins = (f"site.test:{server.port}:127.0.0.1", f"bad.test:{server.port}:[::1]")
        async with transport(resolve=pins) as curl:
            capture = await curl.send(request(f"http://site.test:{server.port}/"))
            assert response(capture).body == b"pinned"
            assert capture.peer == "127.0.0.1"
            assert server.exchanges[-1].header("host") == f"site.test:{server.port}"
            refused = await curl.send(request(f"http://bad.test:{server.port}/"))
            assert failure(refused).kind == "private-address"


UNUSABLE = [
    {"ca_file": "/nonexistent/ca.pem"},
    {"proxy": "localhost:8080"},
    {"proxy": "ftp://127.0.0.1/"},
    {"proxy": "http://prüfung.test:80"},
    {"resolve": ("site.test:80",)},
    {"resolve": ("site.test:http:127.0.0.1",)},
    {"resolve": ("site.test:80:elsewhere.test",)},
    {"resolve": ("[2606:4700::1]:443:127.0.0.1",)},
    {"resolve": ("2606:4700::1:443:127.0.0.1",)},
    {"resolve": ("192.0.2.1:80:127.0.0.1",)},
    {"nameservers": ("ns.test",)},
    {"auth": ("site.test",)},
]


@pytest.mark.parametrize("settings", UNUSABLE, ids=str)
def test_settings_that_cannot_be_used(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _made(replace(SETTINGS, **settings))


def _made(settings: Settings) -> CurlTransport:
    clock = SystemClock()
    return CurlTransport(settings, GUARD, AGENT, None, clock, resolver=NameResolver(settings, clock))


async def test_a_name_is_asked_of_the_resolver_and_what_it_says_is_connected_to() -> None:
    async with WebServer(fallback=answer(b"ok")) as server:
        names = {"site.test": ["127.0.0.1"], "six.test": ["::1"], "both.test": ["::1", "127.0.0.1"]}
        for name in ("site.test", "site.test.", "both.test", "www.localhost"):
            resolver = FakeResolver({**names, "site.test.": ["127.0.0.1"], "www.localhost": ["127.0.0.1"]})
            async with transport(resolver=resolver) as curl:
                for _ in range(2):
                    capture = await curl.send(request(f"http://{name}:{server.port}/"))
                    assert response(capture).body == b"ok"
                    assert capture.peer == "127.0.0.1"
                    assert capture.request_head == server.exchanges[-1].head
                assert resolver.lookups == [name, name]


async def test_what_the_resolver_does_not_know_nobody_else_is_asked_for() -> None:
    async with WebServer(fallback=answer()) as server, transport(resolver=FakeResolver({})) as curl:
        capture = await curl.send(request(f"http://localhost:{server.port}/"))
        assert failure(capture).kind == "dns"
        assert server.connections == 0


async def test_port_0() -> None:
    async with transport() as curl:
        assert failure(await curl.send(request("http://127.0.0.1:0/"))).kind == "connect"


# ---- credentials and cookies ----------------------------------------------------------------------------------------


async def test_credentials_go_to_their_host_alone_and_are_not_told() -> None:
    moved = answer(status=302, headers=[("Location", "http://other.test/")])
    async with WebServer(fallback=moved) as server, WebServer(fallback=answer()) as other:
        names = {name: ["127.0.0.1"] for name in ("site.test", "other.test", "www.site.test")}
        auth = (f"127.0.0.1:{server.port}=basic:me:p:ß", f"http://site.test:{server.port}=bearer:to-ken")
        async with transport(resolver=FakeResolver(names), auth=auth) as curl:
            for host, sent in (
                (f"127.0.0.1:{server.port}", "Basic bWU6cDrDnw=="),
                (f"site.test:{server.port}", "Bearer to-ken"),
                (f"www.site.test:{server.port}", None),
                (f"other.test:{server.port}", None),
                (f"site.test:{other.port}", None),
            ):
                capture = await curl.send(request(f"http://{host}/"))
                to = other if host.endswith(str(other.port)) else server
                assert to.exchanges[-1].header("authorization") == sent
                assert b"bWU6" not in capture.request_head
                assert b"to-ken" not in capture.request_head
                assert (b"[withheld]" in capture.request_head) is (sent is not None)


async def test_cookies_are_off_unless_asked_for_and_go_to_their_host_alone() -> None:
    setting = answer(headers=[("Set-Cookie", "a=1; Domain=test"), ("Set-Cookie", "b=2; Path=/x")])
    for on, sent in ((False, None), (True, "a=1")):
        async with WebServer(fallback=setting) as server:
            resolver = FakeResolver({"one.test": ["127.0.0.1"], "two.test": ["127.0.0.1"]})
            async with transport(resolver=resolver, cookies=on) as curl:
                for host, cookie in (("one", None), ("one", sent), ("two", None)):
                    await curl.send(request(f"http://{host}.test:{server.port}/"))
                    assert server.exchanges[-1].header("cookie") == cookie


# ---- the guard ------------------------------------------------------------------------------------------------------


async def test_a_private_address_is_refused_before_any_packet() -> None:
    async with WebServer(fallback=answer()) as server, transport(AddressGuard()) as curl:
        names = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]")
        for name in names:
            capture = await curl.send(request(f"http://{name}:{server.port}/"))
            assert failure(capture).kind == "private-address"
            assert "--allow-private" in failure(capture).detail
            assert (capture.peer, capture.request_head) == (None, b"")
        assert server.connections == 0


async def test_a_reused_connection_is_guarded_too() -> None:
    async with WebServer(fallback=answer(b"ok")) as server, transport() as curl:
        assert response(await curl.send(request(server.url("/first")))).body == b"ok"
        refused = await curl.send(request(server.url("/second"), public_only=True))
        assert failure(refused).kind == "private-address"
        assert "127.0.0.1" in failure(refused).detail
        assert refused.request_head == b""
        assert response(await curl.send(request(server.url("/third")))).body == b"ok"
        assert server.targets == ["/first", "/third"]


async def test_a_refusal_does_not_colour_the_next_failure() -> None:
    async with WebServer(fallback=resetting()) as server, transport() as curl:
        assert failure(await curl.send(request(server.url("/"), public_only=True))).kind == "private-address"
        assert failure(await curl.send(request(server.url("/")))).kind == "reset"


async def test_a_name_with_a_permitted_address_is_not_called_private() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        async with transport() as curl:  # localhost may be ::1 as well, which is not open
            capture = await curl.send(request(f"http://localhost:{taken.getsockname()[1]}/"))
    assert failure(capture).kind == "connect"


# ---- a proxy --------------------------------------------------------------------------------------------------------


async def test_through_a_proxy_the_whole_url_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    async with WebServer(fallback=answer(b"proxied")) as proxy, transport(AddressGuard(), proxy=proxy.origin) as curl:
        capture = await curl.send(request("http://example.org/a?b"))
        assert response(capture).body == b"proxied"
        assert capture.request_head == proxy.exchanges[-1].head
        assert capture.request_head.startswith(b"GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\n")


async def test_written_out_private_addresses_are_not_sent_to_a_proxy() -> None:
    async with WebServer(fallback=answer()) as proxy, transport(AddressGuard(), proxy=proxy.origin) as curl:
        for url in ("http://10.0.0.1/", "http://localhost/", "http://a.localhost/", "http://[::1]/", "https://10.1/"):
            assert failure(await curl.send(request(url))).kind == "private-address"
        assert proxy.connections == 0


async def test_without_a_contact_public_names_are_not_sent_to_a_proxy() -> None:
    guard = AddressGuard([ip_network("127.0.0.0/8")], public=False)
    names = FakeResolver({"wiki.example": ["127.0.0.1"], "www.example": ["8.8.4.4"]})
    async with (
        WebServer(fallback=answer(b"proxied")) as proxy,
        transport(guard, names, proxy=proxy.origin) as curl,
    ):
        for host, why in (
            ("8.8.4.4", "is public"),
            ("www.example", "is public"),
            ("unknown.example", "may be public (its name cannot be resolved here)"),
        ):
            refused = failure(await curl.send(request(f"http://{host}/")))
            assert (refused.kind, refused.detail.partition(", and ")[0]) == ("no-contact", f"{host} {why}")
        assert proxy.connections == 0
        assert response(await curl.send(request("http://wiki.example/"))).body == b"proxied"


async def test_a_tunnel_that_is_refused() -> None:
    async with WebServer(fallback=answer(status=403)) as proxy, transport(proxy=proxy.origin) as curl:
        capture = await curl.send(request("https://example.org/"))
        assert failure(capture).kind == "connect"
        assert capture.request_head == b""
        assert proxy.exchanges[-1].header("user-agent") == AGENT


# ---- TLS ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


async def fetch_over_tls(authority: Authority, name: str, ca_file: Path | None, expired: bool = False) -> Capture:
    context = authority.server_context(name, expired=expired)
    trusted = ca_file and str(ca_file)
    async with WebServer(fallback=answer(b"secret"), tls=context) as server, transport(ca_file=trusted) as curl:
        return await curl.send(request(server.url("/")))


async def test_tls(authority: Authority) -> None:
    capture = await fetch_over_tls(authority, "127.0.0.1", authority.file)
    assert response(capture).body == b"secret"
    assert capture.peer == "127.0.0.1"


async def test_tls_with_an_expired_certificate(authority: Authority) -> None:
    result = failure(await fetch_over_tls(authority, "127.0.0.1", authority.file, expired=True))
    assert result.kind == "tls"
    assert result.detail.startswith("the certificate has expired (127.0.0.1): ")


async def test_tls_with_the_certificate_of_another(authority: Authority) -> None:
    capture = await fetch_over_tls(authority, "other.test", authority.file)
    assert failure(capture).kind == "tls"
    assert failure(capture).detail.startswith("the certificate is for another host (127.0.0.1): ")
    assert capture.request_head == b""


async def test_tls_with_an_authority_nobody_knows(authority: Authority) -> None:
    result = failure(await fetch_over_tls(authority, "127.0.0.1", None))
    assert result.kind == "tls"
    assert result.detail.startswith("the certificate is from an unknown authority (127.0.0.1): ")


async def test_tls_of_another_kind(authority: Authority) -> None:
    context = authority.server_context("127.0.0.1")
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-ECDSA-AES256-CCM8:@SECLEVEL=0")
    async with WebServer(fallback=answer(), tls=context) as server, transport(ca_file=str(authority.file)) as curl:
        result = failure(await curl.send(request(server.url("/"))))
    assert result.kind == "tls"
    assert result.detail.startswith("no TLS connection could be set up (127.0.0.1): ")


async def test_tls_with_a_server_that_speaks_none() -> None:
    async with WebServer(fallback=answer()) as server, transport(timeout=0.5) as curl:
        server_url = server.url("/").replace("http:", "https:")
        assert failure(await curl.send(request(server_url))).kind in ("tls", "timeout")


# ---- many at once ---------------------------------------------------------------------------------------------------


async def test_one_slow_server_holds_up_nobody() -> None:
    async with WebServer(fallback=silence) as slow, WebServer(fallback=answer(b"ok")) as quick, transport() as curl:
        waiting = asyncio.create_task(curl.send(request(slow.url("/"))))
        captures = await asyncio.gather(*(curl.send(request(quick.url(f"/{number}"))) for number in range(64)))
        assert {response(capture).body for capture in captures} == {b"ok"}
        assert not waiting.done()
        await end(waiting)


async def test_a_cancelled_request_frees_its_connection() -> None:
    async with WebServer({"/": answer(b"ok")}, fallback=silence) as server, transport() as curl:
        waiting = [asyncio.create_task(curl.send(request(server.url(f"/{number}")))) for number in range(8)]
        await server.received(8)
        for task in waiting:
            await end(task)
        await server.deserted()
        assert response(await curl.send(request(server.url("/")))).body == b"ok"


async def test_closing_ends_what_is_in_flight() -> None:
    async with WebServer(fallback=silence) as server, transport() as curl:
        waiting = asyncio.create_task(curl.send(request(server.url("/"))))
        await server.received(1)
        await curl.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files as Linux lists them")
async def test_close_leaves_no_socket_open() -> None:
    async with WebServer({"/gone": resetting()}, fallback=answer()) as server:
        before = len(os.listdir("/proc/self/fd"))
        async with transport() as curl:
            await asyncio.gather(*(curl.send(request(server.url(f"/{number}"))) for number in range(20)))
            await curl.send(request(server.url("/gone")))
            await curl.send(request(server.url("/"), public_only=True))
        await server.deserted()
        assert len(os.listdir("/proc/self/fd")) <= before


async def end(task: asyncio.Task[Capture]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# ---- heads ----------------------------------------------------------------------------------------------------------


HEADS: list[tuple[str, bytes, tuple[Any, ...] | None]] = [
    ("HTTP/2", b"HTTP/2 200 \r\nserver: x\r\n\r\n", ("HTTP/2", 200, "", (("server", "x"),))),
    ("several blanks", b"HTTP/1.1  404  Not  here \r\n\r\n", ("HTTP/1.1", 404, "Not  here", ())),
    ("blanks around", b"HTTP/1.1 200\r\nA : \t b c \r\n\r\n", ("HTTP/1.1", 200, "", (("A", "b c"),))),
    ("trailers", b"HTTP/1.1 200\r\nA: b\r\n\r\nC: d\r\n\r\n", ("HTTP/1.1", 200, "", (("A", "b"),))),
    ("1xx first", b"HTTP/1.1 100\r\nA: b\r\n\r\nHTTP/1.1 200\r\n\r\n", ("HTTP/1.1", 200, "", ())),
    ("1xx only", b"HTTP/1.1 101\r\nA: b\r\n\r\n", None),
    ("no end", b"HTTP/1.1 200 OK\r\nA: b\r\n", None),
    ("no status", b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n", None),
    ("nothing", b"", None),
]


@pytest.mark.parametrize(("raw", "head"), [case[1:] for case in HEADS], ids=[case[0] for case in HEADS])
def test_parse_head(raw: bytes, head: tuple[Any, ...] | None) -> None:
    assert parse_head(raw.splitlines(keepends=True)) == head


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"HTTP/1.1 200 OK\r\n", b"\r\n", b" fold\r\n", b"A: b\r\n"])))
def test_parse_head_never_raises(lines: list[bytes]) -> None:
    head = parse_head(lines)
    assert head is None or 200 <= head[1] <= 999
