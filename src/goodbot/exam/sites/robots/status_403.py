"""robots.txt is refused."""

from goodbot.exam.expectations import Finds
from goodbot.exam.values import Site, pages, robots

SITE = Site(
    name="robots-403",
    teaches="A refused robots.txt is unavailable: today the site is open, in 1996 it was closed.",
    source="RFC 9309 2.3.1.3; Koster 1996 3.1 says otherwise",
    pages=pages(robots("Forbidden\n", 403), "/a", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
)
