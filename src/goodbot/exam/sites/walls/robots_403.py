"""A wall answers the first two requests for robots.txt; the third gets the file, which disallows a part."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import AtMostEach, DoesNotFetch, WaitsForRobotsTxt
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WALLED = 2
"""The number of requests for robots.txt that the wall answers."""
BACK = robots("User-agent: *\nDisallow: /private\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(challenge(403) if exchange.before("/robots.txt") < WALLED else BACK)


SITE = ExamSite(
    name="wall-robots-403",
    teaches="Try robots.txt again later when a wall answers 403 in its place, and obey the rules you get.",
    source="RFC 9309 2.3.1.3 lets a crawler treat 403 as an open site, but a wall is not the site",
    pages=pages(_robots, "/a", "/private"),
    expects=(
        AtMostEach(10, "/robots.txt"),
        CHALLENGE_UNANSWERED,
        WaitsForRobotsTxt(rule="wall-robots"),
        DoesNotFetch(("/private",), rule="wall-robots"),
        NO_COOKIE,
    ),
)
