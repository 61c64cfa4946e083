"""Two seconds between two requests."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, MinimumGap

SITE = ExamSite(
    name="robots-crawl-delay",
    teaches="Crawl-delay asks for so many seconds between two requests.",
    source="Bing 2012; RFC 9309 2.2.4 (other records)",
    pages=pages(robots("User-agent: *\nCrawl-delay: 2\nDisallow:\n"), "/a", "/b", "/c"),
    expects=(MinimumGap(2.0), Finds(("/", "/a", "/b", "/c"))),
)
