"""robots.txt is answered with 429, Retry-After and a challenge, for good."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt, Waits
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WAIT_S = 2

SITE = ExamSite(
    name="wall-robots-429",
    teaches="429 with a challenge is no robots.txt: a crawler obeys Retry-After, fetches no page and gives up in time.",
    source="RFC 6585 4; RFC 9110 10.2.3; RFC 9309 2.3.1.3 does not except 429",
    pages=pages(challenge(429, WAIT_S), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        UNCLIMBED,
        Waits(WAIT_S, (429,)),
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
