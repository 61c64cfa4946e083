"""Two paths differ only in letter case."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-case-of-paths",
    teaches="Compare paths case-sensitively: a rule for /Private does not apply to /private.",
    source="RFC 9309 2.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /Private\n"), "/Private", "/private"),
    expects=(DoesNotFetch(("/Private",)), Fetches(("/", "/private"))),
)
