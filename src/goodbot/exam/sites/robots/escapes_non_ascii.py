"""A character beyond ASCII, raw in one place and escaped in the other."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-escapes-non-ascii",
    teaches="A character beyond ASCII and its escaped UTF-8 octets are the same.",
    source="RFC 9309 2.2.2, figure 4",
    pages=pages(
        robots("User-agent: *\nDisallow: /raw/ツ\nDisallow: /escaped/%E3%83%84\n"),
        "/raw/%E3%83%84",
        "/escaped/ツ",
        "/raw/open",
        "/escaped/open",
    ),
    expects=(
        Never(("/raw/%*", "/raw/\xe3*", "/escaped/%*", "/escaped/\xe3*")),
        Finds(("/", "/raw/open", "/escaped/open")),
    ),
)
