"""Two paths that differ in their case."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-case-of-paths",
    teaches="Paths are compared with their case: a rule for /Private says nothing of /private.",
    source="RFC 9309 2.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /Private\n"), "/Private", "/private"),
    expects=(Never(("/Private",)), Finds(("/", "/private"))),
)
