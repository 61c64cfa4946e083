"""Lets pages of other sites read what this server answers to programs: searches, never anything that changes."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING: Final = ("GET", "HEAD")
MORE: Final = frozenset({"/openapi.json", "/opensearch.xml", "/search.atom", "/searxng.yml"})
SEARCHES: Final = frozenset({"/1/indexes/*/queries"})
"""Paths to which programs POST searches, as DocSearch does. Such a POST changes nothing."""
PREFLIGHT_S: Final = 24 * 3600
"""Browsers may remember for so long that a request is allowed; most of them shorten it."""


def shared_paths(routes: Iterable[BaseRoute]) -> Mapping[str, Collection[str]]:
    """Returns the paths that pages of other sites may use, each with its methods: GET and HEAD for those of the API
    that answer GET (`/api/…`, and `MORE`), POST for `SEARCHES`."""
    shared: dict[str, Collection[str]] = {}
    for route in routes:
        if isinstance(route, Route) and "GET" in (route.methods or ()):
            if route.path.startswith("/api/") or route.path in MORE:
                shared[route.path] = READING
        elif isinstance(route, Route) and route.path in SEARCHES:
            shared[route.path] = ("POST",)
    return shared


class CrossOriginReading:
    """ASGI middleware: shares the answers to some requests with every origin (CORS, Fetch standard §3.2). `paths` has
    the methods of these requests for each path.

    Answers preflights for these only. A preflight for another method gets no permission, so no browser sends the
    request. Cookies are never accepted from other origins.
    """

    def __init__(self, app: ASGIApp, paths: Mapping[str, Collection[str]]) -> None:
        self._app = app
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        methods = self._paths.get(scope["path"], ()) if scope["type"] == "http" else ()
        if methods and scope["method"] == "OPTIONS" and _asks_for(scope, methods):
            await _permission(methods)(scope, receive, send)
        elif methods and scope["method"] in methods:
            await self._app(scope, receive, _shared(send))
        else:
            await self._app(scope, receive, send)


def _asks_for(scope: Scope, methods: Collection[str]) -> bool:
    headers = Headers(scope=scope)
    return "origin" in headers and headers.get("access-control-request-method") in methods


def _permission(methods: Collection[str]) -> Response:
    """Answers a preflight. Any header may be sent, except Authorization, which `*` does not include."""
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": ", ".join(methods),
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
