"""The first request for robots.txt is answered with 503, later ones with the file."""

from goodbot.exam.exam_values import TEXT, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches, RobotsFirst, WaitsAfterStatus, WaitsForRobotsTxt

WAIT_S = 2
BUSY = Reply(b"Busy", 503, (TEXT, ("Retry-After", str(WAIT_S))))
BACK = robots("User-agent: *\nDisallow: /private\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(BACK if exchange.before("/robots.txt") else BUSY)


SITE = ExamSite(
    name="robots-503-then-back",
    teaches="Fetch no page while robots.txt answers 503, then try again and obey the rules you get.",
    source="RFC 9309 2.3.1.4; RFC 9110 10.2.3",
    pages=pages(_robots, "/a", "/private"),
    expects=(
        RobotsFirst(),
        WaitsForRobotsTxt(),
        WaitsAfterStatus(WAIT_S, (503,)),
        DoesNotFetch(("/private",)),
        Fetches(("/", "/a")),
    ),
)
