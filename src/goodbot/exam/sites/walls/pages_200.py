"""Three pages are behind a wall that answers 200."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-200",
    teaches="Leave a challenge page unanswered even if its status is 200, and do not fetch the page again at once.",
    source="Cloudflare, Detect a Challenge Page response: the header says so, not the status",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(200)),
    },
    expects=(Fetches(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), CHALLENGE_UNANSWERED, NO_COOKIE),
)
