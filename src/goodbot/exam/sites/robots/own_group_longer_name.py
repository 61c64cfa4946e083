"""A group names a robot whose name begins like that of the requesting robot."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches
from goodbot.exam.sites.robots.own_group import token_of


async def _robots(exchange: Exchange) -> None:
    longer = token_of(exchange.request) + "-images"
    await exchange.reply(robots(f"User-agent: {longer}\nDisallow: /open\n\nUser-agent: *\nDisallow: /private\n"))


SITE = ExamSite(
    name="robots-own-group-longer-name",
    teaches="Do not follow a group for a longer name than your robot's: it is for another robot.",
    source="RFC 9309 2.2.1",
    pages=pages(_robots, "/open", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/open"))),
)
