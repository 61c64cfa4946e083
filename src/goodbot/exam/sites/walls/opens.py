"""A wall in front of the whole site opens after a while."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, Reply, page, robots
from goodbot.exam.expectations import AtMostEach, Fetches, WaitsAfterStatus
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge

WAIT_S = 2
WALLED = 2
"""The number of requests for the start page that the wall answers."""


def _behind(reply: Reply) -> Handler:
    async def handler(exchange: Exchange) -> None:
        await exchange.reply(challenge(503, WAIT_S) if exchange.before("/") < WALLED else reply)

    return handler


SITE = ExamSite(
    name="wall-that-opens",
    teaches="Wait as long as Retry-After says when a wall answers 503, and crawl the site if the wall opens.",
    source="RFC 9110 10.2.3, 15.6.4",
    pages={
        "/robots.txt": robots("User-agent: *\nDisallow:\n"),
        "/": _behind(page("/a", "/b", title="Start")),
        "/a": _behind(page(title="Page")),
        "/b": _behind(page(title="Page")),
    },
    expects=(
        WaitsAfterStatus(WAIT_S, (503,)),
        Fetches(("/", "/a", "/b"), status=200),
        AtMostEach(10),
        CHALLENGE_UNANSWERED,
        NO_COOKIE,
    ),
)
