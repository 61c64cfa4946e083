"""The server reads the request for robots.txt and never responds."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages
from goodbot.exam.expectations import OnlyRobotsTxt


async def _robots(exchange: Exchange) -> None:
    await exchange.client_left()


SITE = ExamSite(
    name="robots-never-answers",
    teaches="Treat a robots.txt that does not arrive in time as unreachable: fetch no page, and end.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
