"""robots.txt is forbidden."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.sites.refused import OPEN_OR_CLOSED

SITE = ExamSite(
    name="robots-403",
    teaches="Treat a site whose robots.txt is forbidden as open (RFC 9309) or closed (draft of 1996) throughout.",
    source="RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1; HTTP book 9.4",
    pages=pages(robots("Forbidden\n", 403), "/a", "/b"),
    expects=(RobotsFirst(), OPEN_OR_CLOSED),
)
