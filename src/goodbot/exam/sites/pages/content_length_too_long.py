"""Responses end before their Content-Length."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import broken_at_first, ends_early, head, later_pages

TOP = head(HTML, ("Content-Length", "100000"))


async def _reset(exchange: Exchange) -> None:
    await exchange.send(TOP + b"<p>Cut off by a crash.")
    exchange.reset()


SITE = ExamSite(
    name="content-length-too-long",
    teaches="Survive a response that ends before its Content-Length, and crawl the rest of the site.",
    source="RFC 9112 8",
    pages={
        "/": page("/cut", "/only-a-head", "/reset", "/after/1"),
        "/cut": broken_at_first(ends_early(TOP, b"<p>Cut off here.")),
        "/only-a-head": broken_at_first(ends_early(TOP, b"")),
        "/reset": broken_at_first(_reset),
        **later_pages(),
    },
    expects=(Fetches(("/", "/cut", "/only-a-head", "/reset", *later_pages())),),
)
