"""Three pages behind a wall that answers 202."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-202",
    teaches="A wall may answer 202: a crawler does not take that for a page, and does not come back again and again.",
    source="RFC 9110 15.3.3; AWS WAF answers 202 with its challenge",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(202)),
    },
    expects=(Finds(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
