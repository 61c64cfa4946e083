"""A wall that answers 200 and offers to try again, each time under an address nobody has seen."""

import re

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Reply, page, pages, robots
from goodbot.exam.expectations import AtMost, Finds
from goodbot.exam.sites.challenge import NO_COOKIE, UNCLIMBED, challenge
from goodbot.exam.sites.endless import ALLOWED, ENDS

_WALLED = re.compile(r"/shop/[0-9]{1,2}(?:\?try=[0-9]{1,9})?")


async def _wall(exchange: Exchange) -> None:
    if not _WALLED.fullmatch(exchange.asked.target):
        await exchange.reply(NOT_FOUND)
        return
    wall, before = challenge(200), exchange.before()
    again = f'<p><a href="{exchange.asked.path}?try={before}">Try again</a>' if before < ENDS else ""
    body = wall.body.replace(b',nofollow"', b'"') + again.encode()
    await exchange.reply(Reply(body, wall.status, wall.headers))


SITE = ExamSite(
    name="wall-try-again",
    teaches="A wall that answers 200 and links to ever new URLs to try again is a trap: a crawler stops in time.",
    source="the site",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/shop/1", "/shop/2", "/b")),
        "*": _wall,
    },
    expects=(Finds(("/", "/a", "/b", "/shop/1")), AtMost(ALLOWED, "/shop/*"), UNCLIMBED, NO_COOKIE),
)
