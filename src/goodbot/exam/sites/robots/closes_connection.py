"""The connection ends where the answer to robots.txt should begin."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages
from goodbot.exam.expectations import OnlyRobotsTxt


async def _robots(exchange: Exchange) -> None:
    exchange.close()


SITE = ExamSite(
    name="robots-closes-connection",
    teaches="A connection closed instead of robots.txt is a network error: the whole site is closed.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
