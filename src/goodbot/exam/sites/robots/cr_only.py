"""Lines end with CR alone, as on the Macintosh of 1996."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-cr-only",
    teaches="Accept lines in robots.txt that end with CR alone, with LF, or with both.",
    source="RFC 9309 2.2; Koster 1994",
    pages=pages(
        robots("# no line feed here\rUser-agent: *\rDisallow: /private\rDisallow: /secret\r"),
        "/a",
        "/private",
        "/secret",
    ),
    expects=(DoesNotFetch(("/private", "/secret")), Fetches(("/", "/a"))),
)
