"""Crawl-delay asks for two seconds between requests."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Fetches, MinimumGap

SITE = ExamSite(
    name="robots-crawl-delay",
    teaches="Wait as many seconds between two requests as Crawl-delay says.",
    source="Bing 2012; RFC 9309 2.2.4 (other records)",
    pages=pages(robots("User-agent: *\nCrawl-delay: 2\nDisallow:\n"), "/a", "/b", "/c"),
    expects=(MinimumGap(2.0), Fetches(("/", "/a", "/b", "/c"))),
)
