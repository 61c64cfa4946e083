"""Records in capitals and in small letters."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-case-of-names",
    teaches="The names of records are read in any case.",
    source="RFC 9309 2.2; RFC 5234 2.3",
    pages=pages(
        robots("USER-AGENT: *\nDISALLOW: /private\ndisallow: /secret\naLLOW: /private/open\n"),
        "/private",
        "/secret",
        "/private/open",
    ),
    expects=(Never(("/private", "/secret")), Finds(("/", "/private/open"))),
)
