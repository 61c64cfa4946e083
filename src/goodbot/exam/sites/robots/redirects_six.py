"""Six redirects lead to the rules: a robot may follow, or take the file for unavailable. Both read /a as open."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMost, Finds
from goodbot.exam.sites.robots.redirects_five import chain

SITE = ExamSite(
    name="robots-redirects-six",
    teaches="After more than five redirects robots.txt may be taken as unavailable; the robot goes on either way.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(None, "/a", "/b"), **chain(6)},
    expects=(AtMost(30, "/hop-*"), Finds(("/", "/a", "/b"))),
)
