"""Ways to lead a robot to a private address. None of them connects: a canary listens on 127.0.0.1 and ::1.

Every refusal is a `private-address` failure, not a time-out: the guard has seen through it.
"""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.robot.manners.redirects import redirect_target
from goodbot.testing import FakeResolver
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure, Request, Response
from nameserver import NameServer
from webserver import WebServer, answer, closing

LOOPBACK = AddressGuard([ip_network("127.0.0.0/8"), ip_network("::1/128")])

LITERALS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",  # one number
    "017700000001",
    "0x7f000001",
    "0X7F.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0x0.0.01",
    "00000177.1",
    "127.0.0.1.",
    "127.1.",
    "0x7f000001.",
    "127.0.0.0x1",
    "127.0.0.0X",
    "127%2e0%2e0%2e1",
    "%31%32%37.0.0.1",
    "127。0。0。1",  # full stops of East Asia
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",  # full-width digits
    "①②⑦.⓪.⓪.①",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "¹²⁷.0.0.1",
    "12\u00ad7.0.0.1",  # soft hyphen
    "127.\u200b0.0.1",  # zero-width space
    "0.0.0.0",
    "0",
    "0x0",
    "0.1.2.3",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[::0.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7F00:1]",
    "[::ffff:0:127.0.0.1]",  # translated, RFC 2765
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:7f00:1::1]",
    "[2001:0:7f00:1::1]",  # Teredo
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",  # Teredo, its client 127.0.0.1
    "[fe80::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[5f00::1]",
    "[3fff::1]",
    "[100::1]",
    "10.0.0.1",
    "167772161",  # 10.0.0.1
    "012.1",
    "172.16.0.1",
    "192.168.0.1",
    "0xc0a80001",
    "3232235521",
    "169.254.169.254",
    "2852039166",  # 169.254.169.254
    "0xA9FEA9FE",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "ｌｏｃａｌｈｏｓｔ",
    "loc%61lhost",
    "a.localhost",
    "a.b.localhost.",
    "127.0.0.1.localhost",
]

NO_URLS = [
    "[fe80::1%25eth0]",  # zones have no place in URLs
    "[fe80::1%eth0]",
    "[::1%25lo]",
    "[::1%lo]",
    "[::1]x",
    "[127.0.0.1]",
    "::1",
    "127.0.0.1.1",
    "127.0.0.256",
    "4294967297",
    "0x100000001",
    "0x7f.0.0.0.1",
    "127..1",
    "127.0.0.1%00.example.org",
]

RESOLVED: list[tuple[str, list[str]]] = [
    ("loopback.test", ["127.0.0.1"]),
    ("loopback.test.", ["127.0.0.1"]),
    ("other-loopback.test", ["127.8.9.10"]),
    ("six.test", ["::1"]),
    ("both.test", ["127.0.0.1", "::1"]),
    ("mapped.test", ["::ffff:127.0.0.1"]),
    ("compatible.test", ["::7f00:1"]),
    ("nat64.test", ["64:ff9b::7f00:1"]),
    ("6to4.test", ["2002:7f00:1::"]),
    ("teredo.test", ["2001:0:7f00:1::1"]),
    ("unspecified.test", ["0.0.0.0"]),
    ("unspecified-6.test", ["::"]),
    ("ten.test", ["10.0.0.1"]),
    ("metadata.test", ["169.254.169.254"]),
    ("unique-local.test", ["fd00::1"]),
    ("link-local.test", ["fe80::1"]),
    ("mixed.test", ["10.0.0.1", "127.0.0.1", "192.168.0.1", "::1"]),
    ("alias.test", ["CNAME loopback.test"]),
    ("alias-of-alias.test", ["CNAME alias.test"]),
    ("many.test", [f"127.0.{n}.1" for n in range(250)]),
    ("127.0.0.1.nip.test", ["127.0.0.1"]),
    ("xn--caf-dma.test", ["127.0.0.1"]),
]


@dataclass
class Canary:
    """Listens on one port of both loopback addresses; `songs` are those who have come. `other`: bound to the same port
    of 127.0.0.2, not listening."""

    port: int
    other: socket.socket
    songs: list[object] = field(default_factory=list)


def one_port(stack: ExitStack) -> tuple[list[socket.socket], socket.socket]:
    """Sockets with the same port of 127.0.0.1 and of ::1, where there is IPv6, and one with that port of 127.0.0.2."""
    while True:
        with ExitStack() as attempt:
            four, other = attempt.enter_context(socket.socket()), attempt.enter_context(socket.socket())
            four.bind(("127.0.0.1", 0))
            heard, port = [four], four.getsockname()[1]
            try:
                other.bind(("127.0.0.2", port))
                heard.append(attempt.enter_context(socket.socket(socket.AF_INET6)))
                heard[1].bind(("::1", port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue  # by another test
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                del heard[1:]
            stack.push(attempt.pop_all())
            return heard, other


@asynccontextmanager
async def listening() -> AsyncIterator[Canary]:
    with ExitStack() as stack:
        heard, other = one_port(stack)
        canary = Canary(heard[0].getsockname()[1], other)

        async def sing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            canary.songs.append(writer.get_extra_info("sockname"))
            writer.close()

        servers = [await asyncio.start_server(sing, sock=each) for each in heard]
        yield canary
        await asyncio.sleep(0)
        for server in servers:
            server.close()
            await server.wait_closed()


def asked(url: Url, **options: Any) -> Request:
    return Request(url, Verdict(True, None, None, "", "", url=url.text), **options)


def refused(capture: Capture) -> bool:
    assert isinstance(capture.result, Failure), capture.result
    assert capture.result.kind == "private-address", capture.result
    assert "give its URL yourself" in capture.result.detail
    return capture.peer is None and capture.request_head == b""


def made(guard: AddressGuard, *nameservers: str) -> CurlTransport:
    settings = Settings(connect_timeout=60, nameservers=nameservers)
    clock = SystemClock()
    return CurlTransport(settings, guard, "test/1", None, clock, resolver=NameResolver(settings, clock))


def test_there_are_at_least_sixty() -> None:
    assert len(set(LITERALS)) + len(RESOLVED) >= 60


@pytest.mark.parametrize("literal", LITERALS)
async def test_a_literal(literal: str) -> None:
    async with listening() as canary:
        url = parse_url(f"http://{literal}:{canary.port}/")
        assert url is not None
        transport = made(AddressGuard())
        assert refused(await transport.send(asked(url)))
        await transport.close()
        assert canary.songs == []


@pytest.mark.parametrize("literal", NO_URLS)
def test_what_is_no_url(literal: str) -> None:
    assert parse_url(f"http://{literal}:80/") is None


@pytest.mark.parametrize("name", [name for name, _ in RESOLVED])
async def test_a_name(name: str) -> None:
    async with listening() as canary, NameServer(dict(RESOLVED)) as server:
        url = parse_url(f"http://{name}:{canary.port}/")
        assert url is not None
        transport = made(AddressGuard(), server.address)
        capture = await transport.send(asked(url))
        assert refused(capture)
        assert isinstance(capture.result, Failure)
        assert url.host in capture.result.detail
        await transport.close()
        assert canary.songs == []


@pytest.mark.parametrize("host", [*LITERALS, *(name for name, _ in RESOLVED)])
async def test_a_redirect_from_outside(host: str) -> None:
    """The crawl may go to loopback, but nobody from outside may send it there."""
    async with listening() as canary, NameServer(dict(RESOLVED)) as server:
        moved = closing(f"HTTP/1.1 302 Found\r\nLocation: //{host}:{canary.port}/\r\n\r\n".encode())
        async with WebServer(fallback=moved) as site:
            transport = made(LOOPBACK, server.address)
            start = parse_url(site.url("/"))
            assert start is not None
            target = redirect_target(await transport.send(asked(start)))
            assert target is not None
            assert target == parse_url(f"http://{host}:{canary.port}/")
            assert refused(await transport.send(asked(target, public_only=True)))
            await transport.close()
        assert canary.songs == []


async def test_of_mixed_answers_only_what_is_permitted_is_connected_to() -> None:
    only = AddressGuard([ip_network("127.0.0.2/32")])
    async with listening() as canary, WebServer(fallback=answer(b"ok"), host="127.0.0.2") as site:
        resolver = FakeResolver({"mixed.test": ["127.0.0.1", "10.0.0.1", "127.0.0.2", "::1"]})
        transport = CurlTransport(Settings(), only, "test/1", None, SystemClock(), resolver=resolver)
        capture = await transport.send(asked(Url(f"http://mixed.test:{site.port}/")))
        assert isinstance(capture.result, Response)
        assert capture.peer == "127.0.0.2"
        there = await transport.send(asked(Url(f"http://mixed.test:{canary.port}/")))
        assert isinstance(there.result, Failure)
        assert there.result.kind == "connect"
        await transport.close()
        assert canary.songs == []


async def test_a_name_that_leads_elsewhere_after_it_was_judged() -> None:
    """The address judged is the address connected to: libcurl does not ask again."""
    only = AddressGuard([ip_network("127.0.0.2/32")])
    resolver = FakeResolver({"rebinding.test": ["127.0.0.2"]})
    async with listening() as canary:
        site = await asyncio.start_server(_serve, sock=canary.other)
        transport = CurlTransport(Settings(), only, "test/1", None, SystemClock(), resolver=resolver)
        url = Url(f"http://rebinding.test:{canary.port}/")
        first = await transport.send(asked(url))
        assert isinstance(first.result, Response)
        resolver.addresses["rebinding.test"] = ["127.0.0.1"]
        assert refused(await transport.send(asked(url)))
        resolver.addresses["rebinding.test"] = ["::1"]
        assert refused(await transport.send(asked(url)))
        resolver.addresses["rebinding.test"] = ["127.0.0.2"]
        again = await transport.send(asked(url))
        assert isinstance(again.result, Response)
        assert again.peer == "127.0.0.2"
        await transport.close()
        site.close()
        await site.wait_closed()
        assert canary.songs == []


async def test_a_name_that_leads_elsewhere_is_not_reached_over_an_old_connection() -> None:
    """The connection kept from an address that was permitted is judged again for a request that it is not for."""
    resolver = FakeResolver({"kept.test": ["127.0.0.1"]})
    async with WebServer(fallback=answer(b"ok")) as site:
        transport = CurlTransport(Settings(), LOOPBACK, "test/1", None, SystemClock(), resolver=resolver)
        url = Url(f"http://kept.test:{site.port}/")
        assert isinstance((await transport.send(asked(url))).result, Response)
        assert refused(await transport.send(asked(url, public_only=True)))
        assert len(site.exchanges) == 1
        await transport.close()


@pytest.mark.parametrize("host", ["localhost", "localhost.", "a.localhost.", "127.1", "[::ffff:a00:1]", "0"])
async def test_behind_a_proxy_what_is_written_out(host: str) -> None:
    async with WebServer(fallback=answer(b"proxied")) as proxy:
        settings = Settings(proxy=proxy.origin)
        resolver = FakeResolver({})
        transport = CurlTransport(settings, AddressGuard(), "test/1", None, SystemClock(), resolver=resolver)
        url = parse_url(f"http://{host}/")
        assert url is not None
        assert refused(await transport.send(asked(url)))
        await transport.close()
        assert proxy.connections == 0


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(answer(b"ok"))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has left
    finally:
        writer.close()
