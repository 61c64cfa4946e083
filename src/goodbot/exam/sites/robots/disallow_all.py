"""robots.txt disallows the whole site."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import OnlyRobotsTxt

SITE = ExamSite(
    name="robots-disallow-all",
    teaches="Fetch no page where robots.txt says `Disallow: /`, not even the start page.",
    source="RFC 9309 2.2.2; Koster 1994",
    pages=pages(robots("User-agent: *\nDisallow: /\n"), "/a", "/b"),
    expects=(OnlyRobotsTxt(rule="disallowed"),),
)
