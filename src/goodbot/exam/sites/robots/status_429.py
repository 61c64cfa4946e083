"""robots.txt is asked for too often, then answers."""

from goodbot.exam.exam_values import TEXT, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import Finds, OnceAnswered, Waits

WAIT_S = 2
BUSY = Reply(b"Too many requests", 429, (TEXT, ("Retry-After", str(WAIT_S))))
BACK = robots("User-agent: *\nDisallow:\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(BACK if exchange.before("/robots.txt") else BUSY)


SITE = ExamSite(
    name="robots-429",
    teaches="429 for robots.txt says come back later: Retry-After is waited out, nothing else asked for meanwhile.",
    source="RFC 6585 4; RFC 9110 10.2.3; as 5xx: Google, robots.txt and status codes (RFC 9309 2.3.1.3 leaves it open)",
    pages=pages(_robots, "/a"),
    expects=(Waits(WAIT_S, (429,)), OnceAnswered(rule="robots-busy"), Finds(("/", "/a"))),
)
