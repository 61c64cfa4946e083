"""The site has no robots.txt."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import Fetches, RobotsFirst

SITE = ExamSite(
    name="robots-404",
    teaches="Treat a site without robots.txt as open.",
    source="RFC 9309 2.3.1.3",
    pages=pages(None, "/a", "/b"),
    expects=(RobotsFirst(), Fetches(("/", "/a", "/b"))),
)
