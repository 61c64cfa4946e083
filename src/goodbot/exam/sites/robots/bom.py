"""A byte order mark before the first line."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-bom",
    teaches="A byte order mark at the start of robots.txt is no part of the first line.",
    source="RFC 3629 6; Google, robots.txt, file format",
    pages=pages(robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /private\n"), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
