"""A non-ASCII character is raw in one place and percent-encoded in the other."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-escapes-non-ascii",
    teaches="Treat a non-ASCII character and its percent-encoded UTF-8 bytes as the same.",
    source="RFC 9309 2.2.2, figure 4",
    pages=pages(
        robots("User-agent: *\nDisallow: /raw/ツ\nDisallow: /escaped/%E3%83%84\n"),
        "/raw/%E3%83%84",
        "/escaped/ツ",
        "/raw/open",
        "/escaped/open",
    ),
    expects=(
        DoesNotFetch(("/raw/%*", "/raw/\xe3*", "/escaped/%*", "/escaped/\xe3*")),
        Fetches(("/", "/raw/open", "/escaped/open")),
    ),
)
