"""A wall always answers requests for robots.txt with 429, Retry-After and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt, WaitsAfterStatus
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WAIT_S = 2

SITE = ExamSite(
    name="wall-robots-429",
    teaches="Obey Retry-After when a wall answers 429 in place of robots.txt, fetch no page, and give up in time.",
    source="RFC 6585 4; RFC 9110 10.2.3; RFC 9309 2.3.1.3 makes no exception for 429",
    pages=pages(challenge(429, WAIT_S), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        CHALLENGE_UNANSWERED,
        WaitsAfterStatus(WAIT_S, (429,)),
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
