"""Counting outcomes: rates, active hosts, errors by kind."""

from dataclasses import replace

import pytest

from goodbot.robot.crawl.statistics import (
    ACTIVE_HOST_S,
    MAX_KINDS,
    MAX_LATEST_ERRORS,
    MAX_WHY_CHARS,
    RATE_WINDOW_S,
    CrawlStatistics,
    error_kind_of,
)
from goodbot.url import Url
from goodbot.values import Event, Outcome, State


def outcome(state: State, status: int | None = None, fetch: str = "", host: str = "a.example") -> Outcome:
    events = (Event(0.0, "fetch", fetch, ""),) if fetch else ()
    return Outcome(Url(f"http://{host}/"), state, 0.0, "why", status=status, size_bytes=10, events=events)


KINDS = [
    ("a page", outcome("visited", 200, "200"), None),
    ("a redirect", outcome("visited", 301, "301"), None),
    ("gone", outcome("gone", 404, "404"), "404"),
    ("forbidden", outcome("failed", 403, "403"), "403"),
    ("a bot wall", replace(outcome("failed", 200, "200"), why="wall: Cloudflare (status 200)"), "wall"),
    ("busy, once more", outcome("ready", 503, "503"), "503"),
    ("no answer, once more", outcome("ready", None, "timeout"), "timeout"),
    ("no name", outcome("failed", None, "dns"), "dns"),
    ("robots.txt cannot be had", outcome("ready"), "robots.txt"),
    ("disallowed", outcome("disallowed"), None),
    ("out of scope", outcome("out-of-scope", 200, "200"), None),
]


@pytest.mark.parametrize(("made", "kind"), [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])
def test_kinds(made: Outcome, kind: str | None) -> None:
    assert error_kind_of(made) == kind


def test_rates() -> None:
    tally = CrawlStatistics(100.0)
    assert tally.rates(100.0) == (0.0, 0.0)
    for second in range(1, 41):
        for _ in range(20 if second <= 20 else 5):
            tally.observe(outcome("visited", 200), 100.0 + second)
        now, mean = tally.rates(100.0 + second)
    assert now == pytest.approx(5.0)
    assert mean == pytest.approx((20 * 20 + 20 * 5) / 40)
    assert tally.rates(140.0 + 2 * RATE_WINDOW_S)[0] < 5.0


def test_hosts_in_play() -> None:
    tally = CrawlStatistics(0.0)
    tally.observe(outcome("visited", 200, host="a.example"), 0.0)
    tally.observe(outcome("visited", 200, host="b.example"), 50.0)
    assert tally.hosts(50.0) == 2
    assert tally.hosts(ACTIVE_HOST_S + 1) == 1
    tally.observe(outcome("visited", 200, host="b.example"), 100.0)
    assert tally.hosts(150.0) == 1


def test_errors_and_the_last_of_them() -> None:
    tally = CrawlStatistics(0.0)
    for _ in range(MAX_LATEST_ERRORS):
        tally.observe(outcome("gone", 404), 1.0)
    long = Outcome(Url("http://a.example/"), "failed", 7.0, "x" * 10_000, events=(Event(7.0, "fetch", "dns", ""),))
    tally.observe(long, 2.0)
    assert tally.errors(5) == (("404", MAX_LATEST_ERRORS), ("dns", 1))
    assert tally.errors(1) == (("404", MAX_LATEST_ERRORS),)
    last = tally.troubles(5)
    assert (len(last), last[0].kind, len(last[0].why)) == (MAX_LATEST_ERRORS, "dns", MAX_WHY_CHARS)
    assert (tally.pages, tally.bytes) == (0, 10 * MAX_LATEST_ERRORS)


def test_each_of_the_largest_kinds_keeps_its_latest_example() -> None:
    tally = CrawlStatistics(0.0)
    for at in (1.0, 2.0):
        tally.observe(outcome("gone", 404), at)
    for status in range(500, 500 + 2 * MAX_KINDS):
        tally.observe(outcome("failed", status), 3.0)
    assert [error.kind for error in tally.troubles(1)][-1] != "404"  # its example made room for newer kinds
    tally.observe(outcome("gone", 404), 4.0)
    for _ in range(MAX_LATEST_ERRORS):
        tally.observe(outcome("failed", 503), 5.0)
    assert [error.kind for error in tally.troubles(2)] == ["503"] * MAX_LATEST_ERRORS + ["404"]
