"""robots.txt, and every page, is answered with 200 and a challenge."""

from goodbot.exam.exam_values import ExamSite
from goodbot.exam.expectations import AtMostEach, OnlyRobotsTxt
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

SITE = ExamSite(
    name="wall-robots-200",
    teaches="A wall answers every URL with 200, robots.txt too: a crawler does not take that for permission.",
    source="RFC 9309 2.3.1.1 speaks of the file, not of what stands before it; 2.3.1.5 leaves HTML open",
    pages={"*": challenge(200)},
    expects=(
        AtMostEach(10),
        UNCLIMBED,
        OnlyRobotsTxt(rule="wall-robots"),
        NO_COOKIE,
    ),
)
