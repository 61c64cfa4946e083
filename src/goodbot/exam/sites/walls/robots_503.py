"""A wall always answers requests for robots.txt with 503 and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

SITE = ExamSite(
    name="wall-robots-503",
    teaches="Treat a challenge page with status 503 as an unreachable robots.txt: fetch no page, and give up in time.",
    source="RFC 9309 2.3.1.4",
    pages=pages(challenge(503), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        CHALLENGE_UNANSWERED,
        OnlyRobotsTxt(),
        NO_COOKIE,
    ),
)
