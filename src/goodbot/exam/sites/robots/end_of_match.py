"""`$` at the end of a path pattern."""

from goodbot.exam.expectations import Finds, Never
from goodbot.exam.values import Site, pages, robots

SITE = Site(
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
