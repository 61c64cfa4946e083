"""robots.txt is refused."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.sites.refused import EITHER

SITE = ExamSite(
    name="robots-403",
    teaches="A refused robots.txt: by RFC 9309 the site is open, by the draft of 1996 closed; both right.",
    source="RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1; HTTP book 9.4",
    pages=pages(robots("Forbidden\n", 403), "/a", "/b"),
    expects=(RobotsFirst(), EITHER),
)
