"""A wall before the whole site that opens after a while."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, Reply, page, robots
from goodbot.exam.expectations import AtMostEach, Finds, Waits
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge

WAIT_S = 2
WALLED = 2
"""So many requests for the start page are answered by the wall."""


def _behind(reply: Reply) -> Handler:
    async def handler(exchange: Exchange) -> None:
        await exchange.reply(challenge(503, WAIT_S) if exchange.before("/") < WALLED else reply)

    return handler


SITE = ExamSite(
    name="wall-that-opens",
    teaches="A wall that answers 503 with Retry-After may open: a crawler that waits finds the site behind it.",
    source="RFC 9110 10.2.3, 15.6.4",
    pages={
        "/robots.txt": robots("User-agent: *\nDisallow:\n"),
        "/": _behind(page("/a", "/b", title="Start")),
        "/a": _behind(page(title="Page")),
        "/b": _behind(page(title="Page")),
    },
    expects=(
        Waits(WAIT_S, (503,)),
        Finds(("/", "/a", "/b"), status=200),
        AtMostEach(10),
        UNCLIMBED,
        NO_COOKIE,
    ),
)
