"""A wall answers requests for robots.txt with 202 and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

SITE = ExamSite(
    name="wall-robots-202",
    teaches="Do not mistake a challenge page with status 202 in place of robots.txt for permission.",
    source="RFC 9110 15.3.3 (202 is not final); RFC 9309 2.3.1 does not mention it",
    pages=pages(challenge(202), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        CHALLENGE_UNANSWERED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
