"""`*` in a path pattern."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = """User-agent: *
Disallow: /*/private
Disallow: /list*sort=
"""

SITE = ExamSite(
    name="robots-wildcard",
    teaches="`*` in a rule stands for any characters, also for none.",
    source="RFC 9309 2.2.3",
    pages=pages(
        robots(FILE), "/shop/private", "/a/b/private/c", "/private", "/list?page=1", "/list?sort=up", "/listsort="
    ),
    expects=(
        Never(("/shop/private", "/a/b/private/c", "/list*sort=*")),
        Finds(("/", "/private", "/list?page=1")),
    ),
)
