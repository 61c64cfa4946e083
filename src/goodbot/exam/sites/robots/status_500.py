"""robots.txt always answers 500."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import OnlyRobotsTxt

SITE = ExamSite(
    name="robots-500",
    teaches="Fetch no page while robots.txt answers 500 and you have no earlier copy of it.",
    source="RFC 9309 2.3.1.4",
    pages=pages(robots("Internal error\n", 500), "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
