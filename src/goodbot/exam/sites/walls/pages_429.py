"""Three pages are behind a wall that always answers 429, with Retry-After."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches, WaitsAfterStatus
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")
WAIT_S = 2

SITE = ExamSite(
    name="wall-429",
    teaches="Obey Retry-After when a wall keeps answering 429, and give up on the page after a few tries.",
    source="RFC 6585 4; RFC 9110 10.2.3",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(429, WAIT_S)),
    },
    expects=(
        WaitsAfterStatus(WAIT_S, (429,)),
        Fetches(("/", "/a", "/b")),
        AtMostEach(10, "/shop/*"),
        CHALLENGE_UNANSWERED,
        NO_COOKIE,
    ),
)
