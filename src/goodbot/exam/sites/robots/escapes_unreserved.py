"""Letters and `~` are escaped on one side only."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-escapes-unreserved",
    teaches="Treat `%7E` and `~`, and every escaped letter, as the same in rules and in links.",
    source="RFC 9309 2.2.2, figure 4; Koster 1996 3.2.2",
    pages=pages(
        robots("User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /~ann/\nDisallow: /foo/bar/%62%61%7A\n"),
        "/~joe/draft",
        "/%7Eann/draft",
        "/foo/bar/baz",
        "/joe/paper",
        "/foo/bar/ba",
    ),
    expects=(
        DoesNotFetch(("/~joe/*", "/%7[Ee]joe/*", "/~ann/*", "/%7[Ee]ann/*", "/foo/bar/baz")),
        Fetches(("/", "/joe/paper", "/foo/bar/ba")),
    ),
)
