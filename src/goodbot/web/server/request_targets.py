"""Understands every form of a request target (RFC 9112 §3.2)."""

import re
from typing import Final
from urllib.parse import unquote

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from goodbot.web.server.request_metrics import METHODS
from goodbot.web.server.security_headers import HEADERS

_ABSOLUTE: Final = re.compile(rb"https?://([^/@#]+)(/.*)?", re.IGNORECASE | re.DOTALL)
_ALLOW: Final = {"Allow": ", ".join(sorted(METHODS))}


class RequestTargets:
    """ASGI middleware: gives the application paths only.

    A whole URL as target is served as its path; its host replaces the one in Host. `OPTIONS *` asks what the server can
    do. Other targets get status 400, and CONNECT gets 405, because this server is not a proxy.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["raw_path"].startswith(b"/"):
            await self._app(scope, receive, send)
        elif (url := _ABSOLUTE.fullmatch(scope["raw_path"])) and scope["method"] != "CONNECT":
            await self._app(_with_path(scope, url[1], url[2] or b"/"), receive, send)
        else:
            await _answer(scope)(scope, receive, send)


def _with_path(scope: Scope, host: bytes, raw_path: bytes) -> Scope:
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    path = unquote(raw_path.decode("ascii"))
    return {**scope, "path": path, "raw_path": raw_path, "headers": [(b"host", host), *headers]}


def _answer(scope: Scope) -> Response:
    if scope["method"] == "CONNECT":
        return PlainTextResponse("This server is not a proxy.\n", 405, {**HEADERS, **_ALLOW})
    if scope["method"] == "OPTIONS" and scope["raw_path"] == b"*":
        return Response(status_code=204, headers={**HEADERS, **_ALLOW})
    return PlainTextResponse("The target of a request must be a path or an http URL.\n", 400, HEADERS)
