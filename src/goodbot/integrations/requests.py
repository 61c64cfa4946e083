"""A robot's manners for programs that use Requests. Importing this needs Requests.

session = requests.Session()
adapter = RobotAdapter(Robot.blocking("MyBot/1.0", contact="mailto:me@example.org"))
session.mount("https://", adapter)
session.mount("http://", adapter)
"""

from collections.abc import Mapping
from email.message import Message
from io import BytesIO

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.exceptions import ChunkedEncodingError, ReadTimeout, RequestException, SSLError
from requests.exceptions import ConnectionError as ConnectionFailure
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers
from urllib3 import HTTPHeaderDict, HTTPResponse

from goodbot.errors import InputError
from goodbot.exclusion import Verdict
from goodbot.integrations.http_clients import (
    METHODS,
    NO_BODY,
    NO_OTHER_METHOD,
    Redirects,
    answered_fields,
    asked_fields,
    blocking,
)
from goodbot.robot.client.answer import Answer, redirect_of
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client, parsed

__all__ = ["CallError", "Forbidden", "HostRests", "RobotAdapter", "Unsupported"]


_LED_BY_PUBLIC = "goodbot.from_public"
"""Requests makes the request for a redirect as a copy of the one before, and both have the same `hooks`: a mark there
stays, however the URL is written anew. It is no event that Requests knows."""


class Forbidden(RequestException):
    """robots.txt forbids the URL, as `verdict` says. Nothing was fetched."""

    def __init__(self, answer: Answer, request: PreparedRequest) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.verdict: Verdict = answer.verdict


class HostRests(RequestException):
    """The host is to be left alone until `held_until` (Unix seconds), longer than the robot has patience."""

    def __init__(self, answer: Answer, request: PreparedRequest) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.held_until = answer.held_until or 0.0


class Unsupported(RequestException):
    """What no robot does: a method but GET and HEAD, a body, a certificate of its own for one request."""


class CallError(RequestException, InputError):
    """What the robot takes for wrong with the call: a public host without a contact, a header that cannot be sent, a
    robot that is closed. Nothing was fetched."""


class RobotAdapter(BaseAdapter):
    """Sends the requests of a session through a robot, which is to be closed by who made it.

    `timeout` is for one answer once it is asked for, connecting included; a host's turn is waited for however long the
    robot has patience. Certificates are verified, and proxies used, as the robot was told.
    """

    def __init__(self, robot: BlockingClient | Client) -> None:
        super().__init__()
        self._robot = blocking(robot)
        self._redirects = Redirects()

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> Response:
        """The answer, whole, whether `stream` or not. Raises `Forbidden`, `HostRests`, `Unsupported`, `CallError`, or
        what Requests raises where there is no answer, or one that breaks off: of a redirect it needs no body."""
        _check(request, cert)
        try:
            answer = self._ask(request, _seconds(timeout))
        except InputError as error:
            raise CallError(str(error), request=request) from error
        if answer.response is None:
            raise _error(answer, request)
        target = redirect_of(answer)
        if answer.truncated == "disconnect" and target is None:
            raise ChunkedEncodingError(f"{answer.url}: {answer.trouble}", request=request)
        self._redirects.learn(answer, target)
        if answer.from_public and target is not None:
            request.hooks.setdefault(_LED_BY_PUBLIC, [])
        return _response(answer, request, self)

    def _ask(self, request: PreparedRequest, timeout_s: float | None) -> Answer:
        url = parsed(request.url or "").text
        ask = self._robot.head if request.method == "HEAD" else self._robot.get
        led_by_public = self._redirects.take(url) or _LED_BY_PUBLIC in request.hooks
        return ask(
            url,
            headers=asked_fields((str(name), _text(value)) for name, value in request.headers.items()),
            redirects=0,
            public_only=led_by_public,
            timeout_s=timeout_s,
        )

    def close(self) -> None:
        """The robot stays open: others may use it."""


def _check(request: PreparedRequest, cert: object) -> None:
    if request.method not in METHODS:
        raise Unsupported(f"{NO_OTHER_METHOD} {request.method}", request=request)
    if request.body:
        raise Unsupported(NO_BODY, request=request)
    if cert:
        raise Unsupported("a robot shows no certificate", request=request)


def _error(answer: Answer, request: PreparedRequest) -> RequestException:
    text = f"{answer.url}: {answer.trouble}"
    if answer.failure is None:
        return HostRests(answer, request) if answer.held_until is not None else Forbidden(answer, request)
    if answer.failure.kind == "timeout":
        return ReadTimeout(text, request=request)
    return (SSLError if answer.failure.kind == "tls" else ConnectionFailure)(text, request=request)


def _response(answer: Answer, request: PreparedRequest, adapter: RobotAdapter) -> Response:
    fields = answered_fields(answer, request.method or "")
    made = Response()
    made.status_code = answer.status or 0
    made.reason = answer.response.reason if answer.response is not None else ""
    made.url = request.url or answer.url  # with its fragment, as ever
    made.headers = CaseInsensitiveDict(HTTPHeaderDict(fields))
    made.encoding = get_encoding_from_headers(made.headers)
    made.request = request
    made.connection = adapter  # type: ignore[assignment]  # the stubs know one kind only
    made.raw = HTTPResponse(
        body=BytesIO(answer.content),
        headers=HTTPHeaderDict(fields),
        status=made.status_code,
        reason=made.reason,
        preload_content=False,
        decode_content=False,
        request_method=request.method,
        original_response=_Original(fields),  # type: ignore[arg-type]  # the little that cookies need of it
    )
    extract_cookies_to_jar(made.cookies, request, made.raw)  # type: ignore[no-untyped-call]
    return made


class _Original:
    """What `http.client` would have received, as far as cookies are looked for in it."""

    def __init__(self, fields: tuple[tuple[str, str], ...]) -> None:
        self.msg = Message()
        for name, value in fields:
            self.msg[name] = value

    def isclosed(self) -> bool:
        return True

    def close(self) -> None:
        """There is nothing open."""


def _seconds(timeout: object) -> float | None:
    """For connecting and for reading, together."""
    parts = timeout if isinstance(timeout, tuple) else (timeout,)
    seconds = [float(part) for part in parts if isinstance(part, int | float)]
    return sum(seconds) if seconds else None


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
