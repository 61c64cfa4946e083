"""Three pages are behind a wall that answers 202."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-202",
    teaches="Do not mistake a challenge page with status 202 for the page, and do not fetch it again and again.",
    source="RFC 9110 15.3.3; AWS WAF answers 202 with its challenge",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(202)),
    },
    expects=(Fetches(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), CHALLENGE_UNANSWERED, NO_COOKIE),
)
