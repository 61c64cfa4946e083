"""robots.txt has spaces, tabs and comments wherever the grammar allows them."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = "# ours\n \tUser-agent\t:  * # everybody\n  Disallow :/private#not this\n\tDisallow:\t/secret\t # nor this\n"

SITE = ExamSite(
    name="robots-comments-and-blanks",
    teaches="Ignore spaces, tabs and comments around field names and values in robots.txt.",
    source="RFC 9309 2.2",
    pages=pages(robots(FILE), "/a", "/private", "/secret"),
    expects=(DoesNotFetch(("/private", "/secret")), Fetches(("/", "/a"))),
)
