"""The home page, the pages of results, and the same search for programs.

Endpoints are plain functions that run in threads, so a search never blocks the event loop.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, NoIndexError
from goodbot.index import MAX_QUERY_CHARS, results_json
from goodbot.ports import Search
from goodbot.search_values import Filters, Results
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import languages_of, reader_of, translatable
from goodbot.web.pages.view import page_numbers, view_hit
from goodbot.web.search.filter_bar import FilterBar, filter_bar
from goodbot.web.search.search_query import (
    HITS_PER_PAGE,
    MAX_PAGE,
    SearchQuery,
    pages_of,
    read_filters,
    read_search_query,
    search_state,
    settled_filters,
)
from goodbot.web.search.search_threads import SearchThreads

SUGGESTIONS: Final = "application/x-suggestions+json"
WhyEmpty = Callable[[int], str]
"""Says why no page is indexed, given the number of indexed pages; empty if there are some."""


def _today() -> date:
    return datetime.now(UTC).date()


class SearchPages:
    """The endpoints of the search. `today` returns the day, in UTC."""

    def __init__(
        self,
        search: Search,
        threads: SearchThreads,
        pages: Templates,
        why_empty: WhyEmpty,
        today: Callable[[], date] = _today,
    ) -> None:
        self._search = search
        self._threads = threads
        self._pages = pages
        self._why_empty = why_empty
        self._today = today

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of all endpoints."""
        return (
            Route("/", self.home),
            Route("/search", self._threads.runs(self.results)),
            Route("/api/search", self._threads.runs(self.api)),
            Route("/api/suggest", self._threads.runs(self.suggest)),
        )

    def home(self, request: Request) -> Response:
        """GET /: the search form."""
        return self._home(request, "")

    def results(self, request: Request) -> Response:
        """GET /search: one page of results. Answers 400, with the forms still filled in, to a query or a filter that
        cannot be used."""
        typed = request.query_params.get("q", "").strip()
        if not typed:
            return self._home(request, translatable("Type a word or two to search for."))
        try:
            settled = settled_filters(request.query_params, self._today())
            if settled is not None:
                return self._redirect(request, search_state(typed, settled))
            query = read_search_query(request.query_params)
            found = self._find(query, languages_of(request))
        except NoIndexError:
            raise
        except InputError as error:
            return self._refused(request, typed, error)
        return self._found(request, query, found) if found.total else self._nothing(request, query, found)

    def api(self, request: Request) -> Response:
        """GET /api/search: one page of results as JSON."""
        query = read_search_query(request.query_params)
        found = self._find(query, accepted_languages(request))
        return JSONResponse(
            {**results_json(found), "page": query.page, "pages": pages_of(found)},
            headers={"Vary": "Accept-Language"},
        )

    def suggest(self, request: Request) -> Response:
        """GET /api/suggest: the query typed and its completions (OpenSearch Suggestions 1.0)."""
        typed = request.query_params.get("q", "")[:MAX_QUERY_CHARS]
        return JSONResponse([typed, self._search.suggest(typed)], media_type=SUGGESTIONS)

    def _home(self, request: Request, hint: str) -> Response:
        documents = self._search.count()
        return self._pages.page(
            request, "home.html", documents=documents, hint=hint, why_empty=self._why_empty(documents)
        )

    def _found(self, request: Request, query: SearchQuery, found: Results) -> Response:
        pages = pages_of(found)
        if query.page > pages:
            return self._redirect(request, {**query.state, "page": str(pages)})
        return self._pages.page(
            request,
            "results.html",
            query=query.query,
            state=query.state,
            bar=self._bar(query.query, query.filters),
            found=found,
            hits=[view_hit(hit) for hit in found.hits],
            first=query.offset + 1,
            page=query.page,
            pages=pages,
            numbers=page_numbers(query.page, pages),
            cut=query.page == MAX_PAGE and pages == MAX_PAGE and found.total > MAX_PAGE * HITS_PER_PAGE,
        )

    def _nothing(self, request: Request, query: SearchQuery, found: Results) -> Response:
        documents = self._search.count()
        return self._pages.page(
            request,
            "nothing.html",
            query=query.query,
            state=query.state,
            bar=self._bar(query.query, query.filters),
            documents=documents,
            why_empty=self._why_empty(documents),
            found=found,
        )

    def _refused(self, request: Request, typed: str, error: InputError) -> Response:
        return self._pages.page(
            request,
            "refused.html",
            400,
            query=typed[:MAX_QUERY_CHARS],
            line=str(error),
            bar=self._bar(typed, read_filters(request.query_params), is_open=True),
        )

    def _bar(self, query: str, filters: Filters, *, is_open: bool = False) -> FilterBar:
        return filter_bar(query, filters, self._search.choices(), is_open=is_open)

    def _redirect(self, request: Request, state: dict[str, str]) -> Response:
        link = self._pages.link(reader_of(request))
        return RedirectResponse(link("/search", state), status_code=303)

    def _find(self, query: SearchQuery, languages: Sequence[str]) -> Results:
        return self._search.search(query.query, HITS_PER_PAGE, query.offset, languages, query.filters)
