"""A rule comes before the first User-agent line."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-rule-of-nobody",
    teaches="Ignore rules before the first User-agent line.",
    source="RFC 9309 2.1",
    pages=pages(robots("Disallow: /\n\nUser-agent: *\nDisallow: /private\n"), "/a", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
