"""robots.txt is answered with 503 and a challenge, for good."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

SITE = ExamSite(
    name="wall-robots-503",
    teaches="503 with a challenge is an unreachable robots.txt: a crawler fetches no page and gives up in time.",
    source="RFC 9309 2.3.1.4",
    pages=pages(challenge(503), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        UNCLIMBED,
        OnlyRobotsTxt(),
        NO_COOKIE,
    ),
)
