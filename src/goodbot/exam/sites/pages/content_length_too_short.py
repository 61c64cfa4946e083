"""More comes than Content-Length says, and it looks like another answer."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Handler, page
from goodbot.exam.expectations import Finds, Never
from goodbot.exam.sites.wire import afterwards, answer, head

BODY = b"<!doctype html><title>Short</title><p>All there is."
SHORT = tuple(f"/short/{n}" for n in range(1, 4))


def _short(number: int) -> Handler:
    """What is left over is a redirect: a link in it could rightly be found by who reads it as part of the page."""
    left = head(("Location", f"/smuggled/{number}"), ("Content-Length", "0"), line="HTTP/1.1 302 Found")
    top = head(HTML, ("Content-Length", str(len(BODY))))

    async def handler(exchange: Exchange) -> None:
        if exchange.asked.method == "HEAD":
            await answer(exchange, top, [])
        else:
            await exchange.send(top + BODY + left)

    return handler


SITE = ExamSite(
    name="content-length-too-short",
    teaches="What comes after the end of an answer is never taken for the answer to the next request.",
    source="RFC 9112 6.3, 11.1; CWE-444",
    pages={
        "/": page(*SHORT, "/after/1"),
        **{path: _short(number) for number, path in enumerate(SHORT, 1)},
        **{f"/smuggled/{number}": page(title="Smuggled") for number in range(1, 4)},
        **afterwards(),
    },
    expects=(Never(("/smuggled/*",), rule="framing"), Finds(("/", *SHORT, *afterwards()))),
)
