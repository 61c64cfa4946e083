"""robots.txt is behind a wall that lets who comes a third time through; the file closes a part."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import AtMostEach, Never, OnceAnswered
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WALLED = 2
"""So many times."""
BACK = robots("User-agent: *\nDisallow: /private\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(challenge(403) if exchange.before("/robots.txt") < WALLED else BACK)


SITE = ExamSite(
    name="wall-robots-403",
    teaches="403 with a challenge says nothing about robots.txt: a crawler that asks later gets the file, with rules.",
    source="RFC 9309 2.3.1.3 lets a crawler take 403 for an open site; a wall is not the site's word",
    pages=pages(_robots, "/a", "/private"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        UNCLIMBED,
        OnceAnswered(rule="wall-robots"),
        Never(("/private",), rule="wall-robots"),
        NO_COOKIE,
    ),
)
