"""A wall answers requests for robots.txt with 402 and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

SITE = ExamSite(
    name="wall-robots-402",
    teaches="Do not mistake a challenge page with status 402 (pay) in place of robots.txt for permission.",
    source="RFC 9110 15.5.3; RFC 9309 2.3.1.3 lets a crawler treat 402 as an open site",
    pages=pages(challenge(402), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        CHALLENGE_UNANSWERED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
