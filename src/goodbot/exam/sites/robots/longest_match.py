"""Two rules match, and the longer one decides, wherever it stands."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = """User-agent: *
Disallow: /shop
Allow: /shop/open
Allow: /docs
Disallow: /docs/closed
"""

SITE = ExamSite(
    name="robots-longest-match",
    teaches="The longest matching rule decides, be it Allow or Disallow, and not the first.",
    source="RFC 9309 2.2.2",
    pages=pages(robots(FILE), "/shop/cart", "/shop/open/hours", "/docs/intro", "/docs/closed/draft"),
    expects=(
        Never(("/shop/cart", "/docs/closed/draft")),
        Finds(("/", "/shop/open/hours", "/docs/intro")),
    ),
)
