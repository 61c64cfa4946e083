"""What expectations make of times, visits, escapes and origins."""

import pytest

from goodbot.exam.card import judge_site
from goodbot.exam.card_report import request_line
from goodbot.exam.conduct import judge_drive
from goodbot.exam.exam_values import ExamRequest, Expectation, Observed
from goodbot.exam.expectations import (
    AtMost,
    DoesNotFetch,
    Fetches,
    MinimumGap,
    RobotsFirst,
    WaitsAfterStatus,
    WaitsForRobotsTxt,
)
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
        (MinimumGap(2.0), [asked("/a", 0), asked("/a", 2.1, visit=2), asked("/b", 3.1, visit=2)], "wait was 1.0 s"),
        (MinimumGap(2.0), [asked("/a", 0), asked("/a", 0.1, visit=2)], None),
        (MinimumGap(2.0), [asked("/a", 1, unread_s=1), asked("/b", 2)], None),  # the examiner was late
        (MinimumGap(2.0), [asked("/a", 1, unread_s=0.5), asked("/b", 2)], "wait was 1.5 s"),
        (MinimumGap(2.0), [asked("/a", 0), asked("/b", 1.5, unread_s=1)], "wait was 1.5 s"),
        (WaitsAfterStatus(2.0, (429,)), [asked("/a", 0, ends=0.1, status=429), asked("/b", 0.2, unread_s=0.15)], None),
        (
            WaitsAfterStatus(2.0, (429,)),
            [asked("/a", 0, ends=0.1, status=429), asked("/b", 0.2, unread_s=0.05)],
            "sent the next request",
        ),
        (WaitsAfterStatus(2.0, (429,)), [asked("/a", 0, status=429), asked("/a", 0.1, visit=2)], None),
        (
            WaitsAfterStatus(2.0, (429,)),
            [asked("/a", 0, status=429), asked("/a", 1)],
            "sent the next request after 1.0 s",
        ),
        (RobotsFirst(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.05)], None),
        (RobotsFirst(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.04)], "before robots.txt was answered"),
        (WaitsForRobotsTxt(), [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.05)], None),
        (
            WaitsForRobotsTxt(),
            [asked("/robots.txt", 0, ends=0.05), asked("/a", 0.04)],
            "before robots.txt was answered with 200",
        ),
        (Fetches(("/%D0%B0",)), [asked("/%d0%B0", 0)], None),
        (Fetches(("/%d0",)), [asked("/%D0", 0)], None),
        (Fetches(("/%D0",)), [asked("/%D1", 0)], "did not fetch /%D0"),
        (DoesNotFetch(("/%d0/*",)), [asked("/%D0/a", 0)], "fetched /%D0/a"),
        (DoesNotFetch(("/%D0/*",)), [asked("/%d0/a", 0)], "fetched /%d0/a"),
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
        "fetches robots.txt first (main origin); does not fetch /garden (main origin); "
        "fetches /, /house (main origin); fetches robots.txt first (other origin); "
        "does not fetch /house (other origin); fetches /garden (other origin)"
    )
    assert card.observed == (
        "fetched /house before robots.txt was answered (other origin); fetched /house (other origin); "
        "did not fetch /garden (other origin)"
    )
    assert card.offending is offending
    assert request_line(offending, 1.0) == "GET /house (other origin), 2.00 s after the start"
    drive = judge_drive({"robots-each-origin": Observed(requests)}, [], None)
    assert "at robots-each-origin (other origin) it fetched /house" in drive.observed
