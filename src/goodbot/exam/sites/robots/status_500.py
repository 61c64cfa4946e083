"""robots.txt is in trouble and stays so."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import OnlyRobotsTxt

SITE = ExamSite(
    name="robots-500",
    teaches="While robots.txt answers 500 and no copy of it is known, the whole site is closed.",
    source="RFC 9309 2.3.1.4",
    pages=pages(robots("Internal error\n", 500), "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
