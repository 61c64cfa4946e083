"""Twelve pages behind a wall that answers 403."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds, InAnySpan
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = tuple(f"/shop/{number}" for number in range(1, 13))

SITE = ExamSite(
    name="wall-403",
    teaches="A wall refuses twelve pages with 403: a crawler does not repeat them, and fetches the open pages.",
    source="RFC 9110 15.5.4 (not to be repeated); Cloudflare, Detect a Challenge Page response",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", *WALLED, "/b", title="Start")),
        **dict.fromkeys(WALLED, challenge(403)),
    },
    expects=(
        Finds(("/", "/a", "/b")),
        AtMostEach(3, "/shop/*"),
        UNCLIMBED,
        InAnySpan(8, 3.0, rule="wall-slow"),
        NO_COOKIE,
    ),
)
