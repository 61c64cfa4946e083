"""robots.txt asks for a password."""

from goodbot.exam.exam_values import TEXT, ExamSite, Reply, pages
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.sites.refused import EITHER

ASKS = Reply(b"Who are you?", 401, (TEXT, ("WWW-Authenticate", 'Basic realm="robots"')))

SITE = ExamSite(
    name="robots-401",
    teaches="A robots.txt behind a password: by RFC 9309 the site is open, by the draft of 1996 closed; both right.",
    source="RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1; HTTP book 9.4",
    pages=pages(ASKS, "/a", "/b"),
    expects=(RobotsFirst(), EITHER),
)
