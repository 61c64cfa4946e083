"""robots.txt redirects without end, each time to a new URL."""

import re

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, pages, redirect
from goodbot.exam.expectations import AtMost, Fetches

LAST_REDIRECT = 400
"""The number of redirects after which even this chain ends."""


async def _further(exchange: Exchange) -> None:
    hop = re.fullmatch(r"/hop-([0-9]{1,3})", exchange.request.path)
    number = int(hop[1]) if hop else LAST_REDIRECT
    await exchange.reply(redirect(f"/hop-{number + 1}") if number < LAST_REDIRECT else NOT_FOUND)


SITE = ExamSite(
    name="robots-redirects-endless",
    teaches="Give up on robots.txt after a number of redirects, but not before five.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(redirect("/hop-1"), "/a", "/b"), "*": _further},
    expects=(AtMost(100, "/hop-*"), Fetches(("/", "/a", "/b"))),
)
