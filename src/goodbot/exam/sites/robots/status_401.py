"""robots.txt asks for a password."""

from goodbot.exam.expectations import Finds
from goodbot.exam.values import TEXT, Reply, Site, pages

ASKS = Reply(b"Who are you?", 401, (TEXT, ("WWW-Authenticate", 'Basic realm="robots"')))

SITE = Site(
    name="robots-401",
    teaches="A robots.txt behind a password is unavailable: the rest of the site is open.",
    source="RFC 9309 2.3.1.3",
    pages=pages(ASKS, "/a", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
)
