"""robots.txt takes its time."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import Finds, Never, OnceAnswered, RobotsFirst

RULES = robots("User-agent: *\nDisallow: /private\n")
TAKES_S = 4


async def _robots(exchange: Exchange) -> None:
    await exchange.clock.sleep(TAKES_S)
    await exchange.reply(RULES)


SITE = ExamSite(
    name="robots-slow",
    teaches="A robots.txt that takes four seconds is waited for before anything else is asked.",
    source="RFC 9309 2.3",
    pages=pages(_robots, "/a", "/private"),
    expects=(RobotsFirst(), OnceAnswered(), Never(("/private",)), Finds(("/", "/a"))),
)
