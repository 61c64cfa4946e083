"""A relative link on a server that answers every path makes the path grow with every click."""

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import AtMost, Fetches

ENDS_AFTER = 400
"""The page has no link after so many requests."""


async def _shop(exchange: Exchange) -> None:
    links = ["a/b/"] if exchange.before() < ENDS_AFTER else []
    await exchange.reply(page(*links, title="Shop", text="The shop window, whatever the address says."))


SITE = ExamSite(
    name="trap-repeating-path",
    teaches="Stop following a path in which the same folders repeat: it is a mistake of the site.",
    source="RFC 3986 5.2; Heritrix, PathologicalPathDecideRule",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/shop/", "/b", title="Start")),
        "*": _shop,
    },
    expects=(Fetches(("/", "/a", "/b", "/shop/")), AtMost(50, "/shop/*")),
)
