"""Tests the lines of `goodbot why` about the events of a URL."""

import pytest

from goodbot.cli.why import event_line
from goodbot.values import Event

AT = 1_795_000_000.0
TIME = "2026-11-18 11:06:40 UTC"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Event(AT, "settle", "rest", "62.0 s until the next request"),
            "settle     delay: 62.0 s until the next request",
        ),
        (Event(AT, "found", "known", "linked from http://a.example/"), "found      linked from http://a.example/"),
        (Event(AT, "fetch", "200", "0.1 s"), "fetch      200: 0.1 s"),
        (
            Event(AT, "permission", "disallowed", "Disallow: / (line 5) is the only match", 5),
            "permission disallowed: Disallow: / (line 5) is the only match",
        ),
        (
            Event(AT, "permission", "disallowed", "Disallow: / (line 5) is the only match", 7),
            "permission disallowed: Disallow: / (line 5) is the only match (line 7 of robots.txt)",
        ),
        (Event(AT, "permission", "allowed", "no rule", 2), "permission allowed: no rule (line 2 of robots.txt)"),
    ],
)
def test_event_lines(event: Event, line: str) -> None:
    assert event_line(event) == f"  {TIME}  {line}"
