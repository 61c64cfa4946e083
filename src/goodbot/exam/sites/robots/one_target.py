"""The robots.txt of nine hosts redirect to one file, whose server is busy at first."""

from goodbot.exam.exam_values import TEXT, ExamSite, Exchange, Reply, page, pages, redirect, robots
from goodbot.exam.expectations import AtMostInAnySpan, DoesNotFetch, Fetches, WaitsAfterStatus

HOUSES = tuple(f"h{number}" for number in range(2, 10))
FILE = "/common/robots.txt"
WAIT_S = 3
MOST = 4
"""The number of requests that the server of the file may get within any second: nine would be a burst."""
BUSY = Reply(b"Busy", 503, (TEXT, ("Retry-After", str(WAIT_S))))
RULES = robots("User-agent: *\nDisallow: /private\n")


async def _file(exchange: Exchange) -> None:
    await exchange.reply(RULES if exchange.before(FILE) else BUSY)


_MOVED = redirect(f"@rules@{FILE}", 301)
SITE = ExamSite(
    name="robots-one-target",
    teaches="Send no burst to a server that the robots.txt of nine hosts redirect to, and obey its Retry-After.",
    source="RFC 9309 2.3.1.2; RFC 9110 10.2.3",
    pages=pages(_MOVED, "/a", "/private", start=page("/a", "/private", *(f"@{house}@/" for house in HOUSES))),
    others={
        **{house: pages(_MOVED, "/a", start=page("/a", title=f"House {house}")) for house in HOUSES},
        "rules": {FILE: _file},
    },
    expects=(
        DoesNotFetch(("/private",)),
        Fetches(("/", "/a")),
        AtMostInAnySpan(MOST, 1.0, origin="rules"),
        WaitsAfterStatus(WAIT_S, (503,), origin="rules"),
    ),
)
