"""robots.txt begins with a byte order mark."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-bom",
    teaches="Ignore a byte order mark at the start of robots.txt.",
    source="RFC 3629 6; Google, robots.txt, file format",
    pages=pages(robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /private\n"), "/a", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
