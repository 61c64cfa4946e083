"""`$` at the end of a path pattern."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-end-of-match",
    teaches="`$` at the end of a rule stands for the end of the URL.",
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
        Never(("/end", "/paper.pdf")),
        Finds(("/", "/ending", "/end/more", "/paper.pdf?as=page")),
    ),
)
