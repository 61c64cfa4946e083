"""Records that are no rules stand between two User-agent lines."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = """User-agent: *
Sitemap: @@/sitemap.xml
Unheard-of: yes
User-agent: nobody-at-all
Disallow: /private
"""

SITE = ExamSite(
    name="robots-other-records",
    teaches="Sitemap and unknown records do not split a group.",
    source="RFC 9309 2.2.4; Google, robots.txt, grouping of lines",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
