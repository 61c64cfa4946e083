"""A calendar always links to the next month."""

import re

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages
from goodbot.exam.expectations import AtMost, Fetches

FIRST = "/calendar?month=2026-01"
ENDS_AFTER = 400
"""A month has no link to the next one after so many requests."""
_MONTH = re.compile(r"/calendar\?month=([0-9]{4})-([0-9]{2})")


async def _calendar(exchange: Exchange) -> None:
    found = _MONTH.fullmatch(exchange.request.target)
    year, month = (int(found[1]), int(found[2])) if found else (2026, 1)
    year, month = (year + 1, 1) if month >= 12 else (year, month + 1)
    links = [f"/calendar?month={year:04d}-{month:02d}"] if exchange.before() < ENDS_AFTER else []
    await exchange.reply(page(*links, title="Calendar", text="Nothing happens in this month."))


SITE = ExamSite(
    name="trap-calendar",
    teaches="Stop following a calendar that always has a next month, and find the other pages.",
    source="Google, To infinity and beyond? No!, 2008",
    pages={**pages(None, "/a", "/b", start=page("/a", FIRST, "/b", title="Start")), "/calendar": _calendar},
    expects=(Fetches(("/", "/a", "/b", FIRST)), AtMost(150, "/calendar*")),
)
