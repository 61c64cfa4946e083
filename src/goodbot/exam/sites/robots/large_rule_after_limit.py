"""600 KiB, and a rule stands behind 500 KiB: a robot may read it or not. Only what both readings allow is judged."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.robots.large_rule_before_limit import filler

FILE = "User-agent: *\n" + filler(0, 5500) + "Disallow: /late\n" + filler(5500, 644)

SITE = ExamSite(
    name="robots-large-rule-after-limit",
    teaches="A robots.txt longer than the robot's limit closes nothing by its length.",
    source="RFC 9309 2.5",
    pages=pages(robots(FILE), "/a", "/late", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
)
