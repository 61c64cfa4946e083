"""Tests that lessons hold for a time: a temporary trap opens again without an operator."""

from math import inf

import pytest

from goodbot.config import Settings
from goodbot.lesson_values import Lesson
from goodbot.robot.lessons.budgets import Budgets
from goodbot.robot.lessons.lessons_in_force import LessonsInForce
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.lessons.traps import Traps
from goodbot.url import Url
from robot.lessons.trap_sites import NAV, Tour, prose, random_of

DAY_S = 86400.0
ORIGIN = "http://example.org"


class Maintained:
    """Two hundred documents, which are all one page as long as the site is maintained."""

    def __init__(self) -> None:
        self.is_maintained = True

    def __call__(self, target: str) -> tuple[str, str, list[str]]:
        if target == "/":
            return "Documents", NAV, [f"/docs/{number}" for number in range(200)]
        if self.is_maintained:
            return "Maintenance", "We will be back soon.", ["/"]
        return f"Document {target}", prose(random_of(target), 80), ["/"]


async def test_a_folder_opens_again_when_its_maintenance_is_over() -> None:
    site = Maintained()
    tour = Tour(site)
    assert await tour.crawl(1000) == 41
    closed = tour.frontier.status().states["out-of-scope"]
    assert closed == 160
    site.is_maintained = False
    tour.clock.advance(DAY_S)
    assert await tour.crawl(1000) == 0
    tour.clock.advance(6 * DAY_S)
    assert await tour.crawl(1000) == closed
    assert [lesson.lapsed for lesson in tour.lessons] == [True]


async def test_a_folder_that_is_still_a_trap_is_closed_for_twice_as_long() -> None:
    tour = Tour(Maintained())
    assert await tour.crawl(1000) == 41
    for times in (2, 3):
        tour.clock.advance(DAY_S * 7 * 2 ** (times - 2))
        assert await tour.crawl(1000) == 40
        (lesson,) = tour.lessons
        assert (lesson.times, lesson.lapsed) == (times, False)
        assert lesson.until - lesson.at == pytest.approx(DAY_S * 7 * 2 ** (times - 1))


def lesson(kind: str, subject: str, until: float) -> Lesson:
    """A lesson of this site."""
    return Lesson("example.org", kind, f"{ORIGIN} {subject}", "because", 0.0, until)


@pytest.mark.parametrize(
    ("kind", "subject", "url"),
    [
        ("parameter", "sid", "/a?sid=1"),
        ("family", f"{ORIGIN}/gone/*", "/gone/one"),
        ("branch", f"{ORIGIN}/shop/?", "/shop/a?x=1"),
        ("budget", "spent", "/anything"),
        ("calendar", f"{ORIGIN}/cal?m=DATE 700000 739000", "/cal?m=2099-01"),
        ("mirror", "http://www.example.org", "/a"),
    ],
)
def test_each_kind_lapses(kind: str, subject: str, url: str) -> None:
    experience = SiteKnowledge(Settings(), lambda url, depth: True)
    experience.take([lesson(kind, subject, 100.0)])
    address = Url(ORIGIN + url)
    experience.look_again(99.0)
    assert experience.news() == []
    assert experience.refuse(address) is not None
    assert experience.lesson_about(address) == lesson(kind, subject, 100.0)
    experience.look_again(100.0)
    assert experience.refuse(address) is None
    assert experience.lesson_about(address) is None
    assert experience.news() == [lesson(kind, subject, 100.0)._replace(lapsed=True)]


def test_what_is_due_is_looked_for_once() -> None:
    known = LessonsInForce()
    assert known.lapse(1e9) == []
    known.take([lesson("family", "a", 100.0), lesson("family", "b", 500.0), lesson("family", "c", 1e6)])
    assert known.due_at == 100.0
    assert [item.about for item in known.lapse(490.0)] == [f"{ORIGIN} a"]
    assert known.due_at == 550.0  # not sooner than in a minute: all lessons are walked
    assert [item.about for item in known.lapse(550.0)] == [f"{ORIGIN} b"]
    assert known.due_at == 1e6
    assert known.times("family", f"{ORIGIN} a") == 1


def test_bounds_of_a_calendar_that_lapse_leave_the_others() -> None:
    known = LessonsInForce()
    narrow = lesson("calendar", f"{ORIGIN}/cal?m=DATE 700000 737000", 100.0)
    known.take([narrow, lesson("calendar", f"{ORIGIN}/cal?m=DATE 700000 739000", 900.0)])
    assert known.refuse(f"{ORIGIN}/cal?m=2020-01") is not None
    known.lapse(200.0)
    assert known.refuse(f"{ORIGIN}/cal?m=2020-01") is None
    assert known.refuse(f"{ORIGIN}/cal?m=2099-01") is not None
    assert known.times("calendar", narrow.about) == 1


def test_a_wrong_canonical_url_stays_known() -> None:
    traps = Traps(known := LessonsInForce(), Budgets(10))
    traps.teach(Url(f"{ORIGIN}/a"), "canonical", f"{ORIGIN}/c", "there is no page", 5.0)
    traps.lapse(1e12)
    assert known.is_known("canonical", ORIGIN, f"{ORIGIN}/c")
    assert [item.until for item in traps.news()] == [inf]
