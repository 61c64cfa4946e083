"""robots.txt is answered with 202 and a challenge."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

SITE = ExamSite(
    name="wall-robots-202",
    teaches="A 202 with a challenge is no robots.txt, and does not say that there is none: a crawler fetches no page.",
    source="RFC 9110 15.3.3 (202 is no final word); RFC 9309 2.3.1 does not speak of it",
    pages=pages(challenge(202), "/a", "/b"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        UNCLIMBED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
