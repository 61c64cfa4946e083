"""Answers that end before their Content-Length says so."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.wire import afterwards, at_first, ends_early, head

TOP = head(HTML, ("Content-Length", "100000"))


async def _reset(exchange: Exchange) -> None:
    await exchange.send(TOP + b"<p>Cut off by a crash.")
    exchange.reset()


SITE = ExamSite(
    name="content-length-too-long",
    teaches="An answer shorter than its Content-Length ends with the connection, and the rest of the site is fetched.",
    source="RFC 9112 8",
    pages={
        "/": page("/cut", "/only-a-head", "/reset", "/after/1"),
        "/cut": at_first(ends_early(TOP, b"<p>Cut off here.")),
        "/only-a-head": at_first(ends_early(TOP, b"")),
        "/reset": at_first(_reset),
        **afterwards(),
    },
    expects=(Finds(("/", "/cut", "/only-a-head", "/reset", *afterwards())),),
)
