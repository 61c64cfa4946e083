"""Path patterns end with `$`."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-end-of-match",
    teaches="Read `$` at the end of a rule as the end of the URL.",
    source="RFC 9309 2.2.3",
    pages=pages(
        robots("User-agent: *\nDisallow: /end$\nDisallow: /*.pdf$\n"),
        "/end",
        "/ending",
        "/end/more",
        "/paper.pdf",
        "/paper.pdf?as=page",
    ),
    expects=(
        DoesNotFetch(("/end", "/paper.pdf")),
        Fetches(("/", "/ending", "/end/more", "/paper.pdf?as=page")),
    ),
)
