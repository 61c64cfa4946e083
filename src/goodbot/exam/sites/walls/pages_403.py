"""Twelve pages are behind a wall that answers 403."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, AtMostInAnySpan, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = tuple(f"/shop/{number}" for number in range(1, 13))

SITE = ExamSite(
    name="wall-403",
    teaches="Fetch the open pages when a wall refuses twelve others with 403, and do not repeat those.",
    source="RFC 9110 15.5.4 (do not repeat the request); Cloudflare, Detect a Challenge Page response",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", *WALLED, "/b", title="Start")),
        **dict.fromkeys(WALLED, challenge(403)),
    },
    expects=(
        Fetches(("/", "/a", "/b")),
        AtMostEach(3, "/shop/*"),
        CHALLENGE_UNANSWERED,
        AtMostInAnySpan(8, 3.0, rule="wall-slow"),
        NO_COOKIE,
    ),
)
