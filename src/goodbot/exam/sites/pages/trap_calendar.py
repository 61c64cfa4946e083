"""A calendar with a link to the next month, for ever."""

import re

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages
from goodbot.exam.expectations import AtMost, Finds

FIRST = "/calendar?month=2026-01"
ENDS = 400
"""Requests after which a month has no next one any more."""
_MONTH = re.compile(r"/calendar\?month=([0-9]{4})-([0-9]{2})")


async def _calendar(exchange: Exchange) -> None:
    asked = _MONTH.fullmatch(exchange.asked.target)
    year, month = (int(asked[1]), int(asked[2])) if asked else (2026, 1)
    year, month = (year + 1, 1) if month >= 12 else (year, month + 1)
    links = [f"/calendar?month={year:04d}-{month:02d}"] if exchange.before() < ENDS else []
    await exchange.reply(page(*links, title="Calendar", text="Nothing happens in this month."))


SITE = ExamSite(
    name="trap-calendar",
    teaches="A calendar always has a next month: a crawler stops turning its pages, and finds the other pages.",
    source="Google, To infinity and beyond? No!, 2008",
    pages={**pages(None, "/a", "/b", start=page("/a", FIRST, "/b", title="Start")), "/calendar": _calendar},
    expects=(Finds(("/", "/a", "/b", FIRST)), AtMost(150, "/calendar*")),
)
