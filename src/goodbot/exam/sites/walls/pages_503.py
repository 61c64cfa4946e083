"""Three pages are behind a wall that always answers 503."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-503",
    teaches="Give up on a page after a few tries when a wall keeps answering 503.",
    source="RFC 9110 15.6.4",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(503)),
    },
    expects=(Fetches(("/", "/a", "/b")), AtMostEach(10, "/shop/*"), CHALLENGE_UNANSWERED, NO_COOKIE),
)
