"""A server without 404: whatever is asked for, the same sorry page, which links to one more page that is not there."""

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import AtMost, Finds

ENDS = 400
"""Requests after which the sorry page has no link any more."""


async def _sorry(exchange: Exchange) -> None:
    asked = exchange.before()
    links = [f"/gone/{asked + 1}"] if asked < ENDS else []
    await exchange.reply(page(*links, title="Sorry", text="What you are looking for is not here. Perhaps there:"))


SITE = ExamSite(
    name="soft-404",
    teaches="Pages that say with status 200 that they do not exist are recognized, and not followed without end.",
    source="Bar-Yossef and others, Sic Transit Gloria Telae, 2004",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/gone/0", "/b", title="Start")),
        "*": _sorry,
    },
    expects=(Finds(("/", "/a", "/b", "/gone/0")), AtMost(100, "/gone/*")),
)
