"""The server closes the connection instead of sending robots.txt."""

from goodbot.exam.exam_values import ExamSite, Exchange, pages
from goodbot.exam.expectations import OnlyRobotsTxt


async def _robots(exchange: Exchange) -> None:
    exchange.close()


SITE = ExamSite(
    name="robots-closes-connection",
    teaches="Treat a connection closed in place of robots.txt as a network error: fetch no page of the site.",
    source="RFC 9309 2.3.1.4",
    pages=pages(_robots, "/a", "/b"),
    expects=(OnlyRobotsTxt(),),
)
