"""What the good and the bad drivers leave open: extras, visits, and that traps come to an end."""

import gzip
import re

import pytest

from exam.scripted import Driver, Step, examine, gets
from exam.scripts_pages_a import all_names_at_once
from goodbot.exam.card import SiteCard, judge_site
from goodbot.exam.exam_values import ExamRequest, ExamSite, Observed, pages
from goodbot.exam.expectations import AtMost, Fetches, OnLaterVisit
from goodbot.exam.sites import all_sites
from goodbot.exam.sites.pages.ten_names import OTHERS, most_at_once
from goodbot.exclusion import parse_http_date
from goodbot.testing import FakeClock

SITES = {site.name: site for site in all_sites()}


def _lost(card: SiteCard) -> list[tuple[str, str]]:
    return [(mark.rule.code, mark.judgement.observed) for mark in card.marks if not mark.judgement.passed]


@pytest.mark.parametrize(("visits", "rules"), [(1, ["found"]), (2, ["found", "found"]), (3, ["found", "found"])])
def test_what_needs_a_second_visit_counts_only_with_one(visits: int, rules: list[str]) -> None:
    site = ExamSite("s", "T.", "s", pages(None), (Fetches(("/",)), OnLaterVisit(Fetches(("/again",), visit=2))))
    asked = ExamRequest("", "GET", "/", (), 1, 0.0)
    card = judge_site(site, Observed((asked,), visits))
    assert [mark.rule.code for mark in card.marks] == rules
    assert card.passed is (visits == 1)


def test_later_says_when() -> None:
    assert OnLaterVisit(Fetches(("/again",))).expected == "on visit 2: fetches /again"


def test_found_may_mean_answered() -> None:
    seen = Observed((ExamRequest("", "GET", "/busy", (), 1, 0.0, status=429),))
    assert Fetches(("/busy",)).judge(seen).passed
    assert Fetches(("/busy",), status=200).judge(seen).observed == "did not fetch /busy with status 200"


def test_each_visit_is_counted_by_itself() -> None:
    visits = (1, 1, 2, 2, 2)
    requests = tuple(ExamRequest("", "GET", f"/{n}", (), 1, float(n), visit) for n, visit in enumerate(visits))
    judged = AtMost(2).judge(Observed(requests, visits=2))
    assert (judged.observed, judged.offending) == ("sent 3 requests", requests[4])
    assert AtMost(3).judge(Observed(requests, visits=2)).passed


@pytest.mark.parametrize(
    ("name", "steps", "lost"),
    [
        ("second-visit", [], []),
        ("second-visit", ["visit"], [("revalidates", "fetched no page again")]),
        (
            "second-visit",
            ["visit", *gets("/", "/tagged")],
            [("revalidates", "fetched / again without If-None-Match")],
        ),
    ],
)
async def test_a_second_visit_is_an_extra(name: str, steps: list[Step], lost: list[tuple[str, str]]) -> None:
    card = await examine(SITES[name], [*gets("/robots.txt", "/", "/tagged", "/dated"), *steps])
    assert (card.passed, _lost(card)) == (True, lost)


@pytest.mark.parametrize(
    ("target", "header", "status", "counts"),
    [
        ("/tagged", 'If-None-Match: "v1"', 304, True),
        ("/tagged", 'If-None-Match: W/"v1"', 304, True),
        ("/tagged", 'If-None-Match: "v0", W/"a,b" ,"v1"', 304, True),
        ("/tagged", "If-None-Match: *", 304, False),
        ("/tagged", 'If-None-Match: "v0"', 200, False),
        ("/tagged", "If-None-Match: v1", 200, False),
        ("/tagged", 'If-None-Match: "v11", "xv1"', 200, False),
        ("/dated", "If-Modified-Since: Tue, 03 Mar 2026 09:00:00 GMT", 304, True),
        ("/dated", "If-Modified-Since: Wed, 04 Mar 2026 09:00:00 GMT", 304, False),
        ("/dated", "If-Modified-Since: Tuesday, 03-Mar-26 09:00:00 GMT", 304, False),
        ("/dated", "If-Modified-Since: Mon, 02 Mar 2026 09:00:00 GMT", 200, False),
        ("/dated", "If-Modified-Since: yesterday", 200, False),
    ],
)
async def test_validators(target: str, header: str, status: int, counts: bool) -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        heard.append(await driver.get(target, "", header))

    card = await examine(SITES["second-visit"], [*gets("/robots.txt", "/", "/tagged", "/dated"), "visit", hear])
    assert heard[0][9:12] == b"%d" % status
    never_had = f"fetched {target} again with a validator that it never had"
    assert (card.passed, _lost(card)) == (True, [] if counts else [("revalidates", never_had)])


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        (gets("/robots.txt", "/", "/a"), [("per-address", "sent requests to only one of the ten names")]),
        (
            [*gets("/robots.txt", "/", "/a"), *gets(*(f"{label}:/robots.txt" for label in OTHERS)), all_names_at_once],
            [("per-address", "sent 10 requests at once over 10 names")],
        ),
    ],
)
async def test_ten_names(steps: list[Step], lost: list[tuple[str, str]]) -> None:
    card = await examine(SITES["ten-names"], steps)
    assert (card.passed, _lost(card)) == (True, lost)


@pytest.mark.parametrize(
    ("spans", "most"),
    [
        ([], 0),
        ([(0, 1), (1, 2), (2, 3)], 1),
        ([(0, 2), (1, 3), (1, 2)], 3),
        ([(0, None), (1, 2), (5, 6)], 2),
    ],
)
def test_most_at_once(spans: list[tuple[float, float | None]], most: int) -> None:
    asked = [ExamRequest(str(n), "GET", "/", (), n, at, ended_at=ended) for n, (at, ended) in enumerate(spans)]
    assert most_at_once(asked) == most


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("trap-session-ids", "/page/1?sid=000000"),
        ("trap-calendar", "/calendar?month=2026-01"),
        ("trap-repeating-path", "/shop/"),
        ("soft-404", "/gone/0"),
        ("redirect-chain", "/hop/1"),
    ],
)
async def test_a_trap_comes_to_an_end(name: str, first: str) -> None:
    followed: list[str] = []

    async def follow(driver: Driver) -> None:
        target: str | None = first
        while target and len(followed) < 500:
            followed.append(target)
            answer = (await driver.get(target)).decode()
            found = re.search(r'href="([^"]+)"|Location: (\S+)', answer)
            link = found and (found[1] or found[2])
            target = None if not link else link if link.startswith("/") else target + link

    card = await examine(SITES[name], [follow])
    assert 300 <= len(followed) <= 402
    assert len(set(followed)) == len(followed)
    assert ("trap", f"sent {len(followed)} requests") in _lost(card)


@pytest.mark.parametrize(
    "target", ["/calendar", *(f"/calendar?month={month}" for month in ("x", "9999-12", "0000-99"))]
)
async def test_a_stranger_in_the_calendar(target: str) -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        heard.append(await driver.get(target))

    await examine(SITES["trap-calendar"], [hear])
    assert heard[0].startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (compatible; FineBot/0.1; +https://example.org/)", "FineBot"),
        ("Wget/1.21.3", "Wget"),
        ("", "robots"),
        ('a"><script>', "a"),
    ],
)
async def test_a_page_speaks_to_the_robot_that_asks(agent: str, name: str) -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        reader, writer = await driver.connect()
        writer.write(f"GET /mine HTTP/1.1\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n".encode())
        heard.append(await reader.read())
        writer.close()

    await examine(SITES["meta-one-robot"], [hear])
    assert f'<meta name="{name}" content="nofollow">' in heard[0].decode()


async def test_sitemaps_are_what_they_say() -> None:
    heard: dict[str, bytes] = {}

    async def packed(driver: Driver) -> None:
        heard["packed"] = gzip.decompress((await driver.get("/packed.xml.gz")).partition(b"\r\n\r\n")[2])
        heard["origin"] = driver.web.origin(driver.site).encode()

    async def huge(driver: Driver) -> None:
        heard["huge"] = await driver.get("/sitemap.xml")

    await examine(SITES["sitemap-index"], [packed])
    await examine(SITES["sitemap-huge"], [huge])
    assert b"<loc>" + heard["origin"] + b"/in-packed</loc>" in heard["packed"]
    assert heard["huge"].count(b"<loc>http://127.0.0.1:") == 50_000
    assert heard["huge"].count(b"/archive/") == 49_995


async def test_the_date_to_come_back_is_three_seconds_ahead() -> None:
    heard: list[bytes] = []

    async def hear(driver: Driver) -> None:
        driver.clock.advance(0.5)
        heard.append(await driver.get("/out"))

    await examine(SITES["retry-after-date"], [hear])
    until = re.search(r"Retry-After: (.+)\r", heard[0].decode())
    assert until is not None
    assert parse_http_date(until[1]) == FakeClock().now() + 4
