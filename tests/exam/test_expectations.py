"""What expectations make of times, visits, escapes and origins."""

import pytest

from goodbot.exam.card import judge_site
from goodbot.exam.card_report import request_line
from goodbot.exam.conduct import judge_drive
from goodbot.exam.exam_values import ExamRequest, Expectation, Observed
from goodbot.exam.expectations import AtMost, Finds, MinimumGap, Never, OnceAnswered, RobotsFirst, Waits
from goodbot.exam.sites.robots.each_origin import SITE as EACH_ORIGIN


def asked(
    target: str,
    at: float,
    *,
    ends: float | None = None,
    visit: int = 1,
    status: int = 200,
    of: str = "",
    unread_s: float = 0.0,
) -> ExamRequest:
    agent = (("User-Agent", "SomeBot/1.0 (+https://bot.example/)"),)
    return ExamRequest(of, "GET", target, agent, 1, at, visit, at if ends is None else ends, status, 0, unread_s)


@pytest.mark.parametrize(
    ("expectation", "requests", "observed"),
    [
        (MinimumGap(2.0), [asked("/a", 0), asked("/b", 2), asked("/a", 2.1, visit=2), asked("/b", 4.1, visit=2)], None),
        (MinimumGap(2.0), [asked("/a", 0), asked("/a", 2.1, visit=2), asked("/b", 3.1, visit=2)], "pause was 1.0 s"),
        (MinimumGap(2.0), [asked("/a", 0), asked("/a", 0.1, visit=2)], None),
        (MinimumGap(2.0), [asked("/a", 1, unread_s=1), asked("/b", 2)], None),  # the examiner was late
        (MinimumGap(2.0), [asked("/a", 1, unread_s=0.5), asked("/b", 2)], "pause was 1.5 s"),
        (MinimumGap(2.0), [asked("/a", 0), asked("/b", 1.5, unread_s=1)], "pause was 1.5 s"),
        (Waits(2.0, (429,)), [asked("/a", 0, ends=0.1, status=429), asked("/b", 0.2, unread_s=0.15)], None),
        (Waits(2.0, (429,)), [asked("/a", 0, ends=0.1, status=429), asked("/b", 0.2, unread_s=0.05)], "came back"),
        (Waits(2.0, (429,)), [asked("/a", 0, status=429), asked("/a", 0.1, visit=2)], None),
        (Waits(2.0, (429,)), [asked("/a", 0, status=429), asked("/a", 1)], "came back after 1.0 s"),
        (RobotsFirst(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.05)], None),
        (RobotsFirst(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.04)], "before robots.txt was answered"),
        (OnceAnswered(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.05)], None),
        (OnceAnswered(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.04)], "before robots.txt answered"),
        (Finds(("/%D0%B0",)), [asked("/%d0%B0", 0)], None),
        (Finds(("/%d0",)), [asked("/%D0", 0)], None),
        (Finds(("/%D0",)), [asked("/%D1", 0)], "never asked for /%D0"),
        (Never(("/%d0/*",)), [asked("/%D0/a", 0)], "asked for /%D0/a"),
        (Never(("/%D0/*",)), [asked("/%d0/a", 0)], "asked for /%d0/a"),
        (AtMost(1, "/%D0*"), [asked("/%d0", 0), asked("/%D0", 1)], "2 requests"),
    ],
)
def test_what_is_judged(expectation: Expectation, requests: list[ExamRequest], observed: str | None) -> None:
    judgement = expectation.judge(Observed(tuple(requests), visits=2))
    assert judgement.passed is (observed is None)
    assert (observed or "") in judgement.observed


def test_a_site_with_several_origins_names_them() -> None:
    offending = asked("/house", 3, of="other")
    requests = (asked("/robots.txt", 0), asked("/", 1), asked("/house", 2), offending)
    card = judge_site(EACH_ORIGIN, Observed(requests))
    assert card.expected == (
        "asks for robots.txt first (its own origin); never asks for /garden (its own origin); "
        "asks for /, /house (its own origin); asks for robots.txt first (its other origin); "
        "never asks for /house (its other origin); asks for /garden (its other origin)"
    )
    assert card.observed == (
        "asked for /house before robots.txt was answered (its other origin); asked for /house (its other origin); "
        "never asked for /garden (its other origin)"
    )
    assert card.offending is offending
    assert request_line(offending, 1.0) == "GET /house (its other origin), 2.00 s after the start"
    drive = judge_drive({"robots-each-origin": Observed(requests)}, [], None)
    assert "at robots-each-origin (its other origin) it asked for /house" in drive.observed
