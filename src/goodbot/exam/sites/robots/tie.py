"""The same path is allowed and disallowed."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-tie",
    teaches="Of two rules of the same length Allow counts.",
    source="RFC 9309 2.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /same\nAllow: /same\nDisallow: /private\n"), "/same/page", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/same/page"))),
)
