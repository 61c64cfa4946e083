"""A relative link on a server that answers every path: the path grows with every click."""

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages, robots
from goodbot.exam.expectations import AtMost, Finds

ENDS = 400
"""Requests after which the page has no link any more."""


async def _shop(exchange: Exchange) -> None:
    links = ["a/b/"] if exchange.before() < ENDS else []
    await exchange.reply(page(*links, title="Shop", text="The shop window, whatever the address says."))


SITE = ExamSite(
    name="trap-repeating-path",
    teaches="A path in which the same folders come again and again is a mistake of the site, and not followed far.",
    source="RFC 3986 5.2; Heritrix, PathologicalPathDecideRule",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b", start=page("/a", "/shop/", "/b", title="Start")),
        "*": _shop,
    },
    expects=(Finds(("/", "/a", "/b", "/shop/")), AtMost(50, "/shop/*")),
)
