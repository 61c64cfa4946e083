"""The search page and its JSON twin as a Starlette application.

Endpoints are plain functions: Starlette runs each in a thread, so a search never holds up the event loop.
"""

import logging
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from goodbot.errors import GoodbotError, InputError
from goodbot.index import results_json
from goodbot.ports import Search
from goodbot.search_values import Results
from goodbot.web.checker_page import Asker, CheckerPage
from goodbot.web.crawl_page import CrawlDesk, CrawlPage
from goodbot.web.key_directory import KeyDirectory
from goodbot.web.metrics import CONTENT_TYPE, metrics_text
from goodbot.web.question import HITS_PER_PAGE, MAX_PAGE, MAX_QUERY_CHARS, Question, page_count, read_question
from goodbot.web.shield import HEADERS, Shield
from goodbot.web.templates_env import Templates, page_url
from goodbot.web.view import page_numbers, view_hit

_HERE = Path(__file__).parent
_log = logging.getLogger(__name__)

_ROBOTS_TXT = "User-agent: *\nDisallow: /search\nDisallow: /api/\nDisallow: /crawl\nDisallow: /metrics\n"
"""Result pages are endless and hold nothing of their own: robots are asked to stay at the front page."""

_MESSAGES = {
    400: ("That cannot be read", "What was sent is no form of these pages."),
    403: ("That is not yours to do", "Open the link with the token that goodbot serve prints."),
    404: ("There is nothing here", "No page has this address."),
    405: ("That cannot be done here", "This address does not answer requests of this kind."),
    413: ("That is too much", "Send less at once."),
    415: ("That cannot be read", "What was sent is of no kind that is read here."),
    500: ("Something went wrong", "The fault is ours, not yours. The log of this server says more."),
    503: ("The search is out of order", "The index cannot be read at the moment. The log of this server says why."),
}
_CRAWL_PATHS = ("/crawl", "/metrics")
_NO_CRAWL = ("The crawl is out of order", "Its files cannot be read at the moment. The log of this server says why.")


def create_app(
    search: Search,
    name: str,
    crawl: CrawlDesk | None = None,
    keys: KeyDirectory | None = None,
    asker: Asker | None = None,
) -> Starlette:
    """The application over `search`, which several threads will ask at once; `name` is what the page calls itself.

    With `crawl` it has a page of the crawl too, and numbers of it in /metrics; with `keys` the key of its robot.
    With `asker` the page that checks a robots.txt can fetch those of sites.
    """
    pages = Templates(name, has_crawl=crawl is not None)
    site = _SearchSite(search, pages, crawl)
    crawl_page = CrawlPage(crawl, pages) if crawl is not None else None
    return Starlette(
        routes=[
            Route("/", site.front),
            Route("/search", site.results),
            Route("/api/search", site.api),
            Route("/healthz", site.health),
            Route("/metrics", site.metrics),
            *(_crawl_routes(crawl_page) if crawl_page else ()),
            *((keys.route(),) if keys else ()),
            *CheckerPage(pages, asker).routes(),
            Route("/robots.txt", _robots_txt),
            Route("/favicon.ico", _icon),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
        ],
        middleware=[Middleware(Shield)],
        exception_handlers={
            InputError: site.refused,
            GoodbotError: site.out_of_order,
            HTTPException: site.not_served,
            ClientDisconnect: _left,
            Exception: site.broken,
        },
    )


def _crawl_routes(page: CrawlPage) -> tuple[Route, ...]:
    return Route("/crawl", page.show), Route("/crawl/{order}", page.act, methods=["POST"])


class _SearchSite:
    """The endpoints: each takes a request and gives a response."""

    def __init__(self, search: Search, pages: Templates, crawl: CrawlDesk | None) -> None:
        self._search = search
        self._pages = pages
        self._crawl = crawl

    def front(self, request: Request) -> Response:
        return self._page("front.html", documents=self._search.count(), hint="")

    def results(self, request: Request) -> Response:
        if not request.query_params.get("q", "").strip():
            return self._page("front.html", documents=self._search.count(), hint="Type a word or two to search for.")
        question = read_question(request.query_params)
        found = self._ask(question)
        if found.total == 0:
            return self._page("nothing.html", query=question.query, documents=self._search.count())
        pages = page_count(found.total)
        if question.page > pages:
            return RedirectResponse(page_url(question.query, pages), status_code=303)
        return self._page(
            "results.html",
            query=question.query,
            found=found,
            hits=[view_hit(hit) for hit in found.hits],
            first=question.offset + 1,
            page=question.page,
            pages=pages,
            numbers=page_numbers(question.page, pages),
            cut=question.page == MAX_PAGE and found.total > MAX_PAGE * HITS_PER_PAGE,
        )

    def api(self, request: Request) -> Response:
        question = read_question(request.query_params)
        found = self._ask(question)
        return JSONResponse({**results_json(found), "page": question.page, "pages": page_count(found.total)})

    def health(self, request: Request) -> Response:
        return JSONResponse({"ok": True, "documents": self._search.count()})

    def metrics(self, request: Request) -> Response:
        view = self._crawl.look() if self._crawl is not None else None
        return Response(metrics_text(self._search.count(), view), headers={"Content-Type": CONTENT_TYPE})

    def refused(self, request: Request, error: Exception) -> Response:
        """400: what was asked cannot be answered."""
        return self._error(request, 400, "That cannot be searched", str(error))

    def out_of_order(self, request: Request, error: Exception) -> Response:
        """503: index or crawl fail us. Their errors name files of this machine, so they go to the log, not to
        visitors."""
        path = request.url.path
        _log.warning("%s: %s", path, error)
        return self._error(request, 503, *(_NO_CRAWL if path.startswith(_CRAWL_PATHS) else _MESSAGES[503]))

    def not_served(self, request: Request, error: Exception) -> Response:
        """400 to 415."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        heading, line = _MESSAGES.get(status, _MESSAGES[404])
        if isinstance(error, HTTPException) and error.detail != HTTPStatus(status).phrase:
            line = error.detail
        response = self._error(request, status, heading, line)
        response.headers.update(getattr(error, "headers", None) or {})
        return response

    def broken(self, request: Request, error: Exception) -> Response:
        """500: a fault of ours. Starlette answers it outside of all middleware and then raises it again for the log."""
        response = self._error(request, 500, *_MESSAGES[500])
        response.headers.update(HEADERS)
        return response

    def _ask(self, question: Question) -> Results:
        return self._search.search(question.query, HITS_PER_PAGE, question.offset)

    def _error(self, request: Request, status: int, heading: str, line: str) -> Response:
        if request.url.path.startswith("/api/") or request.url.path == "/healthz":
            return JSONResponse({"error": line}, status_code=status)
        query = request.query_params.get("q", "").strip()[:MAX_QUERY_CHARS]
        return self._page("message.html", status, query=query, heading=heading, line=line)

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        return self._pages.page(template, status, **values)


def _left(request: Request, error: Exception) -> Response:
    """The visitor went away in the midst of sending: there is nobody to answer."""
    return Response(status_code=400)


def _robots_txt(request: Request) -> Response:
    return PlainTextResponse(_ROBOTS_TXT)


def _icon(request: Request) -> Response:
    return FileResponse(_HERE / "static" / "icon.svg")
