"""robots.txt is asked for and no answer comes."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages
from goodbot.exam.expectations import OnlyRobotsTxt


async def _robots(exchange: Exchange) -> None:
    await exchange.client_left()


SITE = ExamSite(
    name="robots-never-answers",
    teaches="A robots.txt that does not come in time is unreachable: the whole site is closed, and the robot goes on.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
