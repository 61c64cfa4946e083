"""Two rules match, and the longer one decides, wherever it is in the file."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = """User-agent: *
Disallow: /shop
Allow: /shop/open
Allow: /docs
Disallow: /docs/closed
"""

SITE = ExamSite(
    name="robots-longest-match",
    teaches="Follow the longest matching rule, whether Allow or Disallow, and not the first one.",
    source="RFC 9309 2.2.2",
    pages=pages(robots(FILE), "/shop/cart", "/shop/open/hours", "/docs/intro", "/docs/closed/draft"),
    expects=(
        DoesNotFetch(("/shop/cart", "/docs/closed/draft")),
        Fetches(("/", "/shop/open/hours", "/docs/intro")),
    ),
)
