"""There are blank lines in the middle of a group; in 1994 a blank line ended a group."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-blank-lines",
    teaches="Ignore blank lines inside a group: it goes on until the next User-agent line after a rule.",
    source="RFC 9309 2.2; Koster 1994 says otherwise",
    pages=pages(robots("User-agent: *\n\nDisallow: /private\n\n\nDisallow: /secret\n"), "/a", "/private", "/secret"),
    expects=(DoesNotFetch(("/private", "/secret")), Fetches(("/", "/a"))),
)
