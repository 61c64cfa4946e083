"""robots.txt has 600 KiB, and the rule that matters comes shortly before 500 KiB."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches


def filler(first: int, count: int) -> str:
    """Returns `count` rules of 100 bytes each that match no page of the site."""
    return "".join(f"Disallow: /filler/{number:05}/{'x' * 75}\n" for number in range(first, first + count))


FILE = "User-agent: *\n" + filler(0, 5110) + "Disallow: /private\n" + filler(5110, 1034)

SITE = ExamSite(
    name="robots-large-rule-before-limit",
    teaches="Read at least the first 500 KiB of robots.txt, and obey every rule in them.",
    source="RFC 9309 2.5",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
