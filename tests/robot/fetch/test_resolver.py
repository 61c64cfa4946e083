"""Tests `NameResolver` against a DNS server on loopback: its answers, how long it keeps them, hostile servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.fetch import nameservers
from goodbot.robot.fetch.nameservers import NO_NAME_KEPT_S
from goodbot.robot.fetch.pinned_addresses import MAX_FAMILY, parse_hosts
from goodbot.robot.fetch.resolver import MAX_KEPT_S, MIN_KEPT_S, NameResolver
from goodbot.testing import FakeClock
from goodbot.values import Failure
from nameserver import SILENCE, NameServer

NOWHERE = Path("/nonexistent")


@asynccontextmanager
async def resolving(
    server: NameServer,
    clock: FakeClock | None = None,
    hosts: Path = NOWHERE,
    connect_timeout_s: float = 60.0,
    grace_s: float = 60.0,
) -> AsyncIterator[NameResolver]:
    """Each question is asked once, and both families are waited for, however slow this machine is."""
    settings = Settings(nameservers=(server.address,), connect_timeout=connect_timeout_s)
    resolver = NameResolver(settings, clock or FakeClock(), hosts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nameservers, "RETRY_S", 60.0)
        patch.setattr(nameservers, "OTHER_FAMILY_WAIT_S", grace_s)
        try:
            yield resolver
        finally:
            await resolver.close()


FOUND: list[tuple[str, str, list[str], tuple[str, ...]]] = [
    ("one", "a.test", ["192.0.2.1"], ("192.0.2.1",)),
    ("both families, IPv4 first", "a.test", ["2001:db8::1", "192.0.2.1"], ("192.0.2.1", "2001:db8::1")),
    ("IPv6 alone", "a.test", ["2001:db8::1"], ("2001:db8::1",)),
    ("root dot", "a.test.", ["192.0.2.1"], ("192.0.2.1",)),
    ("an alias", "a.test", ["CNAME b.test"], ("192.0.2.7",)),
    ("mapped", "a.test", ["::ffff:127.0.0.1"], ("::ffff:7f00:1",)),
]


@pytest.mark.parametrize(("name", "records", "addresses"), [case[1:] for case in FOUND], ids=[c[0] for c in FOUND])
async def test_found(name: str, records: list[str], addresses: tuple[str, ...]) -> None:
    async with NameServer({"a.test": records, "b.test": ["192.0.2.7"]}) as server, resolving(server) as resolver:
        assert await resolver.resolve(name) == addresses


async def test_of_a_thousand_addresses_a_few_are_taken() -> None:
    many = [f"192.0.{n // 250}.{n % 250 + 1}" for n in range(1000)]
    async with NameServer({"a.test": many}) as server, resolving(server) as resolver:
        found = await resolver.resolve("a.test")
        assert not isinstance(found, Failure)
        assert len(found) == MAX_FAMILY
        assert set(found) <= set(many)
        assert server.asked.count(("a.test", "A")) == 2  # over UDP, and whole over TCP


NOT_FOUND: list[tuple[str, str, dict[str, object], str]] = [
    ("no such name", "b.test", {"a.test": ["192.0.2.1"]}, "no such name"),
    ("no address", "a.test", {"a.test": []}, "no address record"),
    ("a loop of aliases", "a.test", {"a.test": ["CNAME b.test"], "b.test": ["CNAME a.test"]}, ""),
    ("an alias of itself", "a.test", {"a.test": ["CNAME a.test"]}, ""),
    ("thirty aliases", "n0.test", {f"n{n}.test": [f"CNAME n{n + 1}.test"] for n in range(30)}, ""),
    ("an alias of nothing", "a.test", {"a.test": ["CNAME b.test"]}, ""),
    ("noise", "a.test", {"a.test": lambda asked: b"\xff" * 300}, "in time"),
    ("the question back", "a.test", {"a.test": lambda asked: asked}, ""),
    ("cut off", "a.test", {"a.test": lambda asked: asked[:2] + b"\x81\x80\0\1\0\xff\0\0\0\0" + asked[12:]}, ""),
    ("silence", "a.test", {"a.test": SILENCE}, "in time"),
    ("label too long", "x" * 64 + ".test", {}, ""),
    ("name too long", "x." * 130 + "test", {}, ""),
    ("empty label", "a..test", {}, ""),
    ("underscores", "_a._b.test", {}, "no such name"),
    ("RFC 6761", "a.invalid", {"a.invalid": ["192.0.2.1"]}, "names under .invalid never resolve"),
    ("RFC 7686", "a.onion", {"a.onion": ["192.0.2.1"]}, "names under .onion never resolve"),
]


@pytest.mark.parametrize(("name", "records", "why"), [case[1:] for case in NOT_FOUND], ids=[c[0] for c in NOT_FOUND])
async def test_not_found(name: str, records: dict[str, list[str]], why: str) -> None:
    connect_timeout_s = 60.0 if why in ("no such name", "no address record") else 0.5
    async with NameServer(records) as server, resolving(server, connect_timeout_s=connect_timeout_s) as resolver:
        answer = await resolver.resolve(name)
        assert isinstance(answer, Failure)
        assert answer.kind == "dns"
        assert name in answer.detail
        assert why in answer.detail
        assert answer.detail.isprintable()
        assert answer.lasting == answer.detail.endswith(("no such name", "no address record", "never resolve"))


@pytest.mark.parametrize(("ttl", "lasts_s"), [(0, MIN_KEPT_S), (5, MIN_KEPT_S), (300, 300.0), (10**6, MAX_KEPT_S)])
async def test_an_answer_serves_as_long_as_its_ttl_within_bounds(ttl: int, lasts_s: float) -> None:
    clock = FakeClock()
    async with NameServer({"a.test": ["192.0.2.1"]}, ttl) as server, resolving(server, clock) as resolver:
        await resolver.resolve("a.test")
        server.records["a.test"] = ["192.0.2.2"]
        clock.advance(lasts_s - 1)
        assert await resolver.resolve("a.test") == ("192.0.2.1",)
        clock.advance(2)
        assert await resolver.resolve("a.test") == ("192.0.2.2",)


async def test_that_there_is_no_such_name_is_remembered() -> None:
    clock = FakeClock()
    async with NameServer({}) as server, resolving(server, clock) as resolver:
        for _ in range(2):
            assert isinstance(await resolver.resolve("none.test"), Failure)
            assert sorted(server.asked) == [("none.test", "A"), ("none.test", "AAAA")]
        clock.advance(NO_NAME_KEPT_S + 1)
        server.records["none.test"] = ["192.0.2.1"]
        assert await resolver.resolve("none.test") == ("192.0.2.1",)


async def test_silence_is_not_remembered() -> None:
    async with NameServer({"mute.test": SILENCE}) as server, resolving(server, connect_timeout_s=0.5) as resolver:
        assert isinstance(await resolver.resolve("mute.test"), Failure)
        server.records["mute.test"] = ["192.0.2.1"]
        async with asyncio.timeout(60):
            while isinstance(found := await resolver.resolve("mute.test"), Failure):
                pass  # not within half a second, on a busy machine
        assert found == ("192.0.2.1",)


async def test_many_who_ask_at_once_are_one_question() -> None:
    async with NameServer({"a.test": ["192.0.2.1"]}) as server, resolving(server) as resolver:
        answers = await asyncio.gather(*(resolver.resolve("a.test") for _ in range(20)))
        assert set(answers) == {("192.0.2.1",)}
        assert sorted(server.asked) == [("a.test", "A"), ("a.test", "AAAA")]


async def test_one_who_gives_up_does_not_stop_the_others() -> None:
    async with NameServer({"a.test": ["192.0.2.1"]}) as server, resolving(server) as resolver:
        first = asyncio.ensure_future(resolver.resolve("a.test"))
        second = asyncio.ensure_future(resolver.resolve("a.test"))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == ("192.0.2.1",)
        assert first.cancelled()


async def test_closing_cancels_who_waits() -> None:
    async with NameServer({"a.test": SILENCE}) as server, resolving(server) as resolver:
        waiting = asyncio.ensure_future(resolver.resolve("a.test"))
        while not server.asked:  # noqa: ASYNC110 - the server of the tests
            await asyncio.sleep(0.01)
        await resolver.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_server_that_never_tells_of_ipv6_holds_up_nobody() -> None:
    class Lame(NameServer):
        def answer(self, asked: bytes, most: int) -> bytes:
            wire = super().answer(asked, most)
            return b"" if self.asked[-1][1] == "AAAA" else wire

    async with Lame({"a.test": ["192.0.2.1"]}) as server, resolving(server, grace_s=0.05) as resolver:
        assert await resolver.resolve("a.test") == ("192.0.2.1",)


async def test_localhost_is_loopback_and_nobody_is_asked(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.1 localhost a.localhost\n")
    async with NameServer({}) as server, resolving(server, hosts=hosts) as resolver:
        for name in ("localhost", "localhost.", "a.localhost", "LOCALHOST"):
            assert await resolver.resolve(name) == ("127.0.0.1", "::1")
        assert server.asked == []


async def test_the_hosts_file_comes_before_dns(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.1 a.test single # b.test\n2001:db8::1 A.test\nfe80::1%lo0 a.test\n")
    async with NameServer({"b.test": ["192.0.2.9"]}) as server, resolving(server, hosts=hosts) as resolver:
        assert await resolver.resolve("a.test") == ("192.0.2.1", "2001:db8::1")
        assert await resolver.resolve("single") == ("192.0.2.1",)
        assert await resolver.resolve("b.test") == ("192.0.2.9",)


async def test_a_name_without_a_dot_is_the_systems() -> None:
    name = "no-such-machine-here"
    async with NameServer({name: ["192.0.2.1"]}) as server, resolving(server) as resolver:
        assert await resolver.resolve(name) != ("192.0.2.1",)
        assert server.asked == []


async def test_nobody_listens() -> None:
    resolver = NameResolver(Settings(nameservers=("127.0.0.1:9",), connect_timeout=0.3), FakeClock(), NOWHERE)
    answer = await resolver.resolve("a.test")
    assert isinstance(answer, Failure)
    assert answer.kind == "dns"


@pytest.mark.parametrize("text", ["", "ns.test", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "::1:53:x", "[::1"])
def test_what_is_no_name_server(text: str) -> None:
    with pytest.raises(InputError, match="a name server is given as"):
        NameResolver(Settings(nameservers=(text,)), FakeClock())


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.1:5353", "::1", "[::1]", "[::1]:5353"])
def test_what_is_a_name_server(text: str) -> None:
    NameResolver(Settings(nameservers=(text,)), FakeClock())


@given(st.binary(max_size=200))
def test_parse_hosts_never_raises(data: bytes) -> None:
    for name, addresses in parse_hosts(data).items():
        assert name == name.lower()
        assert addresses
