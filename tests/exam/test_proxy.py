"""The proxy: it leads to the exam by name, and nowhere else."""

import asyncio
import http.client
import socket
import ssl
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam.scripted import certificates
from goodbot.exam import Exam, site
from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, Observed, page, pages, redirect, robots
from goodbot.exam.proxy import MOST_REFUSED, ExamProxy
from goodbot.exam.site_server import ExamWeb
from goodbot.testing import FakeClock


async def _cut(exchange: Exchange) -> None:
    exchange.reset()


PLAIN = ExamSite(
    "plain",
    "A test.",
    "none",
    {**pages(robots(""), "/a"), "/moved": redirect("@other@/b?c=d"), "/cut": _cut},
    (),
    others={"other": {"/b": page(title="B")}},
)
CLOSED = ExamSite("closed", "A test.", "none", pages(None, "/a"), (), tls="valid")
REFUSAL = b"This proxy leads to the sites of the exam and nowhere else.\n"


class Client:
    """Says bytes to the proxy, and hears whole answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def of(cls, proxy: ExamProxy) -> "Client":
        address = urllib.parse.urlsplit(proxy.url)
        return cls(*await asyncio.open_connection(address.hostname, address.port))

    async def ask(self, text: str) -> tuple[int, bytes]:
        self.writer.write(text.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n")
        return await self.hear()

    async def hear(self, *, body: bool = True) -> tuple[int, bytes]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        length = int(fields.get(b"content-length", 0)) if body else 0
        return int(head[9:12]), await self.reader.readexactly(length)

    async def leave(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


async def _with(web: ExamWeb, *texts: str) -> tuple[list[tuple[int, bytes]], ExamProxy]:
    """What one client is answered, one after another over one connection."""
    async with web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        answers = [await client.ask(text) for text in texts]
        await client.leave()
    return answers, proxy


def _web() -> ExamWeb:
    return ExamWeb([PLAIN, CLOSED], FakeClock(), by_name=True, contexts=certificates()[0])


async def test_requests_are_answered_in_place_of_the_origin() -> None:
    web = _web()
    answers, proxy = await _with(
        web,
        "GET http://plain.exam.test/a HTTP/1.1\nHost: plain.exam.test",
        "GET http://PLAIN.exam.test HTTP/1.1",
        "GET http://plain.exam.test:80/moved?x HTTP/1.1",
        "GET http://other.plain.exam.test/b?c=d HTTP/1.1",
        "GET http://plain.exam.test?q HTTP/1.1",
    )
    assert [status for status, _ in answers] == [200, 200, 302, 200, 200]
    seen = [(each.origin, each.target, each.connection) for each in web.requests["plain"]]
    assert [(origin, target) for origin, target, _ in seen] == [
        (MAIN, "/a"),
        (MAIN, "/"),
        (MAIN, "/moved?x"),
        ("other", "/b?c=d"),
        (MAIN, "/?q"),
    ]
    assert len({connection for *_, connection in seen}) == 1
    assert proxy.refused == []


async def test_another_port_of_a_host_is_one_by_name_too() -> None:
    beside = replace(PLAIN, other_ports=frozenset({"other"}))
    async with ExamWeb([beside], FakeClock(), by_name=True) as web, ExamProxy(web) as proxy:
        assert web.origin(beside, "other") == "http://plain.exam.test:8080"
        client = await Client.of(proxy)
        assert (await client.ask("GET http://plain.exam.test:8080/b HTTP/1.1"))[0] == 200
        assert (await client.ask("CONNECT plain.exam.test:8080 HTTP/1.1"))[0] == 200
        assert (await client.ask("GET /b HTTP/1.1"))[0] == 200
        await client.leave()
        assert [each.origin for each in web.requests["plain"]] == ["other", "other"]


async def test_links_and_redirects_go_by_name() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        assert web.seeds() == ["http://plain.exam.test/", "https://closed.exam.test/"]
        client = await Client.of(proxy)
        client.writer.write(b"GET http://plain.exam.test/moved HTTP/1.1\r\n\r\n")
        head = await client.reader.readuntil(b"\r\n\r\n")
        assert b"Location: http://other.plain.exam.test/b?c=d\r\n" in head
        await client.leave()


async def test_an_origin_by_its_address() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        origin = web.find("plain.exam.test", 80)
        assert origin is not None
        port = origin.port
        client = await Client.of(proxy)
        assert (await client.ask(f"GET http://127.0.0.1:{port}/a HTTP/1.1"))[0] == 200
        assert (await client.ask(f"GET http://[::1]:{port}/a HTTP/1.1"))[0] == 403
        await client.leave()


@pytest.mark.parametrize(
    "request_line",
    [
        "GET http://example.org/ HTTP/1.1",
        "GET http://plain.exam.test.example.org/ HTTP/1.1",
        "GET http://plain.exam.test@example.org/ HTTP/1.1",
        "GET http://plain.exam.test:81/ HTTP/1.1",
        "GET http://plain.exam.test:99999/ HTTP/1.1",
        "GET http://closed.exam.test/ HTTP/1.1",  # it speaks TLS: nobody else does so in its place
        "GET http://closed.exam.test:443/ HTTP/1.1",
        "GET https://closed.exam.test/ HTTP/1.1",
        "GET ftp://plain.exam.test/ HTTP/1.1",
        "GET / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "POST http://127.0.0.1:1/ HTTP/1.1\nContent-Length: 0",
        "CONNECT example.org:443 HTTP/1.1",
        "CONNECT plain.exam.test:443 HTTP/1.1",
        "CONNECT closed.exam.test HTTP/1.1",
        "CONNECT closed.exam.test:80 HTTP/1.1",
        "CONNECT [::1]:22 HTTP/1.1",
        "CONNECT http://closed.exam.test:443/ HTTP/1.1",
    ],
)
async def test_everything_else_is_refused_and_counted(request_line: str) -> None:
    web = _web()
    answers, proxy = await _with(web, request_line, "GET http://plain.exam.test/a HTTP/1.1")
    assert answers[0] == (403, REFUSAL)
    assert answers[1][0] == 200  # and the connection is as good as before
    assert proxy.refused == [request_line.split("\n", maxsplit=1)[0].removesuffix(" HTTP/1.1")]
    assert len(web.requests["plain"]) == 1
    assert web.requests["closed"] == []


async def test_refusals_kept_are_bounded() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        for _ in range(MOST_REFUSED + 5):
            assert await client.ask(f"GET http://{'x' * 300}.example/ HTTP/1.1") == (403, REFUSAL)
        await client.leave()
        assert len(proxy.refused) == MOST_REFUSED
        assert max(map(len, proxy.refused)) == 200


async def test_heads_may_be_pipelined() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        names = ["plain", "nobody", "other.plain", "plain"]
        client.writer.write(b"".join(f"HEAD http://{name}.exam.test/b HTTP/1.1\r\n\r\n".encode() for name in names))
        assert [(await client.hear(body=False))[0] for _ in names] == [404, 403, 200, 404]
        await client.leave()


async def test_http_1_0_ends_the_connection_unless_asked_not_to() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        for _ in range(2):
            assert (await client.ask("GET http://plain.exam.test/a HTTP/1.0\nConnection: keep-alive"))[0] == 200
        await client.leave()
        for request in (
            "GET http://plain.exam.test/a HTTP/1.0",
            "GET http://elsewhere.example/ HTTP/1.0",
            "GET http://plain.exam.test/a HTTP/1.1\nConnection: close",
        ):
            client = await Client.of(proxy)
            await client.ask(request)
            assert await client.reader.read() == b""
            await client.leave()


async def test_a_head_without_end_is_given_up() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        client.writer.write(b"GET http://plain.exam.test/ HTTP/1.1\r\n" + b"X: y\r\n" * 20_000)
        client.writer.write_eof()
        assert (await client.reader.read()).startswith(b"HTTP/1.1 431 ")
        await client.leave()
        assert [(each.target, each.status) for each in web.requests["plain"]] == [("/", 431)]


@pytest.mark.parametrize(
    ("said", "status", "refused"),
    [
        ("GET http://plain.exam.test/a b HTTP/1.1", 400, []),
        ("GET http://elsewhere.example/ HTTP/2.0", 400, ["GET http://elsewhere.example/"]),
        ("CONNECT plain.exam.test:80 HTTP/3", 400, []),
        ("nonsense", 400, ["nonsense "]),
    ],
)
async def test_what_is_no_request_is_told_so(said: str, status: int, refused: list[str]) -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        assert (await client.ask(said))[0] == status
        client.writer.write_eof()
        assert await client.reader.read() == b""
        await client.leave()
        assert proxy.refused == refused
        assert len(web.requests["plain"]) == (not refused)


async def test_a_site_may_cut_the_connection_through_the_proxy() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        with pytest.raises(ConnectionResetError):
            await client.ask("GET http://plain.exam.test/cut HTTP/1.1")
        client.writer.close()


async def test_a_connection_counts_where_it_is_used() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        first, second = await Client.of(proxy), await Client.of(proxy)
        for client in (first, second, first):
            await client.ask("GET http://plain.exam.test/a HTTP/1.1")
        await second.ask("GET http://other.plain.exam.test/b HTTP/1.1")
        seen = web.seen(PLAIN)
        assert seen.most_connections == {MAIN: 1, "other": 1}
        assert seen.connections == {MAIN: 2, "other": 1}
        assert web.seen(CLOSED) == Observed((), 1, {MAIN: 0}, {MAIN: 0}, {MAIN: 0})
        await first.leave()
        await second.leave()


async def test_a_tunnel_to_a_plain_origin() -> None:
    async with _web() as web, ExamProxy(web) as proxy:
        client = await Client.of(proxy)
        assert await client.ask("CONNECT plain.exam.test:80 HTTP/1.1\nHost: plain.exam.test:80") == (200, b"")
        assert (await client.ask("GET /a HTTP/1.1"))[0] == 200
        assert (await client.ask("GET http://plain.exam.test/a HTTP/1.1"))[0] == 200
        assert (await client.ask("GET http://other.plain.exam.test/b HTTP/1.1"))[0] == 404  # the origin is no proxy
        assert web.seen(PLAIN).most_connections[MAIN] == 1
        await client.leave()


def test_a_tunnel_with_tls_and_names_that_are_checked() -> None:
    with site("tls-valid", "tls-expired", "tls-wrong-name", by_name=True) as exam:
        assert exam.proxy is not None
        assert exam.urls == tuple(f"https://tls-{kind}.exam.test/" for kind in ("expired", "valid", "wrong-name"))
        proxy = urllib.parse.urlsplit(exam.proxy)
        trust = ssl.create_default_context(cafile=exam.ca_file)
        for name, refused in (("tls-valid", None), ("tls-expired", "expired"), ("tls-wrong-name", "valid for")):
            client = http.client.HTTPSConnection(proxy.hostname or "", proxy.port, context=trust, timeout=120)
            client.set_tunnel(f"{name}.exam.test", 443)
            if refused:
                with pytest.raises(ssl.SSLCertVerificationError, match=refused):
                    client.request("GET", "/")
            else:
                for target in ("/robots.txt", "/", "/a", "/b"):
                    client.request("GET", target)
                    assert client.getresponse().read()
            client.close()
        exam.check()


@pytest.fixture(scope="module")
def exam() -> Iterator[Exam]:
    with site("robots-404", by_name=True) as served:
        yield served


WORDS = (
    b"GET |CONNECT |http://|robots-404.exam.test|[::1]|127.0.0.1|:|80|443|/| HTTP/1.1|\r\n|\r\n\r\n|Content-Length: |"
    b"-1|7|Connection: close|\x00|\xff|\x16\x03\x01|@|#|%"
).split(b"|")
REQUEST_LIKE = st.lists(st.sampled_from(WORDS) | st.binary(max_size=8), max_size=30).map(b"".join)


@settings(max_examples=150, deadline=None)
@given(said=REQUEST_LIKE)
def test_whatever_is_said_the_proxy_ends_it_and_goes_on(exam: Exam, said: bytes) -> None:
    assert exam.proxy is not None
    proxy = urllib.parse.urlsplit(exam.proxy)
    with socket.create_connection((proxy.hostname, proxy.port), timeout=120) as client:
        client.sendall(said)
        client.shutdown(socket.SHUT_WR)
        heard = b""
        while piece := client.recv(65536):
            heard += piece
    assert heard[:9] in {b"", b"HTTP/1.1 "}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": exam.proxy}))
    with opener.open("http://robots-404.exam.test/a", timeout=120) as answer:
        assert answer.status == 200
