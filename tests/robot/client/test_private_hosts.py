"""`Robot(private_hosts=…)`: only these hosts are requested at private addresses, whatever leads to others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot import Robot
from goodbot.api import RobotOptions
from goodbot.errors import InputError
from goodbot.robot.client.private_hosts import PrivateHosts
from goodbot.url import Url, parse_url
from webserver import WebServer, answer


def url_of(text: str) -> Url:
    url = parse_url(text)
    assert url is not None
    return url


@pytest.mark.parametrize(
    ("entry", "inside", "outside"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/x", "http://127.0.0.1:8001/x"),
        ("127.0.0.1:8000", "http://2130706433:8000/", "http://127.0.0.2:8000/"),
        ("127.0.0.1", "http://127.0.0.1:9/", "http://localhost:9/"),
        ("[::1]:80", "http://[::1]/", "https://[::1]/"),
        ("[::1]", "https://[0:0::1]:77/", "http://[::2]/"),
        ("Wiki.Example.", "https://wiki.example/", "https://example/"),
        ("wiki.example:443", "https://WIKI.example./", "http://wiki.example/"),
    ],
)
def test_an_entry_is_a_host_or_a_host_with_a_port(entry: str, inside: str, outside: str) -> None:
    hosts = PrivateHosts([entry])
    assert (url_of(inside) in hosts, url_of(outside) in hosts) == (True, False)


@pytest.mark.parametrize("entry", ["", "http://a/", "a/b", "a:", "a:x", "a:99999", "u@a", "a b", "::1", "a?b", "a#"])
def test_other_text_is_bad_input(entry: str) -> None:
    with pytest.raises(InputError, match="not a host such as"):
        PrivateHosts([entry])


@given(st.text(max_size=30))
def test_any_text_is_an_entry_or_bad_input(entry: str) -> None:
    try:
        hosts = PrivateHosts([entry])
    except InputError:
        return
    assert url_of("http://never.example/") not in hosts or "never" in entry.lower()


async def test_only_these_hosts_are_requested_at_private_addresses() -> None:
    async with WebServer({"/": answer(b"inside")}) as wiki, WebServer({"/": answer(b"secret")}) as other:
        for target in (other.url("/"), other.url("/").replace("127.0.0.1", "localhost")):
            wiki.routes["/away"] = answer(b"", 302, [("Location", target)])
            async with Robot("MyBot/1.0", private_hosts=[f"127.0.0.1:{wiki.port}"]) as robot:
                assert (await robot.get(wiki.url("/"))).body == b"inside"
                for url in (target, wiki.url("/away"), other.url("/robots.txt")):
                    got = await robot.get(url)
                    assert (got.failure and got.failure.kind, got.body) == ("private-address", b"")
        assert other.exchanges == []


async def test_a_name_that_leads_to_a_private_address_is_refused() -> None:
    async with WebServer() as server:
        server.routes["/"] = answer(b"", 302, [("Location", f"http://evil.example:{server.port}/secret")])
        pins = [f"{name}:{server.port}:127.0.0.1" for name in ("wiki.example", "evil.example")]
        async with Robot("MyBot/1.0", private_hosts=["wiki.example"], resolve=pins) as robot:
            got = await robot.get(f"http://wiki.example:{server.port}/")
            assert (got.failure and got.failure.kind, [hop.status for hop in got.history]) == ("private-address", [302])
            with pytest.raises(InputError, match="is on a private address"):
                await robot.get(f"http://evil.example:{server.port}/secret")
        assert [(each.header("Host") or "").split(":")[0] for each in server.exchanges] == ["wiki.example"] * 2


async def test_with_no_private_host_all_are_refused_and_public_ones_need_a_contact() -> None:
    async with Robot("MyBot/1.0", private_hosts=(), allow_private=True) as robot:
        got = await robot.get("http://127.0.0.1:9/")
        assert got.failure is not None
        assert got.failure.kind == "private-address"
        with pytest.raises(InputError, match="contact"):
            await robot.get("http://example.org/")


@pytest.mark.parametrize("private_hosts", [["wiki.example"], None])
@pytest.mark.parametrize("target", ["http://8.8.4.4:9/page", "http://www.example:9/page"])
async def test_without_a_contact_no_private_host_leads_to_a_public_one(
    target: str, private_hosts: list[str] | None
) -> None:
    async with WebServer() as server:
        server.routes["/"] = answer(b"", 302, [("Location", target)])
        pins = [f"wiki.example:{server.port}:127.0.0.1", "www.example:9:8.8.4.4"]
        given: RobotOptions = {"resolve": pins, "allow_private": True}
        if private_hosts is not None:
            given = {"resolve": pins, "private_hosts": private_hosts}
        async with Robot("MyBot/1.0", **given) as robot:
            got = await robot.get(f"http://wiki.example:{server.port}/")
            read = await robot.read(f"http://wiki.example:{server.port}/")
        assert got.failure is not None
        assert (got.failure.kind, got.status, got.url) == ("no-contact", None, target)
        assert f"{Url(target).host} is public, and no contact is set" in (read.trouble or "")
        assert server.targets == ["/robots.txt", "/", "/"]


async def test_without_a_contact_robots_txt_does_not_lead_to_a_public_host_either() -> None:
    async with WebServer({"/": answer(b"hi")}) as server:
        server.routes["/robots.txt"] = answer(b"", 302, [("Location", "http://8.8.4.4:9/robots.txt")])
        async with Robot("MyBot/1.0", allow_private=True) as robot:
            got = await robot.get(server.url("/"))
        assert got.trouble is not None
        assert "8.8.4.4 is public, and no contact is set" in got.trouble
        assert server.targets == ["/robots.txt"]


async def test_the_expected_time_counts_the_requests_that_wait() -> None:
    text = answer(b"User-agent: *\nCrawl-delay: 50", headers=[("Content-Type", "text/plain")])
    async with WebServer({"/robots.txt": text}) as server, Robot("MyBot/1.0", allow_private=True) as robot:
        at = robot.expected_at(server.url("/"))
        assert (await robot.rules(server.url("/"))).result == "successful"
        assert 49 < robot.expected_at(server.url("/")) - at < 600
