"""The client: permissions and delays for programs that choose their URLs themselves."""

import asyncio
import gc
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Unpack

import pytest

from goodbot import Answer, Robot
from goodbot.api import RobotOptions
from goodbot.config import Settings
from goodbot.errors import InputError, RunError
from goodbot.robot.client.answer import redirect_of
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, Request, Response
from webserver import Exchange, WebServer, answer, closing, resetting, silence

CONTACT = "mailto:me@example.org"
PLAIN = (("Content-Type", "text/plain"),)


def robots(text: str) -> bytes:
    return answer(text.encode(), headers=PLAIN)


def moved(to: str, status: int = 302) -> bytes:
    return answer(b"", status, [("Location", to)])


def robot_of(**options: Unpack[RobotOptions]) -> Robot:
    options.setdefault("allow_private", True)
    return Robot("MyBot/1.0", **options)


async def nothing(url: Url) -> None:
    """Every URL may be asked."""


def client_of(web: FakeWeb, clock: FakeClock, settings: Settings | None = None, patience_s: float = 600.0) -> Client:
    return Client(
        settings or Settings(),
        "MyBot",
        connect=lambda: web,
        admit=nothing,
        store=MemoryRobots,
        clock=clock,
        patience_s=patience_s,
    )


HOME = "https://example.org/"
ROBOTS = "https://example.org/robots.txt"


# ---- what an answer says --------------------------------------------------------------------------------------------


async def test_an_answer_has_what_the_server_sent() -> None:
    page = b'<title>Clocks</title><h1>Old <b>clocks</b></h1><a href="/b" rel="nofollow">b</a>'
    async with WebServer({"/": answer(page)}) as server, robot_of(contact=CONTACT) as robot:
        got = await robot.get(server.url("/"))
        assert (got.ok, got.allowed, got.status, got.failure, got.trouble) == (True, True, 200, None, None)
        assert (got.asked, got.url, got.history) == (server.url("/"), server.url("/"), ())
        assert (got.body, got.content, got.text) == (page, page, page.decode())
        assert got.header("content-TYPE") == "text/html; charset=utf-8"
        assert (got.page.title, got.page.headings) == ("Clocks", ("Old clocks",))
        assert [(link.url.text, link.anchor, link.follow) for link in got.page.links] == [
            (server.url("/b"), "b", False)
        ]
        assert [found.text for found in got.select("h1 b")] == ["clocks"]
        assert got.raise_for_status() is got
        assert server.targets == ["/robots.txt", "/"]
        asked = server.exchanges[-1]
        assert asked.header("User-Agent") == "Mozilla/5.0 (compatible; MyBot/1.0; me@example.org)"
        assert asked.header("From") == "me@example.org"


async def test_a_forbidden_url_is_a_value_and_is_not_fetched() -> None:
    async with WebServer({"/robots.txt": robots("User-agent: mybot\nDisallow: /private")}) as server:
        async with robot_of() as robot:
            got = await robot.get(server.url("/private/x"))
            assert (got.allowed, got.verdict.allowed, got.status, got.ok) == (False, False, None, False)
            assert (got.verdict.rule, got.verdict.line) == ("Disallow: /private", 2)
            assert (got.body, got.text, got.headers, got.page.title, got.select("p")) == (b"", "", (), "", [])
            assert (await robot.may_fetch(server.url("/private/x"))) == got.verdict
            assert (await robot.may_fetch(server.url("/open"))).allowed
            assert (await robot.rules(server.url("/"))).result == "successful"
            with pytest.raises(RunError, match=r"disallowed by robots.txt: Disallow: /private \(line 2\)"):
                got.raise_for_status()
        assert server.targets == ["/robots.txt"]


@pytest.mark.parametrize(
    ("routes", "target", "status", "kind", "allowed"),
    [
        ({}, "/", 404, None, True),
        ({"/": answer(b"", 500)}, "/", 500, None, True),
        ({"/": resetting()}, "/", None, "reset", True),
        ({"/": closing(b"SSH-2.0-server\r\n\r\n")}, "/", None, "protocol", True),
        ({"/robots.txt": resetting()}, "/", None, "reset", False),
        ({"/robots.txt": answer(b"", 503)}, "/", None, None, False),
        ({"/": moved("/1"), "/1": moved("/")}, "/", None, "too-many-redirects", True),
        ({"/": moved("mailto:x@example.org")}, "/", 302, None, True),
        ({"/": moved("")}, "/", 302, None, True),
    ],
)
async def test_trouble_of_the_network_is_a_value(
    routes: dict[str, bytes], target: str, status: int | None, kind: str | None, allowed: bool
) -> None:
    async with WebServer(routes) as server, robot_of() as robot:
        got = await robot.get(server.url(target))
        assert (got.status, got.failure and got.failure.kind, got.allowed) == (status, kind, allowed)
        assert not got.ok
        assert got.trouble
        with pytest.raises(RunError):
            got.raise_for_status()


async def test_no_server_and_no_name_are_values() -> None:
    async with robot_of(contact=CONTACT) as robot:
        for url, kind in (("http://127.0.0.1:1/", "connect"), ("https://nobody.invalid/", "dns")):
            got = await robot.get(url)
            assert (got.failure and got.failure.kind, got.status, got.allowed) == (kind, None, False)
            again = await robot.get(url)
            assert again.failure == got.failure


async def test_an_answer_that_takes_too_long_is_a_failure() -> None:
    async with WebServer({"/": silence}) as server, robot_of() as robot:
        got = await robot.get(server.url("/"), timeout_s=0.05)
        assert got.failure
        assert (got.failure.kind, got.allowed) == ("timeout", True)


async def test_a_body_is_cut_at_the_limit() -> None:
    robot = robot_of(settings=Settings(body_limit=600_000))
    async with WebServer({"/": answer(b"x" * 700_000)}) as server, robot:
        got = await robot.get(server.url("/"))
        assert got.response
        assert (len(got.body), got.response.truncated) == (600_000, "length")
        assert (got.truncated, got.ok, got.trouble) == ("length", True, None)


BROKEN = "the body broke off after 3 bytes, before its end"


@pytest.mark.parametrize(
    ("head", "status", "trouble"),
    [
        (b"200 OK\r\nContent-Length: 100\r\n\r\nabc", 200, BROKEN),
        (b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 200, BROKEN),
        (b"404 Not Found\r\nContent-Length: 100\r\n\r\nabc", 404, f"status 404 Not Found; {BROKEN}"),
        (b"200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, None),
        (b"200 OK\r\n\r\nabc", 200, None),
    ],
)
async def test_a_body_that_breaks_off_is_not_taken_for_the_whole(head: bytes, status: int, trouble: str | None) -> None:
    async with WebServer({"/": closing(b"HTTP/1.1 " + head)}) as server, robot_of() as robot:
        got = await robot.get(server.url("/"))
        assert (got.status, got.body, got.trouble, got.ok) == (status, b"abc", trouble, trouble is None)
        assert got.truncated == ("disconnect" if trouble else None)


async def test_head_asks_for_the_fields_alone() -> None:
    async def head_only(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")

    async with WebServer({"/big": head_only, "/": answer(b"hi")}) as server, robot_of() as robot:
        for url, body in (("/", b"hi"), ("/big", b""), ("/", b"hi")):
            got = await (robot.get if body else robot.head)(server.url(url))
            assert (got.status, got.body) == (200, body)
            assert server.exchanges[-1].head.startswith(b"GET" if body else b"HEAD")


# ---- redirects ------------------------------------------------------------------------------------------------------


async def test_redirects_are_followed_each_with_a_verdict() -> None:
    routes = {
        "/robots.txt": robots("User-agent: *\nDisallow: /closed"),
        "/a": moved("/b", 301),
        "/b": moved("/c", 307),
        "/c": answer(b"there"),
        "/in": moved("/closed/x"),
    }
    async with WebServer(routes) as server, robot_of() as robot:
        got = await robot.get(server.url("/a"))
        assert (got.asked, got.url, got.text) == (server.url("/a"), server.url("/c"), "there")
        assert [(hop.url, hop.status) for hop in got.history] == [(server.url("/a"), 301), (server.url("/b"), 307)]
        assert got.verdict.url == server.url("/c")
        closed = await robot.get(server.url("/in"))
        assert (closed.url, closed.allowed, closed.status) == (server.url("/closed/x"), False, None)
        assert [hop.status for hop in closed.history] == [302]
        alone = await robot.get(server.url("/a"), redirects=0)
        assert (alone.status, alone.history, redirect_of(alone)) == (301, (), server.url("/b"))
        cut = await robot.get(server.url("/a"), redirects=1)
        assert cut.failure
        assert (cut.failure.kind, len(cut.history)) == ("too-many-redirects", 2)


async def test_secrets_stay_with_their_origin_and_validators_with_their_url() -> None:
    async with WebServer({"/": answer(b"hi")}) as other:
        routes = {"/out": moved(other.url("/")), "/in": moved("/x"), "/x": answer(b"x")}
        async with WebServer(routes) as server, robot_of() as robot:
            fields = {
                "Authorization": "Bearer s3cret",
                "Cookie": "a=b",
                "If-None-Match": '"1"',
                "Accept-Language": "de",
            }
            await robot.get(server.url("/out"), headers=fields)
            names = (*fields, "User-Agent")
            assert [server.exchanges[-1].header(name) is not None for name in names] == [True] * 5
            assert [other.exchanges[-1].header(name) is not None for name in names] == [False, False, False, True, True]
            await robot.get(server.url("/in"), headers=list(fields.items()))
            assert [server.exchanges[-1].header(name) is not None for name in names] == [True, True, False, True, True]


async def test_a_redirect_from_public_to_private_is_refused() -> None:
    clock = FakeClock()
    inside = "http://127.0.0.1:8000/admin"
    hop = Response(302, (("location", inside),), b"")
    asked: list[Request] = []

    def refuse(request: Request) -> Response | Failure:
        asked.append(request)
        return Failure("private-address", "a public host led there") if request.public_only else Response(200, (), b"x")

    answers: dict[str, Response | Callable[[Request], Response | Failure]] = {
        HOME: hop,
        inside: refuse,
        "http://127.0.0.1:8000/robots.txt": refuse,
    }
    client = client_of(FakeWeb(answers, clock, peer="93.184.216.34"), clock)
    got = await client.get(HOME)
    assert got.failure
    assert (got.failure.kind, got.status, got.url) == ("private-address", None, inside)
    assert asked
    assert all(request.public_only for request in asked)
    named = await client.get(inside)  # what was learnt of it as a public host's target is not held against it
    assert named.status == 200


# ---- who asks, and whom ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ({"User-Agent": "Mozilla"}, "User-Agent"),
        ({"from": "you@example.org"}, "from"),
        ([("Host", "other.example")], "Host"),
        ({"Signature-Agent": "x"}, "Signature-Agent"),
        ({"X": "a\r\nUser-Agent: b"}, "cannot be sent"),
        ({"X\n": "a"}, "cannot be sent"),
        ({"": "a"}, "cannot be sent"),
        ({"X": "тест"}, "Latin-1"),
        ({"a b": "x"}, "'a b' cannot be sent"),
        ({"X(": "1"}, "cannot be sent"),
        ({"X:y": "z"}, "cannot be sent"),
        ({"Ü": "x"}, "cannot be sent"),
        ({"X": 1}, "name and value have to be text"),
        ([(None, "x")], "name and value have to be text"),
    ],
)
async def test_headers_that_misidentify_the_robot_are_an_error(headers: object, wrong: str) -> None:
    async with robot_of() as robot:
        with pytest.raises(InputError, match=wrong):
            await robot.get("http://127.0.0.1:1/", headers=headers)  # type: ignore[arg-type]


async def test_other_headers_are_sent() -> None:
    async with WebServer({"/": answer(b"", 304)}) as server, robot_of() as robot:
        fields = {"If-None-Match": '"1"', "Accept": "text/html", "X!#$%&'*+-.^_`|~9": "a\tb"}
        got = await robot.get(server.url("/"), headers=fields)
        assert (got.status, got.ok) == (304, False)
        assert server.exchanges[-1].header("If-None-Match") == '"1"'
        assert server.exchanges[-1].header("Accept") == "text/html"
        assert server.exchanges[-1].header("X!#$%&'*+-.^_`|~9") == "a\tb"


@pytest.mark.parametrize(
    "url", ["", "example.org", "mailto:me@example.org", "ftp://example.org/", "https://", None, b"https://example.org/"]
)
async def test_what_is_no_url_is_an_error(url: object) -> None:
    async with robot_of() as robot:
        for ask in (robot.get, robot.head, robot.may_fetch, robot.rules):
            with pytest.raises(InputError, match="not an http or https URL"):
                await ask(url)  # type: ignore[arg-type]


@pytest.mark.parametrize("private", [False, True])
async def test_a_public_host_needs_a_contact(private: bool) -> None:
    async with Robot("MyBot/1.0", allow_private=private) as robot:
        with pytest.raises(InputError, match="say who you are with contact "):
            await robot.get("https://93.184.216.34/")


@pytest.mark.parametrize(
    ("agent", "options", "wrong"),
    [
        ("My Bot!", {}, "agent must be a product token"),
        ("MyBot", {"contact": "me"}, "contact must be a mail address"),
        ("MyBot", {"delay": -1}, "delay must be at least 0"),
        ("MyBot", {"delay": "1"}, "delay must be a number"),
    ],
)
def test_a_robot_that_cannot_be_is_an_error(agent: str, options: dict[str, object], wrong: str) -> None:
    with pytest.raises(InputError, match=f"^{wrong}"):
        Robot(agent, **options)  # type: ignore[arg-type]


async def test_a_private_address_is_refused_unless_it_is_allowed() -> None:
    async with WebServer({"/": answer(b"hi")}) as server:
        async with Robot("MyBot") as robot:
            got = await robot.get(server.url("/"))
            assert got.failure
            assert (got.failure.kind, got.status) == ("private-address", None)
        assert server.targets == []
        named = server.url("/").replace("127.0.0.1", "localhost")
        async with robot_of() as robot:
            assert (await robot.get(named)).status == 200


async def test_a_name_may_be_served_from_here() -> None:
    async with WebServer({"/": answer(b"hi")}) as server:
        pin = "example.org:80:127.0.0.1"
        here = f"example.org:{server.port}:127.0.0.1"
        async with robot_of(resolve=[pin, here]) as robot:
            got = await robot.get(f"http://example.org:{server.port}/")
            assert (got.status, got.text) == (200, "hi")


# ---- when -----------------------------------------------------------------------------------------------------------


async def test_a_hundred_tasks_keep_the_delay_a_server_asks_for() -> None:
    clock = FakeClock()
    asked: list[float] = []

    async def page(exchange: Exchange) -> None:
        asked.append(clock.now())
        await exchange.send(answer(b"hi"))

    routes = {"/robots.txt": robots("User-agent: *\nCrawl-delay: 10")}
    async with WebServer(routes, fallback=page) as server:
        async with robot_of(clock=clock, patience_s=60.0) as robot:
            got = await asyncio.gather(*(robot.get(server.url(f"/{number}")) for number in range(100)))
        assert [result.status for result in got] == [200] * 100
        assert server.most_busy == 1
        assert server.targets[0] == "/robots.txt"
        assert len(server.targets) == 101
    gaps = [after - before for before, after in pairwise(asked)]
    assert all(gap >= 10.0 for gap in gaps)
    assert max(gaps) < 20.0


@pytest.mark.parametrize(
    ("status", "fields", "least"), [(429, (), 5.0), (503, (("Retry-After", "120"),), 120.0), (200, (), 1.0)]
)
async def test_a_host_in_trouble_is_left_alone(status: int, fields: tuple[tuple[str, str], ...], least: float) -> None:
    clock = FakeClock()
    web = FakeWeb({HOME: Response(status, fields, b"")}, clock)
    client = client_of(web, clock)
    await asyncio.gather(client.get(HOME), client.get(HOME))
    assert web.times[2] - web.times[1] >= least
    assert web.times[1] - web.times[0] >= 1.0  # robots.txt is a request too


async def test_a_host_with_too_long_a_delay_is_not_waited_for() -> None:
    clock = FakeClock()
    web = FakeWeb({HOME: Response(503, (("Retry-After", "7200"),), b"")}, clock)
    client = client_of(web, clock)
    first, second = await client.get(HOME), await client.get(HOME)
    assert (first.status, second.status, second.allowed) == (503, None, True)
    assert second.held_until == pytest.approx(first.fetched_at + 7200)
    assert second.trouble
    assert "may not be requested before" in second.trouble
    assert len(web.requests) == 2
    clock.advance(7300)
    assert (await client.get(HOME)).status == 503


async def test_a_verdict_that_became_stale_in_the_queue_is_renewed() -> None:
    clock = FakeClock()
    said = [b"User-agent: *\nAllow: /\nCrawl-delay: 3600", b"User-agent: *\nDisallow: /"]

    def text(request: Request) -> Response:
        return Response(200, (("content-type", "text/plain"),), said.pop(0) if len(said) > 1 else said[0])

    web = FakeWeb({ROBOTS: text, HOME: Response(200, (), b"")}, clock)
    client = client_of(web, clock, patience_s=1e6)
    got = await asyncio.gather(*(client.get(HOME) for _ in range(30)))
    assert 20 < sum(result.ok for result in got) < 25
    assert not got[-1].allowed


async def test_robots_txt_is_fetched_once_for_all_tasks() -> None:
    async with WebServer({"/": answer(b"hi")}) as server, robot_of() as robot:
        await asyncio.gather(*(robot.get(server.url("/")) for _ in range(20)))
        assert server.targets.count("/robots.txt") == 1


# ---- beginning and ending -------------------------------------------------------------------------------------------


async def test_nothing_is_left_when_a_robot_is_closed() -> None:
    before = asyncio.all_tasks()
    async with WebServer({"/": answer(b"hi"), "/wait": silence}) as server:
        robot = robot_of()
        await robot.get(server.url("/"))
        waiting = asyncio.create_task(robot.get(server.url("/wait")))
        await server.received(3)
        await robot.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await server.deserted()
        for ask in (robot.get, robot.head, robot.may_fetch, robot.rules):
            with pytest.raises(InputError, match="this robot is closed"):
                await ask(server.url("/"))
        await robot.close()
    assert asyncio.all_tasks() == before


def test_a_robot_works_in_one_event_loop_after_another_without_being_closed() -> None:
    robot = robot_of()

    async def ask() -> Answer:
        async with WebServer({"/": answer(b"hi")}) as server:
            return await robot.get(server.url("/"))

    assert [asyncio.run(ask()).ok for _ in range(3)] == [True] * 3


async def test_a_call_that_waits_when_the_robot_is_closed_raises() -> None:
    async with WebServer({"/": answer(b"hi")}) as server:
        robot = robot_of(clock=FakeClock(), delay=0.2)
        await robot.get(server.url("/"))
        waiting = asyncio.create_task(robot.get(server.url("/")))
        await asyncio.sleep(0)
        await robot.close()
        with pytest.raises(RunError, match="closed"):
            await waiting


async def test_the_fetch_of_an_unneeded_robots_txt_ends_with_the_robot() -> None:
    before = asyncio.all_tasks()
    async with WebServer({"/robots.txt": silence}) as server:
        robot = robot_of()
        waiting = asyncio.create_task(robot.get(server.url("/")))
        await server.received(1)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await robot.close()
        await server.deserted()
    assert asyncio.all_tasks() == before


async def test_a_robot_of_another_running_loop_says_so() -> None:
    async with WebServer({"/": answer(b"hi")}) as server, robot_of() as robot:
        await robot.get(server.url("/"))
        with pytest.raises(InputError, match=r"use Robot\.blocking"):
            await asyncio.to_thread(asyncio.run, robot.get(server.url("/")))


def threads_of_robots() -> set[threading.Thread]:
    """Those that run now; robots of other tests may still be winding up."""
    return {thread for thread in threading.enumerate() if thread.name == "goodbot"}


async def test_a_blocking_robot_answers_several_threads() -> None:
    async with WebServer({"/robots.txt": robots("User-agent: *\nDisallow: /x"), "/": answer(b"<title>Hi")}) as server:

        def work() -> list[str]:
            before = threads_of_robots()
            with Robot.blocking("MyBot/1.0", allow_private=True) as robot:
                titles: list[str] = []
                threads = [
                    threading.Thread(target=lambda: titles.append(robot.get(server.url("/")).page.title))
                    for _ in range(8)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert not robot.may_fetch(server.url("/x")).allowed
                assert robot.rules(server.url("/x")).result == "successful"
                assert robot.head(server.url("/")).body == b""
                with pytest.raises(InputError):
                    robot.get("nothing")
            assert threads_of_robots() <= before
            robot.close()
            with pytest.raises(InputError, match="closed"):
                robot.get(server.url("/"))
            return titles

        assert await asyncio.to_thread(work) == ["Hi"] * 8
        await server.deserted()


async def test_a_robot_lent_to_threads_is_not_closed_with_them() -> None:
    async with WebServer({"/": answer(b"hi")}) as server, robot_of() as robot:
        for _ in range(2):
            with BlockingClient(robot) as lent:
                assert (await asyncio.to_thread(lent.get, server.url("/"))).ok
        assert (await robot.get(server.url("/"))).ok


async def test_closing_a_blocking_robot_ends_what_waits() -> None:
    async with WebServer({"/": silence}) as server:
        robot = Robot.blocking("MyBot/1.0", allow_private=True)
        waiting = asyncio.create_task(asyncio.to_thread(robot.get, server.url("/")))
        await server.received(2)
        await asyncio.to_thread(robot.close)
        with pytest.raises(RunError, match="closed"):
            await waiting


async def test_a_blocking_robot_that_is_forgotten_ends_its_thread() -> None:
    async with WebServer({"/": answer(b"hi")}) as server:
        before = threads_of_robots()
        robot = Robot.blocking("MyBot/1.0", allow_private=True)
        await asyncio.to_thread(robot.get, server.url("/"))
        (thread,) = threads_of_robots() - before
        del robot
        gc.collect()
        await asyncio.to_thread(thread.join)
        await server.deserted()
