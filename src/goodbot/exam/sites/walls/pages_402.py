"""Three pages behind a wall that answers 402."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-402",
    teaches="A wall may ask for money, 402: a crawler goes on with the open pages, and does not repeat the others.",
    source="RFC 9110 15.5.3; Cloudflare, pay per crawl",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(402)),
    },
    expects=(Finds(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
