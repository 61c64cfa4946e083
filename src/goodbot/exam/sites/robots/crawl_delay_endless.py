"""Crawl-delay asks for 32 years between requests."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import MinimumGap, RobotsFirst

DELAY_S = 1_000_000_000

SITE = ExamSite(
    name="robots-crawl-delay-endless",
    teaches="Leave after one page if Crawl-delay is 1000000000 seconds, and do not crawl faster instead.",
    source="Bing 2012; RFC 9309 2.2.4 (other records)",
    pages=pages(robots(f"User-agent: *\nCrawl-delay: {DELAY_S}\nDisallow:\n"), "/a", "/b"),
    expects=(RobotsFirst(), MinimumGap(DELAY_S)),
)
