"""No robots.txt."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import Finds, RobotsFirst

SITE = ExamSite(
    name="robots-404",
    teaches="A site without robots.txt is open.",
    source="RFC 9309 2.3.1.3",
    pages=pages(None, "/a", "/b"),
    expects=(RobotsFirst(), Finds(("/", "/a", "/b"))),
)
