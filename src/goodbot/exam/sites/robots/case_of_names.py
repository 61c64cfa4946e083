"""Field names are written in capitals, small letters and a mix of both."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-case-of-names",
    teaches="Read field names such as User-agent and Disallow in any letter case.",
    source="RFC 9309 2.2; RFC 5234 2.3",
    pages=pages(
        robots("USER-AGENT: *\nDISALLOW: /private\ndisallow: /secret\naLLOW: /private/open\n"),
        "/private",
        "/secret",
        "/private/open",
    ),
    expects=(DoesNotFetch(("/private", "/secret")), Fetches(("/", "/private/open"))),
)
