"""Two User-agent lines have lines between them that are not rules."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = """User-agent: *
Sitemap: @@/sitemap.xml
Unheard-of: yes
User-agent: nobody-at-all
Disallow: /private
"""

SITE = ExamSite(
    name="robots-other-records",
    teaches="Do not let a Sitemap line or an unknown line split a group.",
    source="RFC 9309 2.2.4; Google, robots.txt, grouping of lines",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
