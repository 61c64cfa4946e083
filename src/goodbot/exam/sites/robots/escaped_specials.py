"""`*` and `$` themselves, escaped in the rule as the standard shows it."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-escaped-specials",
    teaches="`%2A` and `%24` in a rule are the characters `*` and `$` of the URL, and no wildcards.",
    source="RFC 9309 2.2.3",
    pages=pages(
        robots("User-agent: *\nDisallow: /file-with-a-%2A.html\nDisallow: /price-%24\n"),
        "/file-with-a-*.html",
        "/file-with-a-b.html",
        "/price-$9",
        "/price-9",
    ),
    expects=(
        Never(("/file-with-a-[*].html", "/file-with-a-%2[Aa].html", "/price-$9", "/price-%249")),
        Finds(("/", "/file-with-a-b.html", "/price-9")),
    ),
)
