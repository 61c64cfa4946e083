"""Letters and `~` escaped on one side only."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-escapes-unreserved",
    teaches="`%7E` and `~` are the same, and so is every escaped letter: in the rule, in the link, or in both.",
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
        Never(("/~joe/*", "/%7[Ee]joe/*", "/~ann/*", "/%7[Ee]ann/*", "/foo/bar/baz")),
        Finds(("/", "/joe/paper", "/foo/bar/ba")),
    ),
)
