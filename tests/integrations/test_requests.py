"""A robot under a Requests session, against a real server."""

import asyncio
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
import requests

from goodbot import Robot
from goodbot.api import RobotOptions
from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.integrations.http_clients import MAX_TARGETS, Redirects
from goodbot.integrations.requests import CallError, Forbidden, RobotAdapter, Unsupported, WaitTooLong
from goodbot.robot.client.answer import Answer
from goodbot.values import Failure, Response
from webserver import Exchange, WebServer, answer, closing, silence

_T = TypeVar("_T")
ANSWERS_304 = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
ROBOTS = answer(b"User-agent: *\nDisallow: /private", headers=[("Content-Type", "text/plain")])


async def in_session(work: Callable[[requests.Session], _T], **options: object) -> _T:
    """What `work` gives, done in a thread with a session over a robot."""
    given: RobotOptions = {"allow_private": True, "contact": "mailto:me@example.org", **options}  # type: ignore[typeddict-item]

    def run() -> _T:
        with Robot.blocking("MyBot/1.0", **given) as robot, requests.Session() as session:
            session.mount("http://", RobotAdapter(robot))
            session.mount("https://", RobotAdapter(robot))
            return work(session)

    return await asyncio.to_thread(run)


def moved(to: str, *fields: tuple[str, str]) -> bytes:
    return answer(b"", 302, [("Location", to), *fields])


async def test_an_answer_is_that_of_requests() -> None:
    page = "<p>Grüße".encode()
    fields = [("Content-Type", "text/html; charset=utf-8"), ("X-Twice", "a"), ("X-Twice", "b")]
    async with WebServer({"/robots.txt": ROBOTS, "/": answer(page, headers=fields)}) as server:
        got = await in_session(lambda session: session.get(server.url("/"), params={}))
        assert (got.status_code, got.reason, got.text, got.content, got.ok) == (200, "OK", "<p>Grüße", page, True)
        assert (got.url, got.encoding, got.headers["x-twice"]) == (server.url("/"), "utf-8", "a, b")
        assert got.elapsed.total_seconds() > 0
        asked = server.exchanges[-1]
        assert server.targets == ["/robots.txt", "/"]
        assert asked.header("User-Agent") == "Mozilla/5.0 (compatible; MyBot/1.0; me@example.org)"
        assert asked.header("Accept-Encoding") == "gzip, deflate, br, zstd"


async def test_the_url_keeps_its_fragment_and_an_answer_without_a_body_its_fields() -> None:
    async with WebServer({"/to": moved("/page#part"), "/page": answer(b"page"), "/same": ANSWERS_304}) as server:

        def work(session: requests.Session) -> list[requests.Response]:
            return [session.get(server.url(target)) for target in ("/page#here", "/to", "/same")]

        got = await in_session(work)
        assert [each.url for each in got[:2]] == [server.url("/page#here"), server.url("/page#part")]
        assert (got[2].status_code, got[2].headers.get("Content-Length")) == (304, None)


async def test_a_disallowed_url_raises_an_exception_of_requests_with_the_verdict() -> None:
    async with WebServer({"/robots.txt": ROBOTS, "/to": moved("/private/x")}) as server:
        for target in ("/private", "/to"):
            with pytest.raises(requests.RequestException) as raised:
                await in_session(partial(requests.Session.get, url=server.url(target)))
            assert isinstance(raised.value, Forbidden)
            assert isinstance(raised.value.verdict, Verdict)
            assert raised.value.verdict.rule == "Disallow: /private"
            assert raised.value.request is not None
        assert not [target for target in server.targets if target.startswith("/private")]


async def test_redirects_and_cookies_are_the_sessions() -> None:
    routes = {"/in": moved("/home", ("Set-Cookie", "who=me; Path=/")), "/home": answer(b"home")}
    async with WebServer(routes) as server:

        def work(session: requests.Session) -> requests.Response:
            got = session.get(server.url("/in"))
            assert session.cookies.get_dict() == {"who": "me"}
            assert session.get(server.url("/in"), allow_redirects=False).status_code == 302
            return got

        got = await in_session(work)
        assert (got.text, got.url, [hop.status_code for hop in got.history]) == ("home", server.url("/home"), [302])
        assert [exchange.header("Cookie") for exchange in server.exchanges] == [None, None, "who=me", "who=me"]


async def test_head_and_coded_and_streamed_bodies() -> None:
    body = b"hello " * 1000
    coded = zlib.compress(body, wbits=31)
    fields = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")]

    async def page(exchange: Exchange) -> None:
        whole = answer(coded, headers=fields)
        await exchange.send(whole.removesuffix(coded) if exchange.head.startswith(b"HEAD") else whole)

    async with WebServer({"/": page}) as server:

        def work(session: requests.Session) -> None:
            assert session.get(server.url("/")).content == body
            with session.get(server.url("/"), stream=True) as got:
                assert b"".join(got.iter_content(100)) == body
            head = session.head(server.url("/"))
            assert (head.content, head.headers["Content-Length"]) == (b"", str(len(coded)))

        await in_session(work)


@pytest.mark.parametrize(
    ("method", "options"),
    [("POST", {}), ("PUT", {"data": "x"}), ("DELETE", {}), ("GET", {"data": "x"}), ("GET", {"cert": "/none"})],
)
async def test_a_robot_sends_nothing(method: str, options: dict[str, str]) -> None:
    async with WebServer() as server:
        with pytest.raises(requests.RequestException) as raised:
            await in_session(lambda session: session.request(method, server.url("/"), **options))  # type: ignore[arg-type]
        assert isinstance(raised.value, Unsupported)
        assert server.targets == []


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        (silence, requests.Timeout),
        (closing(b""), requests.ConnectionError),
        (closing(b"SSH-2.0\r\n\r\n"), requests.ConnectionError),
    ],
)
@pytest.mark.parametrize("bound", [0.05, (0.02, 0.03)])
async def test_failures_are_those_of_requests(route: object, kind: type[Exception], bound: float) -> None:
    async with WebServer({"/": route}) as server:  # type: ignore[dict-item]
        with pytest.raises(kind):
            await in_session(lambda session: session.get(server.url("/"), timeout=bound if route is silence else None))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_body_that_breaks_off_is_an_exception_of_requests(stream: bool) -> None:
    cut = b"Content-Length: 100\r\n\r\nabc"
    to = closing(b"HTTP/1.1 302 Found\r\nLocation: /whole\r\n" + cut)
    whole = answer(b"hi")
    async with WebServer({"/": closing(b"HTTP/1.1 200 OK\r\n" + cut), "/to": to, "/whole": whole}) as server:
        with pytest.raises(requests.exceptions.ChunkedEncodingError, match="broke off after 3 bytes"):
            await in_session(lambda session: session.get(server.url("/"), stream=stream))
        assert await in_session(lambda session: session.get(server.url("/to"), stream=stream).text) == "hi"


async def test_a_wrong_call_raises_an_exception_of_both_libraries() -> None:
    def no_contact(session: requests.Session) -> object:
        return session.get("https://93.184.216.34/")

    def no_token(session: requests.Session) -> object:
        return session.get("http://127.0.0.1:1/", headers={"a b": "x"})

    for work, options, wrong in ((no_contact, {"contact": None}, "say who you are"), (no_token, {}, "cannot be sent")):
        with pytest.raises(requests.RequestException, match=wrong) as raised:
            await in_session(work, **options)
        assert isinstance(raised.value, CallError)
        assert isinstance(raised.value, InputError)
        assert raised.value.request is not None


async def test_no_server_a_private_address_and_a_long_wait() -> None:
    rests = answer(b"", 503, [("Retry-After", "7200")])
    async with WebServer({"/": rests}) as server:
        with pytest.raises(requests.ConnectionError):
            await in_session(lambda session: session.get("http://127.0.0.1:1/"))
        with pytest.raises(requests.ConnectionError, match="private-address"):
            await in_session(lambda session: session.get(server.url("/")), allow_private=False)
        with pytest.raises(WaitTooLong) as raised:
            await in_session(lambda session: [session.get(server.url("/")) for _ in range(2)])
        assert raised.value.held_until > 0


async def test_an_asyncio_robot_gets_a_thread_of_its_own(tmp_path: Path) -> None:
    async with WebServer({"/": answer(b"hi")}) as server:

        def work() -> str:
            adapter = RobotAdapter(Robot("MyBot/1.0", allow_private=True))
            with requests.Session() as session:
                session.mount("http://", adapter)
                return session.get(server.url("/")).text

        assert await asyncio.to_thread(work) == "hi"


class PublicRobot:
    """Answers as public hosts would; `asked` are URLs, and whether they must be public."""

    def __init__(self, *locations: str) -> None:
        self._locations = list(locations)
        self.asked: list[tuple[str, bool]] = []

    def get(self, url: str, *, public_only: bool = False, **rest: object) -> Answer:
        self.asked.append((url, public_only))
        verdict = Verdict(True, None, None, "", "")
        fields = (("Location", self._locations.pop(0)),) if self._locations else ()
        return Answer(url, url, verdict, Response(302 if fields else 200, fields, b""), from_public=True)


LOCATIONS = [
    "/%61dmin",
    "/x|y",
    "/a/../b",
    "/%7euser",
    "/a b",
    "/%zz",
    "/\xc3\xbc",
    "/\\x",
    "?q=%27'",
    "#f",
    "//10.0.0.1:80/",
]


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("alone", [True, False])
def test_a_redirect_of_a_public_host_is_recognized_after_requests_rewrites_its_url(location: str, alone: bool) -> None:
    robot = PublicRobot("http://10.0.0.1" + location if location[0] in "/?#" and location[:2] != "//" else location)
    adapter = RobotAdapter(robot)  # type: ignore[arg-type]
    with requests.Session() as session:
        session.mount("http://", adapter)
        if alone:
            session.get("http://a.example/")
        else:
            following = session.get("http://a.example/", allow_redirects=False).next
            assert following is not None
            session.send(following)
        session.get("http://10.0.0.2/")
    assert [public_only for _, public_only in robot.asked] == [False, True, False]


def test_a_public_host_is_remembered_over_several_redirects() -> None:
    robot = PublicRobot("/%61", "/|", "http://10.0.0.1/")
    with requests.Session() as session:
        session.mount("http://", RobotAdapter(robot))  # type: ignore[arg-type]
        session.get("http://a.example/")
    assert [public_only for _, public_only in robot.asked] == [False, True, True, True]


@pytest.mark.parametrize(("told", "asked"), [("%61dmin", "admin"), ("x|y", "x%7Cy"), ("%7euser", "~user")])
def test_targets_of_public_hosts_are_recognized_in_any_encoding(told: str, asked: str) -> None:
    verdict, hop = Verdict(True, None, None, "", ""), Response(302, (), b"")
    redirects = Redirects()
    redirects.learn(
        Answer("http://a.example/", "http://a.example/", verdict, hop, from_public=True), f"http://10.0.0.1/{told}"
    )
    assert [redirects.take(f"http://10.0.0.1/{asked}") for _ in range(2)] == [True, False]


def test_targets_of_public_hosts_are_remembered_for_one_request_each() -> None:
    hop = Response(302, (("Location", "http://10.0.0.1/"),), b"")
    verdict = Verdict(True, None, None, "", "")
    public = Answer("https://a.example/", "https://a.example/", verdict, hop, from_public=True)
    private = Answer("http://10.0.0.2/", "http://10.0.0.2/", verdict, hop)
    redirects = Redirects()
    redirects.learn(private, "http://10.0.0.1/")
    redirects.learn(Answer("", "", verdict, failure=Failure("dns", ""), from_public=True), None)
    assert not redirects.take("http://10.0.0.1/")
    redirects.learn(public, "http://10.0.0.1/")
    redirects.learn(public, "http://10.0.0.1/")
    assert [redirects.take("http://10.0.0.1/") for _ in range(3)] == [True, True, False]
    for number in range(MAX_TARGETS + 5):
        redirects.learn(public, f"http://10.0.0.1/{number}")
    assert not redirects.take("http://10.0.0.1/0")
    assert redirects.take(f"http://10.0.0.1/{MAX_TARGETS}")
