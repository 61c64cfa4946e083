"""The server sends more bytes than Content-Length says, and they look like another response."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Handler, page
from goodbot.exam.expectations import DoesNotFetch, Fetches
from goodbot.exam.sites.wire import answer, head, later_pages

BODY = b"<!doctype html><title>Short</title><p>All there is."
SHORT = tuple(f"/short/{n}" for n in range(1, 4))


def _short(number: int) -> Handler:
    """The surplus bytes are a redirect and not a page: a crawler may read links in them as part of this page."""
    left = head(("Location", f"/smuggled/{number}"), ("Content-Length", "0"), line="HTTP/1.1 302 Found")
    top = head(HTML, ("Content-Length", str(len(BODY))))

    async def handler(exchange: Exchange) -> None:
        if exchange.request.method == "HEAD":
            await answer(exchange, top, [])
        else:
            await exchange.send(top + BODY + left)

    return handler


SITE = ExamSite(
    name="content-length-too-short",
    teaches="Never take bytes after the end of a response for the response to the next request.",
    source="RFC 9112 6.3, 11.1; CWE-444",
    pages={
        "/": page(*SHORT, "/after/1"),
        **{path: _short(number) for number, path in enumerate(SHORT, 1)},
        **{f"/smuggled/{number}": page(title="Smuggled") for number in range(1, 4)},
        **later_pages(),
    },
    expects=(DoesNotFetch(("/smuggled/*",), rule="framing"), Fetches(("/", *SHORT, *later_pages()))),
)
