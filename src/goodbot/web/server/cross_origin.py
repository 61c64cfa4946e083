"""Lets pages of other sites read what this server answers to programs: searches, never anything that changes."""

from collections.abc import Collection, Iterable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING: Final = ("GET", "HEAD")
MORE: Final = frozenset({"/openapi.json", "/opensearch.xml", "/search.atom", "/searxng.yml"})
PREFLIGHT_S: Final = 24 * 3600
"""Browsers may remember for so long that a request is allowed; most of them shorten it."""


def shared_paths(routes: Iterable[BaseRoute]) -> frozenset[str]:
    """Returns the paths of the API that answer GET: `/api/…`, and `MORE`."""
    return frozenset(
        route.path
        for route in routes
        if isinstance(route, Route) and "GET" in (route.methods or ())
        if route.path.startswith("/api/") or route.path in MORE
    )


class CrossOriginReading:
    """ASGI middleware: shares the answers to GET requests for `paths` with every origin (CORS, Fetch standard §3.2).

    Answers preflights for these only. A preflight for POST gets no permission, so no browser sends the POST. Cookies
    are never accepted from other origins.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str]) -> None:
        self._app = app
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and _asks_to_read(scope):
            await _permission()(scope, receive, send)
        elif scope["method"] in READING:
            await self._app(scope, receive, _shared(send))
        else:
            await self._app(scope, receive, send)


def _asks_to_read(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "origin" in headers and headers.get("access-control-request-method") in READING


def _permission() -> Response:
    """Answers a preflight. Any header may be sent, except Authorization, which `*` does not include."""
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": ", ".join(READING),
            "Access-Control-Allow-Headers": "*",
            "Access-Control-Max-Age": str(PREFLIGHT_S),
        },
    )


def _shared(send: Send) -> Send:
    async def send_shared(message: Message) -> None:
        if message["type"] == "http.response.start":
            fields = MutableHeaders(scope=message)
            fields["Access-Control-Allow-Origin"] = "*"
            fields["Access-Control-Expose-Headers"] = "Retry-After"
            fields["Cross-Origin-Resource-Policy"] = "cross-origin"
        await send(message)

    return send_shared
