"""Permission over a fake web: one fetch per origin, redirects, the last good copy, hold-off and its end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.robot.permission import MEMORY_BYTES, Permission
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Failure, Request, Response

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
PAGE = Url("http://example.org/private/x")
ROBOTS = "http://example.org/robots.txt"


def text(body: str, *headers: tuple[str, str], status: int = 200) -> Response:
    """A robots.txt."""
    return Response(status, (("content-type", "text/plain"), *headers), body.encode())


def redirect(target: str) -> Response:
    """To `target`."""
    return Response(301, (("location", target),), b"")


class Scene:
    """A permission with all its surroundings."""

    def __init__(self, answers: Answers, store: MemoryFrontier | None = None, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.answers = answers
        self.web = FakeWeb(answers, self.clock)
        self.store = store or MemoryFrontier()
        self.permission = Permission(Settings(), "goodbot", self.web, self.store, self.clock)

    @property
    def asked(self) -> list[str]:
        """URLs sent for, in order."""
        return [request.url.text for request in self.web.requests]


CLOSED = "User-agent: *\nDisallow: /private/\n"

# what the web answers → allowed, access, line
ANSWERS: list[tuple[str, dict[str, Any], bool, str, int | None]] = [
    ("rules", {ROBOTS: text(CLOSED)}, False, "successful", 2),
    ("404", {}, True, "unavailable", None),
    ("403", {ROBOTS: text("", status=403)}, True, "unavailable", None),
    ("500", {ROBOTS: text("", status=500)}, False, "unreachable", None),
    ("429", {ROBOTS: text("", status=429)}, False, "unreachable", None),
    ("no name", {ROBOTS: Failure("dns", "no such name")}, False, "unreachable", None),
    ("HTML", {ROBOTS: text("<html><p>Disallow: /private/</html>")}, True, "successful", None),
    (
        "moved to another site",
        {ROBOTS: redirect("http://other.example/r"), "http://other.example/r": text(CLOSED)},
        False,
        "successful",
        2,
    ),
    (
        "five redirects",
        {ROBOTS: redirect("/1"), **{f"http://example.org/{n}": redirect(f"/{n + 1}") for n in range(1, 5)}}
        | {"http://example.org/5": text(CLOSED)},
        False,
        "successful",
        2,
    ),
    ("endless redirects", {ROBOTS: redirect("/robots.txt")}, True, "unavailable", None),
    ("too large", {ROBOTS: text(CLOSED + "# " + "x" * 10_000_000)}, False, "successful", 2),
]


@pytest.mark.parametrize(
    ("answers", "allowed", "access", "line"), [c[1:] for c in ANSWERS], ids=[c[0] for c in ANSWERS]
)
async def test_answers(answers: Answers, allowed: bool, access: str, line: int | None) -> None:
    permit = await Scene(answers).permission.check(PAGE)
    assert (permit.verdict.allowed, permit.verdict.access, permit.verdict.line) == (allowed, access, line)


async def test_one_fetch_for_many_urls_at_once() -> None:
    scene = Scene({ROBOTS: text(CLOSED)})
    permits = await asyncio.gather(*(scene.permission.check(PAGE) for _ in range(50)))
    assert scene.asked == [ROBOTS]
    assert sum(permit.fetched is not None for permit in permits) == 1


async def test_another_port_and_scheme_are_other_origins() -> None:
    scene = Scene({})
    for origin in ("http://example.org", "https://example.org", "http://example.org:8080"):
        await scene.permission.check(Url(origin + "/"))
    assert scene.asked == [ROBOTS, "https://example.org/robots.txt", "http://example.org:8080/robots.txt"]


async def test_it_is_asked_again_when_it_expires_and_survives_a_restart() -> None:
    scene = Scene({ROBOTS: text(CLOSED, ("Cache-Control", "max-age=600"))})
    await scene.permission.check(PAGE)
    scene.clock.advance(599)
    later = Scene(scene.answers, scene.store, scene.clock)
    await later.permission.check(PAGE)
    assert later.asked == []
    scene.clock.advance(2)
    await later.permission.check(PAGE)
    assert later.asked == [ROBOTS]


async def test_the_last_good_copy_rules_for_thirty_days() -> None:
    scene = Scene({ROBOTS: text(CLOSED)})
    await scene.permission.check(PAGE)
    scene.answers[ROBOTS] = text("", status=500)
    scene.clock.advance(86_401)
    permit = await scene.permission.check(PAGE)
    assert (permit.verdict.access, permit.verdict.line, permit.given_up) == ("unreachable", 2, False)
    assert (await scene.permission.check(Url("http://example.org/open"))).verdict.allowed
    scene.clock.advance(30 * 86_400)
    assert not (await scene.permission.check(Url("http://example.org/open"))).verdict.allowed


async def test_hold_off_grows_and_ends() -> None:
    scene = Scene({ROBOTS: text("", status=503)})
    began = scene.clock.now()
    waits = []
    while True:
        permit = await scene.permission.check(PAGE)
        if permit.given_up:
            break
        assert permit.verdict.valid_until is not None
        waits.append(permit.verdict.valid_until - scene.clock.now())
        scene.clock.advance(waits[-1])
    assert waits == [2.0, 6.0, 18.0]
    assert scene.clock.now() - began == 26.0
    assert len(scene.asked) == 4
    assert (await scene.permission.check(PAGE)).given_up
    assert len(scene.asked) == 4


async def test_a_new_run_tries_afresh_what_was_given_up() -> None:
    scene = Scene({ROBOTS: Failure("connect", "refused")})
    for _ in range(4):
        permit = await scene.permission.check(PAGE)
        scene.clock.advance((permit.verdict.valid_until or 0) - scene.clock.now())
    assert permit.given_up
    again = Scene({ROBOTS: text(CLOSED)}, scene.store, scene.clock)
    assert (await again.permission.check(Url("http://example.org/open"))).verdict.allowed


async def test_our_own_refusal_is_final_at_once() -> None:
    scene = Scene({ROBOTS: Failure("private-address", "10.0.0.1 is private")})
    assert (await scene.permission.check(PAGE)).given_up


async def test_memory_is_bounded() -> None:
    big = text(CLOSED + "# " + "x" * 400_000)
    scene = Scene({f"http://h{n}.example/robots.txt": big for n in range(100)})
    for number in range(100):
        await scene.permission.check(Url(f"http://h{number}.example/"))
    kept = sum(len(access.body) for access in scene.permission._known.values())
    assert 0 < kept <= MEMORY_BYTES
    assert not (await scene.permission.check(Url("http://h0.example/private/x"))).verdict.allowed
    assert len(scene.asked) == 100


async def test_a_cancelled_caller_does_not_cancel_the_fetch() -> None:
    clock = FakeClock()
    web = FakeWeb({ROBOTS: text(CLOSED)}, clock, elapsed_s=5.0)
    permission = Permission(Settings(), "goodbot", web, MemoryFrontier(), clock)
    first = asyncio.create_task(permission.check(PAGE))
    await asyncio.sleep(0)
    second = asyncio.create_task(permission.check(PAGE))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).verdict.line == 2
    assert len(web.requests) == 1
