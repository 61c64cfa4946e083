"""Tests dates in URLs, and endless calendars."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.robot.lessons.calendars import AHEAD_DAYS, DATES, Calendar, date_in

TODAY = date(2026, 11, 1).toordinal()


@pytest.mark.parametrize(
    ("target", "shape", "day"),
    [
        ("/calendar?month=2026-05", "/calendar?month=DATE", date(2026, 5, 1)),
        ("/2026/05/17/title", "/DATE/title", date(2026, 5, 17)),
        ("/events/2026/5", "/events/DATE", date(2026, 5, 1)),
        ("/day/20260517", "/day/DATE", date(2026, 5, 17)),
        ("/cal?year=2026&month=5", "/cal?year=DATE&month=DATE", date(2026, 5, 1)),
        ("/cal?m=5&y=2026&d=17", "/cal?m=DATE&y=DATE&d=DATE", date(2026, 5, 17)),
        ("/cal/year/2026/month/5", "/cal/year/DATE/month/DATE", date(2026, 5, 1)),
    ],
)
def test_a_date_is_found(target: str, shape: str, day: date) -> None:
    host = "http://2026-01.example.org"
    assert date_in(host + target) == (host + shape, day.toordinal())


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/2026",
        "/year/2026",
        "/item/202605",
        "/item/20261399",
        "/v/2026.13",
        "/1026-05",
        "/2026-02-30",
        "/12026-05",
    ],
)
def test_what_is_no_date(target: str) -> None:
    assert date_in("http://example.org" + target) is None


@given(st.text(alphabet="/?&=-_.0129ymdYear", max_size=60))
def test_no_address_makes_it_raise(target: str) -> None:
    date_in("http://example.org/" + target)


def visited(days: list[int], full: bool) -> Calendar:
    """A calendar of which these days were seen."""
    calendar = Calendar()
    for number, day in enumerate(days):
        calendar.visited(day, full or not number)
    return calendar


def test_months_that_say_nothing_end_a_calendar() -> None:
    months = [TODAY + 30 * n for n in range(DATES + 1)]
    bounds = visited(months, full=False).bounds(months[-1], TODAY)
    assert bounds is not None
    assert bounds[:2] == (TODAY - AHEAD_DAYS, TODAY + AHEAD_DAYS)
    assert visited(months[:-2], full=False).bounds(months[-3], TODAY) is None


def test_months_with_something_in_them_end_a_calendar_a_year_ahead() -> None:
    months = [TODAY + 30 * n for n in range(DATES)]
    calendar = visited(months, full=True)
    assert calendar.bounds(months[2], TODAY) is None
    assert calendar.bounds(months[-1], TODAY) == (
        1,
        TODAY + AHEAD_DAYS,
        f"{DATES} dates were visited, and the calendar does not end",
    )


def test_an_archive_of_the_past_is_never_ended() -> None:
    days = [TODAY - 30 * n for n in range(600)]
    assert visited(days, full=True).bounds(days[-1], TODAY) is None
