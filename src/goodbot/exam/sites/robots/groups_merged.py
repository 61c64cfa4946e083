"""Two groups for all robots are separated by a group for another robot."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = """User-agent: *
Disallow: /first

User-agent: nobody-at-all
Disallow: /other

User-agent: *
Disallow: /second
"""

SITE = ExamSite(
    name="robots-groups-merged",
    teaches="Combine all groups for one robot, wherever they are in the file.",
    source="RFC 9309 2.2.1",
    pages=pages(robots(FILE), "/first", "/second", "/other"),
    expects=(DoesNotFetch(("/first", "/second")), Fetches(("/", "/other"))),
)
