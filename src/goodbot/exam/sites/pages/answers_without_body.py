"""Some responses have no body, whatever their headers say."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import ends_early, head, later_pages

EMPTY = {
    "/no-content": head(line="HTTP/1.1 204 No Content"),
    "/not-modified": head(("ETag", '"1"'), line="HTTP/1.1 304 Not Modified"),
    "/empty": head(("Content-Length", "0")),
}
WITH_LENGTH = head(("ETag", '"1"'), ("Content-Length", "500"), line="HTTP/1.1 304 Not Modified")
"""Content-Length announces a body that is not sent. The connection closes, so that a client that waits for the body
does not wait long."""


def _only(top: bytes) -> Handler:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(top)

    return handler


SITE = ExamSite(
    name="answers-without-body",
    teaches="Expect no body after 204 and 304, and go on with the next page.",
    source="RFC 9112 6.3 (1); RFC 9110 15.3.5, 15.4.5",
    pages={
        "/": page(*EMPTY, "/not-modified-with-length", "/after/1"),
        **{path: _only(top) for path, top in EMPTY.items()},
        "/not-modified-with-length": ends_early(WITH_LENGTH, b""),
        **later_pages(),
    },
    expects=(Fetches(("/", *EMPTY, "/not-modified-with-length", *later_pages())),),
)
