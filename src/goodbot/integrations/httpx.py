"""A robot's manners for programs that use HTTPX. Importing this needs HTTPX.

robot = Robot("MyBot/1.0", contact="mailto:me@example.org")
async with robot, httpx.AsyncClient(transport=AsyncRobotTransport(robot)) as client:
    answer = await client.get("https://example.org/")
"""

from typing import Any

import httpx

from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.integrations.http_clients import METHODS, NO_BODY, NO_OTHER_METHOD, answered_fields, asked_fields, blocking
from goodbot.robot.client.answer import Answer
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client

__all__ = ["AsyncRobotTransport", "CallError", "Forbidden", "HostRests", "RobotTransport", "Unsupported"]

_LED_BY_PUBLIC = "goodbot.from_public"
"""A redirect has the extensions of the request it answers."""


class Forbidden(httpx.TransportError):
    """robots.txt forbids the URL, as `verdict` says. Nothing was fetched."""

    def __init__(self, answer: Answer, request: httpx.Request) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.verdict: Verdict = answer.verdict


class HostRests(httpx.TransportError):
    """The host is to be left alone until `held_until` (Unix seconds), longer than the robot has patience."""

    def __init__(self, answer: Answer, request: httpx.Request) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.held_until = answer.held_until or 0.0


class Unsupported(httpx.TransportError):
    """What no robot does: a method but GET and HEAD, or a body."""


class CallError(httpx.TransportError, InputError):
    """What the robot takes for wrong with the call: a public host without a contact, a header that cannot be sent, a
    robot that is closed. Nothing was fetched."""


class AsyncRobotTransport(httpx.AsyncBaseTransport):
    """Sends the requests of an `httpx.AsyncClient` through a `Robot`, which is to be closed by who made it.

    The time-outs for connecting and reading, together, are for one answer once it is asked for; a host's turn is waited
    for however long the robot has patience. Raises `Forbidden`, `HostRests`, `Unsupported`, `CallError`, or what HTTPX
    raises where there is no answer, or one that breaks off.
    """

    def __init__(self, robot: Client) -> None:
        self._robot = robot

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, whole."""
        ask = self._robot.head if request.method == "HEAD" else self._robot.get
        url, asked = _url(request), _asked(request, await request.aread())
        try:
            answer = await ask(url, **asked)
        except InputError as error:
            raise CallError(str(error), request=request) from error
        return _response(answer, request)


class RobotTransport(httpx.BaseTransport):
    """The same for an `httpx.Client`, over `Robot.blocking(…)`."""

    def __init__(self, robot: BlockingClient | Client) -> None:
        self._robot = blocking(robot)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, whole."""
        ask = self._robot.head if request.method == "HEAD" else self._robot.get
        url, asked = _url(request), _asked(request, request.read())
        try:
            answer = ask(url, **asked)
        except InputError as error:
            raise CallError(str(error), request=request) from error
        return _response(answer, request)


def _url(request: httpx.Request) -> str:
    if request.method not in METHODS:
        raise Unsupported(f"{NO_OTHER_METHOD} {request.method}", request=request)
    return str(request.url)


def _asked(request: httpx.Request, body: bytes) -> dict[str, Any]:
    """What `Client.get` is told."""
    if body:
        raise Unsupported(NO_BODY, request=request)
    timeouts = request.extensions.get("timeout", {})
    seconds = [timeouts[name] for name in ("connect", "read") if timeouts.get(name) is not None]
    return {
        "headers": asked_fields(request.headers.multi_items()),
        "redirects": 0,
        "public_only": bool(request.extensions.get(_LED_BY_PUBLIC)),
        "timeout_s": sum(seconds) if seconds else None,
    }


def _response(answer: Answer, request: httpx.Request) -> httpx.Response:
    if answer.response is None:
        raise _error(answer, request)
    if answer.truncated == "disconnect":
        raise httpx.RemoteProtocolError(f"{answer.url}: {answer.trouble}", request=request)
    if answer.from_public:
        request.extensions[_LED_BY_PUBLIC] = True
    return httpx.Response(
        answer.response.status,
        headers=[
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in answered_fields(answer, request.method)
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
"""Any other failure is one to connect."""


def _error(answer: Answer, request: httpx.Request) -> httpx.TransportError:
    if answer.failure is None:
        return HostRests(answer, request) if answer.held_until is not None else Forbidden(answer, request)
    return _ERRORS.get(answer.failure.kind, httpx.ConnectError)(f"{answer.url}: {answer.trouble}", request=request)
