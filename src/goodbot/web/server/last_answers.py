"""Answers that the server gives without the application: to what is not a request, takes too long or comes at a bad
time."""

from http import HTTPStatus
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goodbot.web.server.security_headers import HEADERS

_CLOSING: Final = {"Connection": "close"}
_LATER: Final = {**_CLOSING, "Retry-After": "10"}
_BUSY_TEXT: Final = "This server is busy. Try again in ten seconds.\n"
STOPPING_TEXT: Final = "This server is being stopped. Try again later.\n"


def written(answer: PlainTextResponse) -> bytes:
    """Returns an answer as it is sent."""
    fields = (b"%b: %b" % field for field in answer.raw_headers)
    first = f"HTTP/1.1 {answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode("ascii")
    return b"\r\n".join((first, *fields, b"", bytes(answer.body)))


def last_answer(status: int) -> bytes:
    """Makes an answer without text, after which the connection closes."""
    return written(PlainTextResponse("", status, {**_CLOSING, **HEADERS}))


def stopping_answer() -> PlainTextResponse:
    """Makes the answer to requests that a stop of the server cuts off."""
    return PlainTextResponse(STOPPING_TEXT, 503, {**_LATER, **HEADERS})


def busy_answer() -> PlainTextResponse:
    """Makes the answer to requests on more connections than the server has."""
    return PlainTextResponse(_BUSY_TEXT, 503, {**_LATER, **HEADERS})


async def busy(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI application: answers that the server is busy."""
    await busy_answer()(scope, receive, send)


def closing(app: ASGIApp) -> ASGIApp:
    """Returns the same application, whose every response is the last of its connection."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await app(scope, receive, send_last)

    return answer
