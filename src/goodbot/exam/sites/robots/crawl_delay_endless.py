"""A Crawl-delay of 32 years."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import MinimumGap, RobotsFirst

DELAY_S = 1_000_000_000

SITE = ExamSite(
    name="robots-crawl-delay-endless",
    teaches="Crawl-delay: 1000000000 leaves time for one page: a crawler does not ask faster; it leaves.",
    source="Bing 2012; RFC 9309 2.2.4 (other records)",
    pages=pages(robots(f"User-agent: *\nCrawl-delay: {DELAY_S}\nDisallow:\n"), "/a", "/b"),
    expects=(RobotsFirst(), MinimumGap(DELAY_S)),
)
