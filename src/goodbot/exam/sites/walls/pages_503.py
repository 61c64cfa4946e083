"""Three pages behind a wall that answers 503, for good."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-503",
    teaches="A wall may answer 503 for good: a crawler gives such a page up after a few tries.",
    source="RFC 9110 15.6.4",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(503)),
    },
    expects=(Finds(("/", "/a", "/b")), AtMostEach(10, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
