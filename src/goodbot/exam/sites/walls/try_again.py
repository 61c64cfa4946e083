"""A wall answers 200 and links to a new URL each time to try again."""

import re

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Reply, page, pages, robots
from goodbot.exam.expectations import AtMost, Fetches
from goodbot.exam.sites.challenge import CHALLENGE_UNANSWERED, NO_COOKIE, challenge
from goodbot.exam.sites.endless import ALLOWED_REQUESTS, ENDS_AFTER

_WALLED = re.compile(r"/shop/[0-9]{1,2}(?:\?try=[0-9]{1,9})?")


async def _wall(exchange: Exchange) -> None:
    if not _WALLED.fullmatch(exchange.request.target):
        await exchange.reply(NOT_FOUND)
        return
    wall, before = challenge(200), exchange.before()
    again = f'<p><a href="{exchange.request.path}?try={before}">Try again</a>' if before < ENDS_AFTER else ""
    body = wall.body.replace(b',nofollow"', b'"') + again.encode()
    await exchange.reply(Reply(body, wall.status, wall.headers))


SITE = ExamSite(
    name="wall-try-again",
    teaches="Stop in time when a wall answers 200 and links to ever new URLs to try again.",
    source="the site",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/shop/1", "/shop/2", "/b")),
        "*": _wall,
    },
    expects=(
        Fetches(("/", "/a", "/b", "/shop/1")),
        AtMost(ALLOWED_REQUESTS, "/shop/*"),
        CHALLENGE_UNANSWERED,
        NO_COOKIE,
    ),
)
