"""Lines that end as on the Macintosh of 1996."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-cr-only",
    teaches="A line may end with CR alone, with LF, or with both.",
    source="RFC 9309 2.2; Koster 1994",
    pages=pages(
        robots("# no line feed here\rUser-agent: *\rDisallow: /private\rDisallow: /secret\r"),
        "/a",
        "/private",
        "/secret",
    ),
    expects=(Never(("/private", "/secret")), Finds(("/", "/a"))),
)
