"""A wall answers every request, also for robots.txt, with 200 and a challenge."""

from goodbot.exam.exam_values import ExamSite
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

SITE = ExamSite(
    name="wall-robots-200",
    teaches="Do not mistake a challenge page with status 200 in place of robots.txt for permission.",
    source="RFC 9309 2.3.1.1 is about the file, not about a wall in front of it; 2.3.1.5 does not mention HTML",
    pages={"*": challenge(200)},
    expects=(
        AtMostEach(10),
        CHALLENGE_UNANSWERED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
