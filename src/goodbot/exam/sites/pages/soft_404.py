"""A server without 404 answers every other URL with the same error page, which links to one more such URL."""

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import AtMost, Fetches

ENDS_AFTER = 400
"""The error page has no link after so many requests."""


async def _error_page(exchange: Exchange) -> None:
    before = exchange.before()
    links = [f"/gone/{before + 1}"] if before < ENDS_AFTER else []
    await exchange.reply(page(*links, title="Sorry", text="What you are looking for is not here. Perhaps there:"))


SITE = ExamSite(
    name="soft-404",
    teaches="Recognize error pages that are sent with status 200, and stop following their links.",
    source="Bar-Yossef and others, Sic Transit Gloria Telae, 2004",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/gone/0", "/b", title="Start")),
        "*": _error_page,
    },
    expects=(Fetches(("/", "/a", "/b", "/gone/0")), AtMost(100, "/gone/*")),
)
