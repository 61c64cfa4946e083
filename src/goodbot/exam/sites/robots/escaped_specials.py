"""Rules contain `*` and `$` as plain characters, escaped as the standard shows."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-escaped-specials",
    teaches="Read `%2A` and `%24` in a rule as the characters `*` and `$` of a URL, not as wildcards.",
    source="RFC 9309 2.2.3",
    pages=pages(
        robots("User-agent: *\nDisallow: /file-with-a-%2A.html\nDisallow: /price-%24\n"),
        "/file-with-a-*.html",
        "/file-with-a-b.html",
        "/price-$9",
        "/price-9",
    ),
    expects=(
        DoesNotFetch(("/file-with-a-[*].html", "/file-with-a-%2[Aa].html", "/price-$9", "/price-%249")),
        Fetches(("/", "/file-with-a-b.html", "/price-9")),
    ),
)
