"""The first request for robots.txt is answered with 429, later ones with the file."""

from goodbot.exam.exam_values import TEXT, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import Fetches, WaitsAfterStatus, WaitsForRobotsTxt

WAIT_S = 2
BUSY = Reply(b"Too many requests", 429, (TEXT, ("Retry-After", str(WAIT_S))))
BACK = robots("User-agent: *\nDisallow:\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(BACK if exchange.before("/robots.txt") else BUSY)


SITE = ExamSite(
    name="robots-429",
    teaches="Wait as long as Retry-After says after 429 for robots.txt, and fetch nothing else meanwhile.",
    source="RFC 6585 4; RFC 9110 10.2.3; as 5xx: Google, robots.txt and status codes (RFC 9309 2.3.1.3 leaves it open)",
    pages=pages(_robots, "/a"),
    expects=(WaitsAfterStatus(WAIT_S, (429,)), WaitsForRobotsTxt(rule="robots-busy"), Fetches(("/", "/a"))),
)
