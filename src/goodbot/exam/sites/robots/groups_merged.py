"""Two groups for all robots, and one for another between them."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = """User-agent: *
Disallow: /first

User-agent: nobody-at-all
Disallow: /other

User-agent: *
Disallow: /second
"""

SITE = ExamSite(
    name="robots-groups-merged",
    teaches="All groups of one robot count together, wherever they stand.",
    source="RFC 9309 2.2.1",
    pages=pages(robots(FILE), "/first", "/second", "/other"),
    expects=(Never(("/first", "/second")), Finds(("/", "/other"))),
)
