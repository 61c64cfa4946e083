"""Tests the count of URLs that lessons in force have left out."""

from pathlib import Path

import pytest

from goodbot.cli.lesson_text import left_out_line
from goodbot.lesson_values import LeftOut, Lesson
from goodbot.store.reports import left_out
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release

FAMILY = Lesson("a.example", "family", "https://a.example /x/", "x says the same", 1.0)
CALENDAR = Lesson("a.example", "calendar", "https://a.example /{day} 1 9", "days say the same", 1.0)
MIRROR = Lesson("b.example", "mirror", "https://b.example https://a.example", "b is a", 1.0)
OTHERS = [
    Lesson("a.example", "canonical", "https://a.example /wrong", "names a page by mistake", 1.0),
    Lesson("a.example", "budget", "https://a.example half", "has lost half", 1.0),
    Lesson("a.example", "branch", "https://a.example /y/", "y has lapsed", 1.0, lapsed=True),
    Lesson("c.example", "budget", "https://c.example spent", "has left out nothing", 1.0),
]
LEFT_OUT = {
    "https://a.example/x/1": FAMILY.evidence,
    "https://a.example/x/2": FAMILY.evidence,
    "https://a.example/2026-01-01": f"a trap: an endless calendar: {CALENDAR.evidence}",
    "https://a.example/y/1": "y has lapsed",
    "https://a.example/deep": "too deep",
    "https://b.example/1": MIRROR.evidence,
    "https://b.example/x/1": FAMILY.evidence,
    "https://c.example/1": FAMILY.evidence,
}


@pytest.fixture
def frontier(tmp_path: Path) -> SqliteFrontier:
    """Lessons, URLs left out when they were found, and one left out when it was leased."""
    frontier = SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True)
    later = Url("https://a.example/x/later")
    frontier.add([Discovery(later, 1)])
    frontier.lease(1, 1, 0.0)
    frontier.settle([Outcome(later, "out-of-scope", 1.0, FAMILY.evidence)], [Release("a.example", 0.0)])
    home = Url("https://a.example/")
    frontier.add(Discovery(Url(url), 1, home, refused) for url, refused in LEFT_OUT.items())
    frontier.add([Discovery(home, 0), Discovery(Url("https://c.example/"), 0)])
    frontier.save_lessons([FAMILY, CALENDAR, MIRROR, *OTHERS])
    return frontier


def test_by_lessons_in_force_that_leave_something_out(frontier: SqliteFrontier) -> None:
    with frontier:
        assert frontier.left_out(lambda lesson: True) == LeftOut(lessons=3, hosts=2, urls=5)
        assert frontier.left_out(lambda lesson: lesson.kind != "mirror") == LeftOut(2, 1, 4)
        assert frontier.left_out(lambda lesson: False) == LeftOut(0, 0, 0)
        frontier.drop_lessons([FAMILY])
        assert frontier.left_out(lambda lesson: True) == LeftOut(2, 2, 2)


def test_more_than_are_counted(frontier: SqliteFrontier, monkeypatch: pytest.MonkeyPatch) -> None:
    with frontier:
        of_a_and_b, of_c = 7 + 2, 2
        monkeypatch.setattr(left_out, "MAX_COUNTED", of_a_and_b + of_c)
        assert frontier.left_out(lambda lesson: True) == LeftOut(3, 2, 5)
        monkeypatch.setattr(left_out, "MAX_COUNTED", of_a_and_b + of_c - 1)
        assert frontier.left_out(lambda lesson: True) == LeftOut(lessons=4, hosts=3, urls=None)


def test_in_a_line() -> None:
    assert (
        left_out_line(LeftOut(14, 12, 3201)) == "3,201 URLs of 12 hosts were left out as traps or copies (14 lessons)"
    )
    assert left_out_line(LeftOut(1, 1, 1)) == "1 URL of 1 host was left out as traps or copies (1 lesson)"
    assert (
        left_out_line(LeftOut(2, 1, None))
        == "URLs of 1 host were left out as traps or copies (2 lessons; too many URLs to count)"
    )
