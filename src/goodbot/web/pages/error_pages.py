"""Answers requests that fail: as pages for people, as JSON for programs."""

import logging
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from goodbot.errors import AwaitedError
from goodbot.index import MAX_QUERY_CHARS
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable
from goodbot.web.pages.waits import Wait, wait_of
from goodbot.web.server.request_log import LOGGER
from goodbot.web.server.security_headers import security_headers

_LOG: Final = logging.getLogger(LOGGER)

MESSAGES: Final = {
    400: (translatable("Bad request"), translatable("The data sent cannot be read as a form.")),
    403: (translatable("Not allowed"), translatable("This server refuses this request.")),
    404: (translatable("Page not found"), translatable("There is no page at this address.")),
    405: (translatable("Method not allowed"), translatable("This URL does not accept this request method.")),
    413: (translatable("Too much data"), translatable("Send less at a time.")),
    415: (translatable("Unsupported media type"), translatable("This URL does not accept data of this type.")),
    429: (translatable("Too many requests"), translatable("Too many requests have come from your IP address.")),
    500: (translatable("Server error"), translatable("The server failed. Its log has the details.")),
    503: (
        translatable("Search is unavailable"),
        translatable("The index cannot be read at the moment. The server's log says why."),
    ),
}
NO_CRAWL: Final = (
    translatable("No crawl is served here"),
    translatable("There is nothing to search or to control. To serve a crawl, run `goodbot serve --in DIR`"),
)
ONLY_A_COPY: Final = (
    translatable("No crawl is served here"),
    translatable("This server searches a copy of an index. The crawl is on another machine."),
)
INDEX_AWAITED: Final = (
    translatable("Search is unavailable"),
    translatable("This server is still fetching its copy of the index."),
)
NO_INDEX: Final = (
    translatable("Search is unavailable"),
    translatable("This crawl keeps no index, so its pages cannot be searched."),
)
CRAWL_UNAVAILABLE: Final = (
    translatable("Crawl status is unavailable"),
    translatable("The files or the database of the crawl cannot be read at the moment. The server's log says why."),
)
_SEARCH_PATHS: Final = ("/search", "/api/search", "/api/explain", "/explain")
_CRAWL_PATHS: Final = (
    *("/crawl", "/metrics", "/submit", "/api/submit", "/indexnow"),
    *("/removal", "/cached", "/why", "/api/why"),
)
_JSON_PATHS: Final = ("/api/", "/healthz", "/indexnow", "/metrics", "/search.atom", "/openapi.json", "/1/")


class ErrorPages:
    """The answers to requests that fail. Handlers of Starlette take the request and the exception."""

    def __init__(self, pages: Templates) -> None:
        self._pages = pages

    def error(
        self, request: Request, status: int, heading: str, line: str, wait: Wait | None = None, original: str = ""
    ) -> Response:
        """Answers with an error page, or with JSON where programs ask. `wait`: in how many seconds or minutes the
        request may be sent again. `original`: the URL of the service that has what is missing here."""
        if request.url.path.startswith(_JSON_PATHS):
            said = line if wait is None else f"{line} Try again in {wait}."
            return JSONResponse({"error": said.replace("`", "")}, status_code=status)
        query = request.query_params.get("q", "").strip()[:MAX_QUERY_CHARS]
        values = {"query": query, "heading": heading, "line": line, "wait": wait, "link_to": None, "original": original}
        return self._pages.page(request, "message.html", status, **values)

    def no_crawl(self, request: Request) -> Response:
        """Answers 404 on the pages of a crawl if none is served."""
        original = self._pages.site.copy_of
        return self.error(request, 404, *(NO_CRAWL if original is None else ONLY_A_COPY), original=original or "")

    def too_many(self, request: Request, seconds: int) -> Response:
        """Answers 429 to a client that must wait for so many seconds."""
        return self.error(request, 429, *MESSAGES[429], wait_of(seconds))

    def bad_query(self, request: Request, error: Exception) -> Response:
        """Answers 400 to a query that cannot be searched for. On other pages, an InputError means that the files of the
        crawl are gone."""
        if not request.url.path.startswith(_SEARCH_PATHS):
            return self.unavailable(request, error)
        return self.error(request, 400, translatable("Cannot search for this"), str(error))

    def no_index(self, request: Request, error: Exception) -> Response:
        """Answers 404 to a search of a crawl that keeps no index, and 400 to programs. The error names the crawl's
        folder, so it does not go to visitors."""
        return self.error(request, 400 if request.url.path.startswith(_JSON_PATHS) else 404, *NO_INDEX)

    def unavailable(self, request: Request, error: Exception) -> Response:
        """Answers 503 if the index or the crawl cannot be read. The error names files of this machine, so it goes to
        the log and not to visitors. While a copy of an index is being fetched, nothing is wrong."""
        path = request.url.path
        if isinstance(error, AwaitedError):
            _LOG.info("%s %s has to wait: %s", request.method, path, error)
            return self.error(request, 503, *INDEX_AWAITED)
        _LOG.error("%s %s is unavailable: %s", request.method, path, error)
        return self.error(request, 503, *(CRAWL_UNAVAILABLE if path.startswith(_CRAWL_PATHS) else MESSAGES[503]))

    def http_error(self, request: Request, error: Exception) -> Response:
        """Answers errors with status 400 to 429 with an error page."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        heading, line = MESSAGES.get(status, MESSAGES[404])
        if isinstance(error, HTTPException) and error.detail != HTTPStatus(status).phrase:
            line = error.detail
        response = self.error(request, status, heading, line)
        response.headers.update(getattr(error, "headers", None) or {})
        if status == 405:
            response.headers["Allow"] = ", ".join(sorted(_methods_for(request)))
        return response

    def server_error(self, request: Request, error: Exception) -> Response:
        """Answers 500. Starlette sends this response outside all middleware, and raises the exception again."""
        response = self.error(request, 500, *MESSAGES[500])
        response.headers.update(security_headers(is_secure=self._pages.site.is_secure))
        return response


def disconnected(request: Request, error: Exception) -> Response:
    """Ends the handling of a request whose client disconnected while sending; nobody reads this response."""
    return Response(status_code=400)


def _methods_for(request: Request) -> set[str]:
    """Returns the methods that a path accepts. Several routes may have the path; Starlette names those of one."""
    matching = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return {method for route in matching for method in (getattr(route, "methods", None) or ("GET", "HEAD"))}
