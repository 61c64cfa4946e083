"""Describes the API to programs (OpenAPI 3.1)."""

from collections.abc import Collection, Iterable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from goodbot.web.machines.api_operations import OPERATIONS
from goodbot.web.machines.api_schemas import SCHEMAS
from goodbot.web.machines.own_robots_txt import MAX_AGE_S
from goodbot.web.site import Site

VERSION: Final = "1"
"""The version of the API. It changes if programs must change."""
TAGS: Final = {
    "search": "Searching the pages of a crawl",
    "pages": "Status of a page, and submissions",
    "robots.txt": "Checking robots.txt files",
    "robots": "The robots directory",
    "operation": "Monitoring",
}
_DESCRIPTION: Final = (
    "Every error is a JSON object with `error`, one sentence. Pages of other sites may read all answers to GET, and "
    "send the searches of DocSearch, but no other POST. Some answers are not JSON: 414 or 431 if request line and "
    "headers exceed 16 KiB, 400 if a request is not HTTP, 408 if it takes too long to arrive, 503 if all connections "
    "are busy."
)


class OpenApi:
    """The endpoint of the description, which has the operations that `routes` serve."""

    def __init__(self, site: Site, routes: Iterable[BaseRoute]) -> None:
        served = {
            (method, route.path) for route in routes if isinstance(route, Route) for method in route.methods or ()
        }
        self._document = openapi_document(site, {*served, ("GET", "/openapi.json")})

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/openapi.json", self.show),)

    def show(self, request: Request) -> Response:
        """GET /openapi.json: the document."""
        return JSONResponse(self._document, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})


def openapi_document(site: Site, served: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Returns the document of a site; `served` are method and path of its routes."""
    operations = [each for each in OPERATIONS if (each.method.upper(), each.path) in served]
    ids = {operation.id for operation in operations}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = operation.as_json(ids)
    return {
        "openapi": "3.1.0",
        "info": {"title": site.name, "version": VERSION, "description": _DESCRIPTION},
        "servers": [{"url": (site.public_url or "/").rstrip("/") or "/"}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
