"""Lets programs that use HTTPX crawl politely, through a goodbot `Robot`. Importing this needs HTTPX.

robot = Robot("MyBot/1.0", contact="mailto:me@example.org")
async with robot, httpx.AsyncClient(transport=AsyncRobotTransport(robot)) as client:
    answer = await client.get("https://example.org/")
"""

from typing import Any

import httpx

from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.integrations.http_clients import (
    METHODS,
    NO_BODY,
    NO_OTHER_METHOD,
    blocking,
    request_fields,
    response_fields,
)
from goodbot.robot.client.answer import Answer
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client

__all__ = ["AsyncRobotTransport", "CallError", "Forbidden", "RobotTransport", "Unsupported", "WaitTooLong"]

_FROM_PUBLIC = "goodbot.from_public"
"""An extension of the request: a public host redirected to this URL. HTTPX copies the extensions when it follows a
redirect."""


class Forbidden(httpx.TransportError):
    """robots.txt disallows the URL; `verdict` says why. The URL was not requested."""

    def __init__(self, answer: Answer, request: httpx.Request) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.verdict: Verdict = answer.verdict


class WaitTooLong(httpx.TransportError):
    """The host may not be sent a request before `held_until` (Unix seconds), and the robot does not wait that long
    (`patience_s`)."""

    def __init__(self, answer: Answer, request: httpx.Request) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.held_until = answer.held_until or 0.0


class Unsupported(httpx.TransportError):
    """A robot does not send this: a method other than GET and HEAD, or a request body."""


class CallError(httpx.TransportError, InputError):
    """The robot rejected the call: a public host without a contact, a header that cannot be sent, or a closed robot.
    The URL was not requested."""


class AsyncRobotTransport(httpx.AsyncBaseTransport):
    """Sends the requests of an `httpx.AsyncClient` through a `Robot`; the code that made the robot must close it.

    The time-outs for connecting and reading, added, limit one answer from the moment it is requested. Waiting until the
    host may be requested is limited by the robot's `patience_s`. Raises `Forbidden`, `WaitTooLong`, `Unsupported`,
    `CallError`, or the errors of HTTPX if there is no answer or an incomplete one.
    """

    def __init__(self, robot: Client) -> None:
        self._robot = robot

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the answer with its whole body."""
        send = self._robot.head if request.method == "HEAD" else self._robot.get
        url, options = _url(request), _options(request, await request.aread())
        try:
            answer = await send(url, **options)
        except InputError as error:
            raise CallError(str(error), request=request) from error
        return _response(answer, request)


class RobotTransport(httpx.BaseTransport):
    """Does the same for an `httpx.Client`, through `Robot.blocking(…)`."""

    def __init__(self, robot: BlockingClient | Client) -> None:
        self._robot = blocking(robot)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the answer with its whole body."""
        send = self._robot.head if request.method == "HEAD" else self._robot.get
        url, options = _url(request), _options(request, request.read())
        try:
            answer = send(url, **options)
        except InputError as error:
            raise CallError(str(error), request=request) from error
        return _response(answer, request)


def _url(request: httpx.Request) -> str:
    if request.method not in METHODS:
        raise Unsupported(f"{NO_OTHER_METHOD} {request.method}", request=request)
    return str(request.url)


def _options(request: httpx.Request, body: bytes) -> dict[str, Any]:
    """Returns the keyword arguments for `Client.get` and `Client.head`."""
    if body:
        raise Unsupported(NO_BODY, request=request)
    timeouts = request.extensions.get("timeout", {})
    seconds = [timeouts[name] for name in ("connect", "read") if timeouts.get(name) is not None]
    return {
        "headers": request_fields(request.headers.multi_items()),
        "redirects": 0,
        "public_only": bool(request.extensions.get(_FROM_PUBLIC)),
        "timeout_s": sum(seconds) if seconds else None,
    }


def _response(answer: Answer, request: httpx.Request) -> httpx.Response:
    if answer.response is None:
        raise _error(answer, request)
    if answer.truncated == "disconnect":
        raise httpx.RemoteProtocolError(f"{answer.url}: {answer.trouble}", request=request)
    if answer.from_public:
        request.extensions[_FROM_PUBLIC] = True
    return httpx.Response(
        answer.response.status,
        headers=[
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in response_fields(answer, request.method)
        ],
        stream=httpx.ByteStream(answer.content),
        request=request,
        extensions={
            "http_version": answer.response.version.encode("ascii", "replace"),
            "reason_phrase": answer.response.reason.encode("latin-1", "replace"),
        },
    )


_ERRORS: dict[str, type[httpx.TransportError]] = {
    "timeout": httpx.ReadTimeout,
    "reset": httpx.ReadError,
    "protocol": httpx.RemoteProtocolError,
}
"""Any other failure is a `ConnectError`."""


def _error(answer: Answer, request: httpx.Request) -> httpx.TransportError:
    if answer.failure is None:
        return WaitTooLong(answer, request) if answer.held_until is not None else Forbidden(answer, request)
    return _ERRORS.get(answer.failure.kind, httpx.ConnectError)(f"{answer.url}: {answer.trouble}", request=request)
