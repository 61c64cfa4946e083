"""Six redirects lead to the rules. A robot may follow them, or treat the file as unavailable: both allow /a."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMost, Fetches
from goodbot.exam.sites.robots.redirects_five import chain

SITE = ExamSite(
    name="robots-redirects-six",
    teaches="Crawl the site after six redirects, whether you follow them or treat robots.txt as unavailable.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(None, "/a", "/b"), **chain(6)},
    expects=(AtMost(30, "/hop-*"), Fetches(("/", "/a", "/b"))),
)
