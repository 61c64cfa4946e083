"""Three pages behind a wall that answers 202."""

from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge
from goodbot.exam.values import Site, page, pages, robots

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = Site(
    name="wall-202",
    teaches="A wall may answer 202: a crawler does not take that for a page, and does not come back again and again.",
    source="RFC 9110 15.3.3; AWS WAF answers 202 with its challenge",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(202)),
    },
    expects=(Finds(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
