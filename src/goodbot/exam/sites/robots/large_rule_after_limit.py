"""robots.txt has 600 KiB, with a rule after the first 500 KiB, which a robot may read or not. Only what both readings
allow is judged."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.robots.large_rule_before_limit import filler

FILE = "User-agent: *\n" + filler(0, 5500) + "Disallow: /late\n" + filler(5500, 644)

SITE = ExamSite(
    name="robots-large-rule-after-limit",
    teaches="Do not treat a site as closed because its robots.txt is larger than you read.",
    source="RFC 9309 2.5",
    pages=pages(robots(FILE), "/a", "/late", "/b"),
    expects=(Fetches(("/", "/a", "/b")),),
)
