"""Three pages behind a wall that answers 429, for good, and says when to come again."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds, Waits
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")
WAIT_S = 2

SITE = ExamSite(
    name="wall-429",
    teaches="A wall may answer 429 for good: a crawler keeps Retry-After and gives such a page up after a few tries.",
    source="RFC 6585 4; RFC 9110 10.2.3",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(429, WAIT_S)),
    },
    expects=(Waits(WAIT_S, (429,)), Finds(("/", "/a", "/b")), AtMostEach(10, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
