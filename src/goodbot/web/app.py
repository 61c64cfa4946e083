"""The Web application: search pages, the same search as JSON, and the routes of all other pages.

Endpoints are plain functions: Starlette runs each in a thread, so a search never blocks the event loop.
"""

import logging
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from goodbot.errors import GoodbotError, InputError, NoIndexError
from goodbot.index import MAX_QUERY_CHARS, results_json
from goodbot.ports import Search
from goodbot.search_values import Results
from goodbot.web.checker_page import CheckerPage, RobotsSource
from goodbot.web.crawl_page import CrawlDesk, CrawlPage
from goodbot.web.key_directory import KeyDirectory
from goodbot.web.metrics import CONTENT_TYPE, metrics_text
from goodbot.web.request_log import LOGGER
from goodbot.web.search_query import (
    HITS_PER_PAGE,
    MAX_PAGE,
    SearchQuery,
    page_count,
    read_search_query,
    readers_languages,
)
from goodbot.web.security_headers import HEADERS, SecurityHeaders
from goodbot.web.templates_env import Templates, page_url
from goodbot.web.view import page_numbers, view_hit

_HERE = Path(__file__).parent
_LOG: Final = logging.getLogger(LOGGER)

_ROBOTS_TXT = "User-agent: *\nDisallow: /search\nDisallow: /api/\nDisallow: /crawl\nDisallow: /metrics\n"
"""Allows robots only the front page and the checker: result pages are countless, and only repeat other pages."""

_MESSAGES = {
    400: ("Bad request", "The data sent cannot be read as a form."),
    403: ("Not allowed", "Control needs the link that `goodbot serve` printed."),
    404: ("Page not found", "There is no page at this address."),
    405: ("Method not allowed", "This address does not accept this request method."),
    413: ("Too much data", "Send less at a time."),
    415: ("Unsupported media type", "This address does not accept data of this type."),
    500: ("Server error", "This is a fault of the server. Its log has the details."),
    503: ("Search is unavailable", "The index cannot be read at the moment. The server's log says why."),
}
_SEARCH_PATHS = ("/search", "/api/search")
_CRAWL_PATHS = ("/crawl", "/metrics")
_CRAWL_UNAVAILABLE = (
    "Crawl status is unavailable",
    "The files of the crawl cannot be read at the moment. The server's log says why.",
)
_NO_CRAWL = (
    "No crawl is served here",
    "There is nothing to search or to control. To serve a crawl, run `goodbot serve --in DIR`",
)
_NO_INDEX = (
    "Search is unavailable",
    "This crawl keeps no index, because it runs with --no-index. To make one, run `goodbot index rebuild --in DIR`",
)


def create_app(
    search: Search | None,
    name: str,
    crawl: CrawlDesk | None = None,
    keys: KeyDirectory | None = None,
    robots_source: RobotsSource | None = None,
) -> Starlette:
    """Makes the application. `name` is the title of its pages.

    `search` must be safe to call from several threads; None: search pages explain that no crawl is served. `crawl` adds
    the crawl page and figures in /metrics, `keys` the key directory of a robot that signs. Without `robots_source` the
    checker cannot fetch the robots.txt of a site.
    """
    pages = Templates(name, has_search=search is not None, has_crawl=crawl is not None)
    site = _SearchSite(search, pages, crawl)
    crawl_page = CrawlPage(crawl, pages) if crawl is not None else None
    return Starlette(
        routes=[
            Route("/", site.front),
            Route("/search", site.results),
            Route("/api/search", site.api),
            Route("/api/suggest", site.suggest),
            Route("/healthz", site.health),
            Route("/metrics", site.metrics),
            *(_crawl_routes(crawl_page) if crawl_page else (Route("/crawl", site.no_crawl),)),
            *((keys.route(),) if keys else ()),
            *CheckerPage(pages, robots_source).routes(),
            Route("/robots.txt", _robots_txt),
            Route("/favicon.ico", _icon),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
        ],
        middleware=[Middleware(SecurityHeaders)],
        exception_handlers={
            NoIndexError: site.no_index,
            InputError: site.bad_query,
            GoodbotError: site.unavailable,
            HTTPException: site.http_error,
            ClientDisconnect: _disconnected,
            Exception: site.server_error,
        },
    )


def _crawl_routes(page: CrawlPage) -> tuple[Route, ...]:
    return Route("/crawl", page.show), Route("/crawl/{order}", page.act, methods=["POST"])


class _SearchSite:
    """The endpoints of the search, and the error pages of the whole application."""

    def __init__(self, search: Search | None, pages: Templates, crawl: CrawlDesk | None) -> None:
        self._search = search
        self._pages = pages
        self._crawl = crawl

    def front(self, request: Request) -> Response:
        return self._front("")

    def results(self, request: Request) -> Response:
        if self._search is None:
            return self._error(request, 404, *_NO_CRAWL)
        if not request.query_params.get("q", "").strip():
            return self._front("Type a word or two to search for.")
        query = read_search_query(request.query_params)
        found = _find(self._search, query, request)
        if found.total == 0:
            documents = self._count()
            return self._page(
                "nothing.html",
                query=query.query,
                documents=documents,
                why_empty=self._why_empty(documents),
                notes=found.notes,
                suggestion=found.suggestion,
            )
        pages = _page_count(found)
        if query.page > pages:
            return RedirectResponse(page_url(query.query, pages), status_code=303)
        return self._page(
            "results.html",
            query=query.query,
            found=found,
            hits=[view_hit(hit) for hit in found.hits],
            first=query.offset + 1,
            page=query.page,
            pages=pages,
            numbers=page_numbers(query.page, pages),
            cut=query.page == MAX_PAGE and pages == MAX_PAGE and found.total > MAX_PAGE * HITS_PER_PAGE,
        )

    def api(self, request: Request) -> Response:
        if self._search is None:
            return self._error(request, 404, *_NO_CRAWL)
        query = read_search_query(request.query_params)
        found = _find(self._search, query, request)
        pages = _page_count(found)
        return JSONResponse({**results_json(found), "page": query.page, "pages": pages})

    def suggest(self, request: Request) -> Response:
        """Returns the query typed and its completions (OpenSearch Suggestions 1.0)."""
        if self._search is None:
            return self._error(request, 404, *_NO_CRAWL)
        typed = request.query_params.get("q", "")[:MAX_QUERY_CHARS]
        return JSONResponse([typed, self._search.suggest(typed)])

    def no_crawl(self, request: Request) -> Response:
        """Answers 404 on the pages of a crawl if none is served."""
        return self._error(request, 404, *_NO_CRAWL)

    def health(self, request: Request) -> Response:
        """Searches for a word, because an index that can be opened may still be unreadable."""
        if self._search is not None:
            with suppress(NoIndexError):
                self._search.search("health", 1)
        return JSONResponse({"ok": True, "documents": self._count()})

    def metrics(self, request: Request) -> Response:
        view = self._crawl.look() if self._crawl is not None else None
        return Response(metrics_text(self._count(), view), headers={"Content-Type": CONTENT_TYPE})

    def bad_query(self, request: Request, error: Exception) -> Response:
        """Answers 400 to a query that cannot be searched for. On other pages, an InputError means that the files of the
        crawl are gone."""
        if not request.url.path.startswith(_SEARCH_PATHS):
            return self.unavailable(request, error)
        return self._error(request, 400, "Cannot search for this", str(error))

    def no_index(self, request: Request, error: Exception) -> Response:
        """Answers 404 to a search of a crawl that keeps no index; to programs 400, with the reason."""
        if request.url.path.startswith("/api/"):
            return self._error(request, 400, "", str(error))
        return self._error(request, 404, *_NO_INDEX)

    def unavailable(self, request: Request, error: Exception) -> Response:
        """Answers 503 if the index or the crawl cannot be read. The error names files of this machine, so it goes to
        the log and not to visitors."""
        path = request.url.path
        _LOG.error("%s %s is unavailable: %s", request.method, path, error)
        return self._error(request, 503, *(_CRAWL_UNAVAILABLE if path.startswith(_CRAWL_PATHS) else _MESSAGES[503]))

    def http_error(self, request: Request, error: Exception) -> Response:
        """Answers errors with status 400 to 415 with an error page."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        heading, line = _MESSAGES.get(status, _MESSAGES[404])
        if isinstance(error, HTTPException) and error.detail != HTTPStatus(status).phrase:
            line = error.detail
        response = self._error(request, status, heading, line)
        response.headers.update(getattr(error, "headers", None) or {})
        return response

    def server_error(self, request: Request, error: Exception) -> Response:
        """Answers 500. Starlette sends this response outside all middleware, and raises the exception again."""
        response = self._error(request, 500, *_MESSAGES[500])
        response.headers.update(HEADERS)
        return response

    def _front(self, hint: str) -> Response:
        documents = self._count()
        return self._page("front.html", documents=documents, hint=hint, why_empty=self._why_empty(documents))

    def _why_empty(self, documents: int) -> str:
        """Returns why no page is indexed, or an empty string if some are. Only a running crawl will add pages."""
        if documents or self._crawl is None:
            return "" if documents else "No page is indexed yet."
        view = self._crawl.look()
        if view.running:
            return "No page is indexed yet. Pages appear here as the crawl fetches them."
        return f"No page is indexed, and the crawl is {'finished' if view.status.finished else 'not running'}."

    def _count(self) -> int:
        return self._search.count() if self._search is not None else 0

    def _error(self, request: Request, status: int, heading: str, line: str) -> Response:
        if request.url.path.startswith("/api/") or request.url.path == "/healthz":
            return JSONResponse({"error": line.replace("`", "")}, status_code=status)
        query = request.query_params.get("q", "").strip()[:MAX_QUERY_CHARS]
        return self._page("message.html", status, query=query, heading=heading, line=line, link=None)

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        return self._pages.page(template, status, **values)


def _find(search: Search, query: SearchQuery, request: Request) -> Results:
    languages = readers_languages(request.headers.get("accept-language", ""))
    return search.search(query.query, HITS_PER_PAGE, query.offset, languages)


def _page_count(found: Results) -> int:
    """Returns the number of pages of results. Translations and copies, which are one hit, count once if it is known how
    many hits there are."""
    return page_count(found.total if found.listed is None else found.listed)


def _disconnected(request: Request, error: Exception) -> Response:
    """Ends the handling of a request whose client disconnected while sending; nobody reads this response."""
    return Response(status_code=400)


def _robots_txt(request: Request) -> Response:
    return PlainTextResponse(_ROBOTS_TXT)


def _icon(request: Request) -> Response:
    return FileResponse(_HERE / "static" / "icon.svg")
