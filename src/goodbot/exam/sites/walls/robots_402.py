"""robots.txt is answered with 402 and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

SITE = ExamSite(
    name="wall-robots-402",
    teaches="402 with a challenge is no robots.txt: a crawler does not treat a demand for payment as an open site.",
    source="RFC 9110 15.5.3; RFC 9309 2.3.1.3 lets a crawler take 402 for an open site",
    pages=pages(challenge(402), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        UNCLIMBED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
