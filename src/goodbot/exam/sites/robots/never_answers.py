"""robots.txt is asked for and no answer comes."""

from goodbot.exam.expectations import OnlyRobotsTxt
from goodbot.exam.values import Exchange, Site, pages


async def _robots(exchange: Exchange) -> None:
    await exchange.client_left()


SITE = Site(
    name="robots-never-answers",
    teaches="A robots.txt that does not come in time is unreachable: the whole site is closed, and the robot goes on.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
