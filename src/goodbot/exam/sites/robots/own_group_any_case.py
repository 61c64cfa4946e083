"""The group of whoever asks, its name in capitals, together with another name."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import Finds, Never
from goodbot.exam.sites.robots.own_group import token_of


async def _robots(exchange: Exchange) -> None:
    own = token_of(exchange.asked).upper()
    file = f"User-agent: {own}\nUser-agent: nobody-at-all\nDisallow: /for-others\n\nUser-agent: *\nDisallow: /for-you\n"
    await exchange.reply(robots(file))


SITE = ExamSite(
    name="robots-own-group-any-case",
    teaches="A robot knows its name in any case, and among others.",
    source="RFC 9309 2.2.1",
    pages=pages(_robots, "/for-you", "/for-others"),
    expects=(Never(("/for-others",)), Finds(("/", "/for-you"))),
)
