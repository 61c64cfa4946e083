"""What the good and the bad drivers of traps, walls and trees leave open."""

import asyncio
import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam.breadth_first import breadth_first
from exam.scripted import Driver, Step, examine, gets
from exam.scripts_endless import MODEST, TIRELESS, TRAPS
from goodbot.exam.card import SiteCard
from goodbot.exam.exam_values import ExamRequest, Expectation, Observed, Reply
from goodbot.exam.expectations import AtMost, AtMostEach, AtMostInAnySpan, Fetches
from goodbot.exam.rules import RULES
from goodbot.exam.sites import all_sites
from goodbot.exam.sites.challenge import challenge
from goodbot.exam.sites.endless import ALLOWED_REQUESTS, ENDS_AFTER
from goodbot.exam.sites.listing import index, sitemap
from goodbot.ports import Clock
from goodbot.testing import FakeClock

SITES = {site.name: site for site in all_sites()}
ENDLESS = [*TRAPS, "wall-try-again"]
WALLS = [name for name in SITES if name.startswith("wall-")]


def _lost(card: SiteCard) -> list[tuple[str, str]]:
    return [(mark.rule.code, mark.judgement.observed) for mark in card.marks if not mark.judgement.passed]


# ---- what is judged -------------------------------------------------------------------------------------------------


def _asked(target: str, at: float = 0.0, *, unread_s: float = 0.0, visit: int = 1) -> ExamRequest:
    return ExamRequest("", "GET", target, (), 1, at, visit, at, 200, 0, unread_s)


@pytest.mark.parametrize(
    ("expectation", "requests", "observed"),
    [
        (AtMostEach(2), [_asked("/a"), _asked("/a"), _asked("/b"), _asked("/b")], None),
        (AtMostEach(2), [_asked("/a"), _asked("/a"), _asked("/b"), _asked("/a")], "3 requests for /a"),
        (AtMostEach(1), [_asked("/a"), _asked("/a", visit=2)], None),
        (AtMostEach(1), [_asked("/%d0"), _asked("/%D0")], "2 requests for /%D0"),
        (AtMostEach(1, "/b*"), [_asked("/a"), _asked("/a")], None),
        (AtMostEach(1, "/b*"), [], None),
        (AtMostInAnySpan(2, 1.0), [_asked("/", 0), _asked("/", 0.9), _asked("/", 1.0), _asked("/", 2.0)], None),
        (AtMostInAnySpan(2, 1.0), [_asked("/", 0), _asked("/", 0.5), _asked("/", 0.9)], "3 requests within 1 s"),
        (AtMostInAnySpan(2, 1.0), [_asked("/", 1, unread_s=1), _asked("/", 1), _asked("/", 1)], None),
        (AtMostInAnySpan(2, 1.0), [], None),
        (Fetches(("/b",), within=2), [_asked("/a"), _asked("/b")], None),
        (
            Fetches(("/c",), within=2),
            [_asked("/a"), _asked("/b"), _asked("/c")],
            "did not fetch /c among the first 2 ",
        ),
    ],
)
def test_what_is_judged(expectation: Expectation, requests: list[ExamRequest], observed: str | None) -> None:
    judgement = expectation.judge(Observed(tuple(requests), visits=2))
    assert judgement.passed is (observed is None)
    assert (observed or "") in judgement.observed


def test_the_first_request_too_many_is_shown() -> None:
    requests = tuple(_asked("/a", float(n) / 10) for n in range(4))
    assert AtMostEach(2).judge(Observed(requests)).offending is requests[2]
    assert AtMostInAnySpan(2, 1.0).judge(Observed(requests)).offending is requests[2]


# ---- endless traps --------------------------------------------------------------------------------------------------


def test_every_endless_trap_allows_the_same() -> None:
    allowed = {
        name: expectation.most
        for name, site in SITES.items()
        for expectation in site.expects
        if isinstance(expectation, AtMost) and expectation.most >= 1000
    }
    assert allowed == {**dict.fromkeys(ENDLESS, ALLOWED_REQUESTS), "sitemap-two-indexes": 1000}


@pytest.mark.parametrize("name", ENDLESS)
async def test_who_leaves_at_once_misses_what_is_beside_the_trap(name: str) -> None:
    card = await examine(SITES[name], gets("/robots.txt", "/"))
    assert card.passed is False
    assert {rule for rule, _ in _lost(card)} == {"found"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (place % 3 != 0)) for place, name in enumerate(ENDLESS)]
)
async def test_a_limit_of_1500_pages_passes_at_each_visit(name: str) -> None:
    """What was asked for in the first is not counted in the second."""
    card = await examine(SITES[name], [breadth_first(1550), "visit", breadth_first(1550)])
    assert card.requests > ALLOWED_REQUESTS
    assert (card.passed, _lost(card)) == (True, [])


async def test_a_trap_comes_to_an_end() -> None:
    """Of the others the bad scripts, which have no limit, say so."""
    card = await examine(SITES["trap-thin-pages"], TIRELESS)
    assert ALLOWED_REQUESTS < card.requests < ENDS_AFTER * 1.1
    assert [rule for rule, _ in _lost(card)] == ["trap"]


@pytest.mark.parametrize("name", ENDLESS)
async def test_two_crawlers_see_the_same(name: str) -> None:
    """Pages are computed, from the address and the number of requests alone."""
    seen = []
    for _ in range(2):
        answers: list[bytes] = []
        await examine(SITES[name], [_collects(answers, name)])
        seen.append(answers)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 1


def _collects(answers: list[bytes], name: str) -> Step:
    async def collects(driver: Driver) -> None:
        start = await driver.get("/")
        answers.append(start)
        answers.extend([await driver.get(link) for link in re.findall(r'href="([^"]+)"', start.decode())])

    return collects


_DOORS = {
    "trap-facets": ("/shop", "/shop?colour=", "/shop?colour=red&size="),
    "trap-relative-links": ("/docs/", "/docs/x/"),
    "trap-session-in-path": ("/s-", "/s-000000/page/"),
    "trap-path-parameters": ("/item/", "/item/1;sid="),
    "trap-bare-numbers": ("/weeks", "/weeks?", "/weeks?2026"),
    "trap-path-in-title": ("/wiki/", "/wiki/harbour/"),
    "trap-thin-pages": ("/news", "/news?page="),
    "trap-timestamps": ("/snapshots/", "/snapshots/2026"),
    "trap-day-of-year": ("/diary/", "/diary/2026/"),
    "trap-month-names": ("/events/", "/events/march-"),
    "trap-labyrinth": ("/maze/", "/maze/amber-cliff-"),
    "trap-title-is-path": ("/q", "/q/", "/q/1/"),
    "wall-try-again": ("/shop/", "/shop/1?try="),
    "sitemap-many-lists": ("/tree/", "/tree/0/"),
    "sitemap-two-indexes": ("/odd.xml?n=", "/even.xml"),
}
_STRANGE = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"[0-9;=?&a-z/.-]{0,40}", fullmatch=True),
    st.sampled_from(["9" * 30, "99991231235900/", "00010101000000/", "000001", "999952", "0001/001", "9999/365", "x/"]),
    st.sampled_from(["december-9999", "january-0001", "wren", "wren-wren", "1.xml", "99.xml", "9/9.xml"]),
)


@dataclass
class Alone:
    """An exchange without a server."""

    request: ExamRequest
    clock: Clock = field(default_factory=FakeClock)
    origins: Mapping[str, str] = field(default_factory=lambda: {"": "http://127.0.0.1:1"})
    replies: list[Reply] = field(default_factory=list)

    def before(self, path: str | None = None) -> int:
        return 7

    async def reply(self, reply: Reply) -> None:
        self.replies.append(reply)

    async def send(self, data: bytes) -> None:
        raise AssertionError

    async def client_left(self) -> None:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError

    def reset(self) -> None:
        raise AssertionError


@given(st.sampled_from([(name, door) for name, doors in _DOORS.items() for door in doors]), _STRANGE)
def test_a_stranger_gets_an_answer(place: tuple[str, str], rest: str) -> None:
    name, door = place
    site_pages = SITES[name].pages
    route = site_pages.get(door.partition("?")[0], site_pages.get("*"))
    assert callable(route)
    alone = Alone(_asked(door + rest))
    asyncio.run(route(alone))  # type: ignore[arg-type]
    [reply] = alone.replies
    assert reply.status in {200, 404}
    assert len(reply.encode(alone.origins)) < 100_000


def test_every_door_leads_into_its_trap() -> None:
    assert set(ENDLESS) < set(_DOORS)


# ---- walls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WALLS)
async def test_who_climbs_a_wall_fails(name: str) -> None:
    card = await examine(SITES[name], [*gets("/robots.txt"), "POST /.wall/answer"])
    assert ("wall", "answered the challenge: POST /.wall/answer") in _lost(card)
    card = await examine(SITES[name], [*gets("/robots.txt"), "GET / Cookie: a=b; wall-pass=42"])
    assert ("wall", "sent the cookie wall-pass, which only the challenge's script sets") in _lost(card)
    assert card.passed is False


@pytest.mark.parametrize("name", WALLS)
async def test_the_cookie_of_a_wall_is_an_extra(name: str) -> None:
    card = await examine(SITES[name], [*gets("/robots.txt"), "GET /a cookie: wall-visitor=1"])
    assert ("wall-cookie", "sent the cookie wall-visitor back") in _lost(card)
    assert RULES["wall-cookie"].extra


def test_every_wall_is_judged_alike() -> None:
    rules = {name: {expectation.rule for expectation in SITES[name].expects} for name in WALLS}
    assert all({"wall", "wall-cookie"} <= each for each in rules.values())
    assert {name for name, each in rules.items() if "wall-robots" in each} == {
        *("wall-robots-200", "wall-robots-202", "wall-robots-402", "wall-robots-403", "wall-robots-429")
    }
    assert {name.rpartition("-")[2] for name in WALLS} >= {"200", "202", "402", "403", "429", "503"}


def test_a_challenge_looks_like_one() -> None:
    said = challenge(429, 5).encode({}).decode()
    assert said.startswith("HTTP/1.1 429 Too Many Requests\r\n")
    assert "\r\ncf-mitigated: challenge\r\n" in said
    assert "\r\nRetry-After: 5\r\n" in said
    assert "<a href" not in said
    assert "Retry-After" not in challenge(403).encode({}).decode()


async def test_who_goes_on_at_full_speed_before_a_wall_loses_an_extra() -> None:
    walled = [f"/shop/{number}" for number in range(1, 13)]
    card = await examine(SITES["wall-403"], gets("/robots.txt", "/", "/a", *walled, "/b"))
    assert (card.passed, [rule for rule, _ in _lost(card)]) == (True, ["wall-slow"])


@pytest.mark.parametrize("name", ["wall-robots-200", "wall-robots-202", "wall-robots-402", "wall-robots-403"])
async def test_who_takes_a_wall_for_an_open_site_loses_an_extra(name: str) -> None:
    card = await examine(SITES[name], gets("/robots.txt", "/", "/a", "/private"))
    assert (card.passed, {rule for rule, _ in _lost(card)}) == (True, {"wall-robots"})


async def test_who_comes_again_gets_through_the_wall_to_robots_txt() -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        heard.append(await driver.get("/robots.txt"))

    card = await examine(SITES["wall-robots-403"], [hear, hear, hear, *gets("/", "/a")])
    assert [answer[9:12] for answer in heard] == [b"403", b"403", b"200"]
    assert b"Disallow: /private" in heard[2]
    assert (card.passed, _lost(card)) == (True, [])


# ---- what is asked for again ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 421, 425])
async def test_who_does_not_ask_again_loses_an_extra(status: int) -> None:
    card = await examine(SITES[f"again-{status}"], gets("/robots.txt", "/", "/a", "/slow", "/b"))
    assert (card.passed, _lost(card)) == (True, [("asks-again", "did not fetch /slow with status 200")])


async def test_under_repair_on_the_first_visit_only() -> None:
    """Who believes it for good misses what came back."""
    card = await examine(SITES["trap-maintenance"], MODEST)
    assert (card.passed, len(card.marks)) == (True, 2)
    card = await examine(SITES["trap-maintenance"], [*MODEST, "visit", *gets("/robots.txt", "/")])
    assert [rule for rule, _ in _lost(card)] == ["found", "found"]


# ---- sitemaps -------------------------------------------------------------------------------------------------------


async def test_all_of_the_tree_is_there() -> None:
    """Who reads every list before the second story is too late for the last one."""
    card = await examine(SITES["sitemap-many-lists"], [breadth_first(sitemaps=True)])
    assert card.requests == 2 + 5 + 1 + 40 + 2000 + 2
    assert [rule for rule, _ in _lost(card)] == ["found"]
    card = await examine(SITES["sitemap-many-lists"], [breadth_first()])
    assert (card.passed, [rule for rule, _ in _lost(card)]) == (True, ["sitemap"])


async def test_fifty_thousand_urls_in_a_packed_sitemap() -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        heard.append(gzip.decompress((await driver.get("/sitemap.xml.gz")).partition(b"\r\n\r\n")[2]))

    await examine(SITES["sitemap-packed"], [hear])
    assert heard[0].count(b"<loc>http://127.0.0.1:") == 50_000
    assert heard[0].count(b"/archive/") == 49_995


async def test_a_sitemap_that_lists_another_host_is_not_followed_there() -> None:
    card = await examine(SITES["sitemap-other-hosts"], [*MODEST, *gets("/sitemap.xml", "other:/robots.txt")])
    assert (card.passed, [rule for rule, _ in _lost(card)]) == (True, ["own-host"])


def test_lists_are_xml() -> None:
    assert b"<loc>@@/a?b=1&amp;c=2</loc>" in sitemap("@@/a?b=1&c=2").body
    assert index("@@/a.xml", "@@/b.xml").body.count(b"<sitemap><loc>") == 2
