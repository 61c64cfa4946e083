"""Disallow without a value."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds

SITE = ExamSite(
    name="robots-disallow-nothing",
    teaches="`Disallow:` without a path closes nothing.",
    source="Koster 1994; RFC 9309 2.2 (empty-pattern)",
    pages=pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
)
