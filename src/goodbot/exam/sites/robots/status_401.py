"""robots.txt requires a password."""

from goodbot.exam.exam_values import TEXT, ExamSite, Reply, pages
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.sites.refused import OPEN_OR_CLOSED

ASKS = Reply(b"Who are you?", 401, (TEXT, ("WWW-Authenticate", 'Basic realm="robots"')))

SITE = ExamSite(
    name="robots-401",
    teaches="Treat a site whose robots.txt needs a password as open (RFC 9309) or closed (draft of 1996) throughout.",
    source="RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1; HTTP book 9.4",
    pages=pages(ASKS, "/a", "/b"),
    expects=(RobotsFirst(), OPEN_OR_CLOSED),
)
