"""Path patterns contain `*`."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = """User-agent: *
Disallow: /*/private
Disallow: /list*sort=
"""

SITE = ExamSite(
    name="robots-wildcard",
    teaches="Read `*` in a rule as any characters, or none.",
    source="RFC 9309 2.2.3",
    pages=pages(
        robots(FILE), "/shop/private", "/a/b/private/c", "/private", "/list?page=1", "/list?sort=up", "/listsort="
    ),
    expects=(
        DoesNotFetch(("/shop/private", "/a/b/private/c", "/list*sort=*")),
        Fetches(("/", "/private", "/list?page=1")),
    ),
)
