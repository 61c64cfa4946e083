"""Lets programs that use Requests crawl politely, through a goodbot `Robot`. Importing this needs Requests.

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
    blocking,
    request_fields,
    response_fields,
)
from goodbot.robot.client.answer import Answer, redirect_of
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client
from goodbot.robot.client.given_arguments import parsed

__all__ = ["CallError", "Forbidden", "RobotAdapter", "Unsupported", "WaitTooLong"]


_FROM_PUBLIC = "goodbot.from_public"
"""A key in `hooks`: a public host redirected to this URL. Requests copies the request when it follows a redirect, and
both share their `hooks`, so the mark stays even if the URL is rewritten. Requests ignores hooks of unknown names."""


class Forbidden(RequestException):
    """robots.txt disallows the URL; `verdict` says why. The URL was not requested."""

    def __init__(self, answer: Answer, request: PreparedRequest) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.verdict: Verdict = answer.verdict


class WaitTooLong(RequestException):
    """The host may not be sent a request before `held_until` (Unix seconds), and the robot does not wait that long
    (`patience_s`)."""

    def __init__(self, answer: Answer, request: PreparedRequest) -> None:
        super().__init__(f"{answer.url}: {answer.trouble}", request=request)
        self.held_until = answer.held_until or 0.0


class Unsupported(RequestException):
    """A robot does not send this: a method other than GET and HEAD, a request body, or a client certificate."""


class CallError(RequestException, InputError):
    """The robot rejected the call: a public host without a contact, a header that cannot be sent, or a closed robot.
    The URL was not requested."""


class RobotAdapter(BaseAdapter):
    """Sends the requests of a session through a robot; the code that made the robot must close it.

    `timeout` limits one answer from the moment it is requested, connecting included. Waiting until the host may be
    requested is limited by the robot's `patience_s`. The robot's own settings decide about certificates and proxies.
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
        """Returns the answer with its whole body, even with `stream`. Raises `Forbidden`, `WaitTooLong`, `Unsupported`,
        `CallError`, or the errors of Requests if there is no answer or an incomplete one (a redirect needs no body)."""
        _check(request, cert)
        try:
            answer = self._send(request, _seconds(timeout))
        except InputError as error:
            raise CallError(str(error), request=request) from error
        if answer.response is None:
            raise _error(answer, request)
        target = redirect_of(answer)
        if answer.truncated == "disconnect" and target is None:
            raise ChunkedEncodingError(f"{answer.url}: {answer.trouble}", request=request)
        self._redirects.learn(answer, target)
        if answer.from_public and target is not None:
            request.hooks.setdefault(_FROM_PUBLIC, [])
        return _response(answer, request, self)

    def _send(self, request: PreparedRequest, timeout_s: float | None) -> Answer:
        url = parsed(request.url or "").text
        send = self._robot.head if request.method == "HEAD" else self._robot.get
        from_public = self._redirects.take(url) or _FROM_PUBLIC in request.hooks
        return send(
            url,
            headers=request_fields((str(name), _text(value)) for name, value in request.headers.items()),
            redirects=0,
            public_only=from_public,
            timeout_s=timeout_s,
        )

    def close(self) -> None:
        """Does nothing: the robot stays open, since other sessions may use it."""


def _check(request: PreparedRequest, cert: object) -> None:
    if request.method not in METHODS:
        raise Unsupported(f"{NO_OTHER_METHOD} {request.method}", request=request)
    if request.body:
        raise Unsupported(NO_BODY, request=request)
    if cert:
        raise Unsupported("a robot sends no client certificate", request=request)


def _error(answer: Answer, request: PreparedRequest) -> RequestException:
    text = f"{answer.url}: {answer.trouble}"
    if answer.failure is None:
        return WaitTooLong(answer, request) if answer.held_until is not None else Forbidden(answer, request)
    if answer.failure.kind == "timeout":
        return ReadTimeout(text, request=request)
    return (SSLError if answer.failure.kind == "tls" else ConnectionFailure)(text, request=request)


def _response(answer: Answer, request: PreparedRequest, adapter: RobotAdapter) -> Response:
    fields = response_fields(answer, request.method or "")
    made = Response()
    made.status_code = answer.status or 0
    made.reason = answer.response.reason if answer.response is not None else ""
    made.url = request.url or answer.url  # with its fragment, as in Requests
    made.headers = CaseInsensitiveDict(HTTPHeaderDict(fields))
    made.encoding = get_encoding_from_headers(made.headers)
    made.request = request
    made.connection = adapter  # type: ignore[assignment]  # the stubs allow only HTTPAdapter
    made.raw = HTTPResponse(
        body=BytesIO(answer.content),
        headers=HTTPHeaderDict(fields),
        status=made.status_code,
        reason=made.reason,
        preload_content=False,
        decode_content=False,
        request_method=request.method,
        original_response=_Original(fields),  # type: ignore[arg-type]  # only what cookies need
    )
    extract_cookies_to_jar(made.cookies, request, made.raw)  # type: ignore[no-untyped-call]
    return made


class _Original:
    """The part of an `http.client` response that the search for cookies needs."""

    def __init__(self, fields: tuple[tuple[str, str], ...]) -> None:
        self.msg = Message()
        for name, value in fields:
            self.msg[name] = value

    def isclosed(self) -> bool:
        return True

    def close(self) -> None:
        """Does nothing: nothing is open."""


def _seconds(timeout: object) -> float | None:
    """Returns the time-outs for connecting and reading, added."""
    parts = timeout if isinstance(timeout, tuple) else (timeout,)
    seconds = [float(part) for part in parts if isinstance(part, int | float)]
    return sum(seconds) if seconds else None


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
