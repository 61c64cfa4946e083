"""robots.txt is in trouble, then answers."""

from goodbot.exam.exam_values import TEXT, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import Finds, Never, OnceAnswered, RobotsFirst, Waits

WAIT_S = 2
BUSY = Reply(b"Busy", 503, (TEXT, ("Retry-After", str(WAIT_S))))
BACK = robots("User-agent: *\nDisallow: /private\n")


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(BACK if exchange.before("/robots.txt") else BUSY)


SITE = ExamSite(
    name="robots-503-then-back",
    teaches="While robots.txt answers 503 the site is closed; later it is asked for again, and rules.",
    source="RFC 9309 2.3.1.4; RFC 9110 10.2.3",
    pages=pages(_robots, "/a", "/private"),
    expects=(
        RobotsFirst(),
        OnceAnswered(),
        Waits(WAIT_S, (503,)),
        Never(("/private",)),
        Finds(("/", "/a")),
    ),
)
