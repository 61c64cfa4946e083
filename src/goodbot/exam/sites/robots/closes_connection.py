"""The connection ends where the answer to robots.txt should begin."""

from goodbot.exam.expectations import OnlyRobotsTxt
from goodbot.exam.values import Exchange, Site, pages


async def _robots(exchange: Exchange) -> None:
    exchange.close()


SITE = Site(
    name="robots-closes-connection",
    teaches="A connection closed instead of robots.txt is a network error: the whole site is closed.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
