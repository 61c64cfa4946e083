"""A Disallow line has no value."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Fetches

SITE = ExamSite(
    name="robots-disallow-nothing",
    teaches="Treat `Disallow:` without a path as no restriction.",
    source="Koster 1994; RFC 9309 2.2 (empty-pattern)",
    pages=pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b"),
    expects=(Fetches(("/", "/a", "/b")),),
)
