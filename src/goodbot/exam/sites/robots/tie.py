"""The same path is allowed and disallowed."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-tie",
    teaches="Prefer Allow when an Allow and a Disallow rule of the same length match.",
    source="RFC 9309 2.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /same\nAllow: /same\nDisallow: /private\n"), "/same/page", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/same/page"))),
)
