"""A rule stands before any User-agent line."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-rule-of-nobody",
    teaches="A rule before the first User-agent line applies to no robot.",
    source="RFC 9309 2.1",
    pages=pages(robots("Disallow: /\n\nUser-agent: *\nDisallow: /private\n"), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
