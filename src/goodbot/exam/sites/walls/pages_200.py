"""Three pages behind a wall that answers 200."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = ("/shop/1", "/shop/2", "/shop/3")

SITE = ExamSite(
    name="wall-200",
    teaches="A wall may answer 200: a crawler neither answers the challenge nor asks for the page again at once.",
    source="Cloudflare, Detect a Challenge Page response: the header says so, not the status",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/b", *WALLED, title="Start")),
        **dict.fromkeys(WALLED, challenge(200)),
    },
    expects=(Finds(("/", "/a", "/b")), AtMostEach(3, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
