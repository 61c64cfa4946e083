"""600 KiB, and the rule that matters stands shortly before 500 KiB."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never


def filler(first: int, count: int) -> str:
    """`count` rules of 100 bytes that match nothing here."""
    return "".join(f"Disallow: /filler/{number:05}/{'x' * 75}\n" for number in range(first, first + count))


FILE = "User-agent: *\n" + filler(0, 5110) + "Disallow: /private\n" + filler(5110, 1034)

SITE = ExamSite(
    name="robots-large-rule-before-limit",
    teaches="At least the first 500 KiB of a robots.txt are read, and what stands there rules.",
    source="RFC 9309 2.5",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
