"""robots.txt is always one redirect further on."""

import re

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, pages, redirect
from goodbot.exam.expectations import AtMost, Finds

LAST_HOP = 400
"""Where even this chain ends."""


async def _further(exchange: Exchange) -> None:
    hop = re.fullmatch(r"/hop-([0-9]{1,3})", exchange.asked.path)
    number = int(hop[1]) if hop else LAST_HOP
    await exchange.reply(redirect(f"/hop-{number + 1}") if number < LAST_HOP else NOT_FOUND)


SITE = ExamSite(
    name="robots-redirects-endless",
    teaches="Redirects of robots.txt are given up after some; five is the least.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(redirect("/hop-1"), "/a", "/b"), "*": _further},
    expects=(AtMost(100, "/hop-*"), Finds(("/", "/a", "/b"))),
)
