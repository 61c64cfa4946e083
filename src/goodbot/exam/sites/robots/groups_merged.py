"""Two groups for all robots, and one for another between them."""

from goodbot.exam.expectations import Finds, Never
from goodbot.exam.values import Site, pages, robots

FILE = """User-agent: *
Disallow: /first

User-agent: nobody-at-all
Disallow: /other

User-agent: *
Disallow: /second
"""

SITE = Site(
    name="robots-groups-merged",
    teaches="All groups of one robot count together, wherever they stand.",
    source="RFC 9309 2.2.1",
    pages=pages(robots(FILE), "/first", "/second", "/other"),
    expects=(Never(("/first", "/second")), Finds(("/", "/other"))),
)
