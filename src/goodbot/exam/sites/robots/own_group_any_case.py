"""The group for the requesting robot writes its name in capitals, next to another name."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches
from goodbot.exam.sites.robots.own_group import token_of


async def _robots(exchange: Exchange) -> None:
    own = token_of(exchange.request).upper()
    file = f"User-agent: {own}\nUser-agent: nobody-at-all\nDisallow: /for-others\n\nUser-agent: *\nDisallow: /for-you\n"
    await exchange.reply(robots(file))


SITE = ExamSite(
    name="robots-own-group-any-case",
    teaches="Recognize your robot's name in any letter case, and in a list of several names.",
    source="RFC 9309 2.2.1",
    pages=pages(_robots, "/for-you", "/for-others"),
    expects=(DoesNotFetch(("/for-others",)), Fetches(("/", "/for-you"))),
)
