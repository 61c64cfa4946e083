"""robots.txt takes four seconds to arrive."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches, RobotsFirst, WaitsForRobotsTxt

RULES = robots("User-agent: *\nDisallow: /private\n")
TAKES_S = 4


async def _robots(exchange: Exchange) -> None:
    await exchange.clock.sleep(TAKES_S)
    await exchange.reply(RULES)


SITE = ExamSite(
    name="robots-slow",
    teaches="Wait for a robots.txt that takes four seconds before you fetch anything else.",
    source="RFC 9309 2.3",
    pages=pages(_robots, "/a", "/private"),
    expects=(RobotsFirst(), WaitsForRobotsTxt(), DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
