"""Three pages are behind a wall that answers 402."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-402",
    teaches="Go on with the open pages when a wall demands payment (402), and do not repeat the others.",
    source="RFC 9110 15.5.3; Cloudflare, pay per crawl",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(402)),
    },
    expects=(Fetches(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), CHALLENGE_UNANSWERED, NO_COOKIE),
)
