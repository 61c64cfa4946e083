"""Tests permission over a fake web: one fetch per origin, redirects, the last good copy, retries and their end."""

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.manners.permission import MEMORY_BYTES, Permission
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Failure, Request, Response

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
PAGE = Url("http://example.org/private/x")
ROBOTS = "http://example.org/robots.txt"


def text(body: str, *headers: tuple[str, str], status: int = 200) -> Response:
    """A robots.txt."""
    return Response(status, (("content-type", "text/plain"), *headers), body.encode())


def packed(body: bytes) -> Response:
    """What calls itself gzip."""
    return Response(200, (("content-encoding", "gzip"),), body)


def redirect(target: str) -> Response:
    """To `target`."""
    return Response(301, (("location", target),), b"")


class Scene:
    """A permission with all its surroundings."""

    def __init__(
        self,
        answers: Answers,
        store: MemoryFrontier | None = None,
        clock: FakeClock | None = None,
        *,
        dialect: str = "rfc9309",
    ) -> None:
        self.clock = clock or FakeClock()
        self.answers = answers
        self.web = FakeWeb(answers, self.clock)
        self.store = store or MemoryFrontier()
        settings = Settings(dialect=dialect)
        self.permission = Permission(settings, "goodbot", self.web, self.store, self.clock)

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
    ("breaks off", {ROBOTS: replace(text("User-agent: *\n"), truncated="disconnect")}, False, "unreachable", None),
    ("breaks off, a 404", {ROBOTS: replace(text("x", status=404), truncated="disconnect")}, True, "unavailable", None),
    (
        "breaks off where nothing counts any more",
        {ROBOTS: replace(text(CLOSED + "# " + "x" * 600_000), truncated="disconnect")},
        False,
        "successful",
        2,
    ),
    ("damaged gzip", {ROBOTS: packed(gzip.compress(CLOSED.encode() * 99)[:-40])}, False, "unreachable", None),
    ("gzip", {ROBOTS: packed(gzip.compress(CLOSED.encode()))}, False, "successful", 2),
    ("called gzip", {ROBOTS: packed(CLOSED.encode())}, False, "successful", 2),
    ("too large", {ROBOTS: text(CLOSED + "# " + "x" * 10_000_000)}, False, "successful", 2),
]


@pytest.mark.parametrize(
    ("answers", "allowed", "access", "line"), [c[1:] for c in ANSWERS], ids=[c[0] for c in ANSWERS]
)
async def test_answers(answers: Answers, allowed: bool, access: str, line: int | None) -> None:
    permit = await Scene(answers).permission.check(PAGE)
    assert (permit.verdict.allowed, permit.verdict.access, permit.verdict.line) == (allowed, access, line)


async def test_a_redirect_that_names_no_place_is_not_followed() -> None:
    scene = Scene({ROBOTS: text("", status=302)})
    assert (await scene.permission.check(PAGE)).verdict.access == "unavailable"
    assert len(scene.web.requests) == 1


async def test_one_fetch_for_many_urls_at_once() -> None:
    scene = Scene({ROBOTS: text(CLOSED)})
    permits = await asyncio.gather(*(scene.permission.check(PAGE) for _ in range(50)))
    assert scene.asked == [ROBOTS]
    assert sum(permit.delay is not None for permit in permits) == 1


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


async def test_it_is_asked_again_when_the_clock_went_back() -> None:
    scene = Scene({ROBOTS: text(CLOSED)})
    for back_s, asked in ((0, 1), (30, 1), (3600, 2), (0, 2)):
        scene.clock.advance(-back_s)
        await scene.permission.check(PAGE)
        assert len(scene.asked) == asked


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


async def test_a_304_nobody_asked_for_leaves_the_last_good_copy_in_force() -> None:
    scene = Scene({ROBOTS: text(CLOSED)})
    assert not (await scene.permission.check(PAGE)).verdict.allowed
    scene.answers[ROBOTS] = Response(304, (), b"")
    scene.clock.advance(2 * 86_400)
    for url, allowed in ((PAGE, False), (Url("http://example.org/public"), True)):
        permit = await scene.permission.check(url)
        assert (permit.verdict.allowed, permit.verdict.access, permit.given_up) == (allowed, "unreachable", False)


HOLDS = [
    ("a public host", PAGE, text("", status=503), [60.0, 300.0, 1500.0]),
    ("a private one", Url("http://127.0.0.1/x"), text("", status=500), [2.0, 6.0, 18.0]),
    ("no connection", PAGE, Failure("connect", "refused"), [15.0, 75.0, 375.0]),
    ("no name", PAGE, Failure("dns", "no such name"), [0.5, 1.5, 4.5]),
    ("Retry-After is longer", PAGE, text("", ("Retry-After", "700"), status=429), [700.0, 700.0, 1500.0]),
]


@pytest.mark.parametrize(("page", "answer", "waits"), [c[1:] for c in HOLDS], ids=[c[0] for c in HOLDS])
async def test_hold_off_grows_and_ends(page: Url, answer: Response | Failure, waits: list[float]) -> None:
    scene = Scene({page.robots_txt.text: answer})
    held = []
    while not (permit := await scene.permission.check(page)).given_up:
        assert permit.verdict.valid_until is not None
        held.append(permit.verdict.valid_until - scene.clock.now())
        scene.clock.advance(held[-1])
    assert held == waits
    assert len(scene.asked) == 4
    assert (await scene.permission.check(page)).given_up
    assert len(scene.asked) == 4
    scene.clock.advance(Settings().given_up_rest)
    assert (await scene.permission.check(page)).given_up
    assert len(scene.asked) == 5


async def test_a_new_run_tries_afresh_what_was_given_up() -> None:
    scene = Scene({ROBOTS: Failure("connect", "refused")})
    for _ in range(4):
        permit = await scene.permission.check(PAGE)
        scene.clock.advance((permit.verdict.valid_until or 0) - scene.clock.now())
    assert permit.given_up
    again = Scene({ROBOTS: text(CLOSED)}, scene.store, scene.clock)
    assert (await again.permission.check(Url("http://example.org/open"))).verdict.allowed


@pytest.mark.parametrize(
    "failure", [Failure("private-address", "10.0.0.1 is private"), Failure("dns", "no such name", lasting=True)]
)
async def test_what_would_be_the_same_again_is_final_at_once(failure: Failure) -> None:
    scene = Scene({ROBOTS: failure})
    assert (await scene.permission.check(PAGE)).given_up


async def test_memory_is_bounded() -> None:
    big = text(CLOSED + "# " + "x" * 400_000)
    scene = Scene({f"http://h{n}.example/robots.txt": big for n in range(100)})
    for number in range(100):
        await scene.permission.check(Url(f"http://h{number}.example/"))
    kept = sum(len(known.access.body) for known in scene.permission._known.values())
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


async def test_a_full_memory_does_not_begin_the_tries_anew() -> None:
    scene = Scene({ROBOTS: text("", status=500)})
    for _ in range(4):
        permit = await scene.permission.check(PAGE)
        scene.permission._known.clear()  # as if other origins had pushed it out
        assert permit.verdict.valid_until is not None
        scene.clock.advance(permit.verdict.valid_until - scene.clock.now())
    assert permit.given_up
    assert len(scene.asked) == 4


# ---- when to come ---------------------------------------------------------------------------------------------------


async def test_what_robots_txt_asks_is_read_once() -> None:
    scene = Scene({ROBOTS: text("User-agent: *\nCrawl-delay: 4\nRequest-rate: 1/9\nVisit-time: 0100-0200\n")})
    permits = [await scene.permission.check(PAGE) for _ in range(2)]
    timing = permits[0].timing
    assert (timing.delay_s, timing.rates[0].gap_s, timing.windows) == (4.0, 9.0, ((60, 120),))
    assert permits[1].timing is timing


@pytest.mark.parametrize(
    ("asks", "delay_s"),
    [
        ("Crawl-delay: 4", 4.0),
        ("Request-rate: 1/2s", 2.0),
        ("Crawl-delay: 4\nRequest-rate: 1/2s", 4.0),
        ("Crawl-delay: 4\nRequest-rate: 1/9s", 9.0),
        ("Request-rate: 1/9s 0000-0100", 9.0),
        ("Request-rate: 1/9s 1200-1300", None),
        ("Disallow:", None),
    ],
)
async def test_what_a_request_is_held_against(asks: str, delay_s: float | None) -> None:
    scene = Scene({ROBOTS: text(f"User-agent: *\n{asks}\n")}, clock=FakeClock(1_700_006_400.0))  # midnight
    assert (await scene.permission.check(PAGE)).verdict.delay_s == delay_s


async def test_the_reason_says_what_failed_in_this_run() -> None:
    failure = Failure("tls", "the certificate has expired (example.org): SSL")
    scene = Scene({ROBOTS: failure})
    for _ in range(3):
        permit = await scene.permission.check(PAGE)
        assert permit.verdict.reason == f"robots.txt is unreachable, so nothing may be fetched: {failure.detail}."
        scene.clock.advance(3600)


async def test_it_rules_as_the_rest_does_while_robots_txt_is_unreachable() -> None:
    scene = Scene({ROBOTS: text("User-agent: *\nCrawl-delay: 4\n")})
    await scene.permission.check(PAGE)
    scene.answers[ROBOTS] = text("", status=500)
    scene.clock.advance(86_401)
    permit = await scene.permission.check(PAGE)
    assert (permit.verdict.access, permit.timing.delay_s) == ("unreachable", 4.0)


async def test_the_last_answer_of_the_host_asked_says_how_it_is() -> None:
    other = "http://other.example/r"
    scene = Scene({ROBOTS: redirect("/1"), "http://example.org/1": redirect(other), other: text("", status=503)})
    permit = await scene.permission.check(PAGE)
    assert permit.delay is not None
    assert permit.delay.backoff_s == 0.0  # the 503 is of another host


# ---- dialects -------------------------------------------------------------------------------------------------------

# dialect, what the web answers → allowed, what is asked
DIALECTS: list[tuple[str, Response, bool, float | None]] = [
    ("rfc9309", text("", status=403), True, None),
    ("google", text("", status=403), True, None),
    ("1996", text("", status=403), False, None),
    ("book", text("", status=401), False, None),
    ("rfc9309", text("User-agent: *\nAllow: /\nDisallow: /private/\nCrawl-delay: 4\n"), False, 4.0),
    ("google", text("User-agent: *\nAllow: /\nDisallow: /private/\nCrawl-delay: 4\n"), False, None),
    ("1996", text("User-agent: *\nAllow: /\nDisallow: /private/\nCrawl-delay: 4\n"), True, 4.0),
]


@pytest.mark.parametrize(("dialect", "answer", "allowed", "delay_s"), DIALECTS)
async def test_the_dialect_of_the_crawl(dialect: str, answer: Response, allowed: bool, delay_s: float | None) -> None:
    permit = await Scene({ROBOTS: answer}, dialect=dialect).permission.check(PAGE)
    assert (permit.verdict.allowed, permit.verdict.dialect, permit.timing.delay_s) == (allowed, dialect, delay_s)


async def test_what_another_run_fetched_is_read_anew_in_another_dialect() -> None:
    scene = Scene({ROBOTS: text("", status=403)})
    assert (await scene.permission.check(PAGE)).verdict.allowed
    again = Scene(scene.answers, scene.store, scene.clock, dialect="1996")
    assert not (await again.permission.check(PAGE)).verdict.allowed
    assert again.asked == []


def test_a_dialect_nobody_knows() -> None:
    with pytest.raises(InputError, match=r"unknown dialect of robots\.txt '1995': known are rfc9309, google, 1996"):
        Settings(dialect="1995")


async def outlast(scene: Scene, seconds: float) -> bool:
    """Asks whenever it is due for so long; whether the page is allowed then. Nothing is given up meanwhile."""
    until = scene.clock.now() + seconds
    while scene.clock.now() < until:
        permit = await scene.permission.check(PAGE)
        assert not permit.given_up
        assert permit.verdict.valid_until is not None
        scene.clock.advance(max(permit.verdict.valid_until - scene.clock.now(), 1.0))
    return (await scene.permission.check(PAGE)).verdict.allowed


async def test_google_waits_twelve_hours_before_the_copy_rules() -> None:
    scene = Scene({ROBOTS: text("User-agent: *\nDisallow: /other\n")}, dialect="google")
    await scene.permission.check(PAGE)
    scene.answers[ROBOTS] = text("", status=500)
    scene.clock.advance(86_401)
    assert not (await scene.permission.check(PAGE)).verdict.allowed
    assert await outlast(scene, 12 * 3600.0)


@pytest.mark.parametrize("answers", [True, False])
async def test_google_opens_after_thirty_days_if_the_site_answers(answers: bool) -> None:
    scene = Scene({ROBOTS: text("", status=500)}, dialect="google")
    assert await outlast(scene, 29.5 * 86_400.0)
    while (permit := await scene.permission.check(PAGE)).verdict.allowed and scene.clock.now() < 1_700_000_000 + 4e6:
        if answers:
            scene.permission.answered(PAGE)
        scene.clock.advance(3600.0)
    assert permit.verdict.allowed == answers
