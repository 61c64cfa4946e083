"""Blanks, tabs and comments wherever the grammar lets them stand."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = "# ours\n \tUser-agent\t:  * # everybody\n  Disallow :/private#not this\n\tDisallow:\t/secret\t # nor this\n"

SITE = ExamSite(
    name="robots-comments-and-blanks",
    teaches="Blanks, tabs and comments around names and values mean nothing.",
    source="RFC 9309 2.2",
    pages=pages(robots(FILE), "/a", "/private", "/secret"),
    expects=(Never(("/private", "/secret")), Finds(("/", "/a"))),
)
