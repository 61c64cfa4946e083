"""The home page, the pages of results, and the same search for programs.

Endpoints are plain functions that run in threads, so a search never blocks the event loop.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, NoIndexError
from goodbot.index import MAX_QUERY_CHARS, results_json
from goodbot.ports import Search
from goodbot.search_values import Results
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import languages_of, reader_of, translatable
from goodbot.web.pages.view import page_numbers, view_hit
from goodbot.web.search.filter_bar import FilterBar, filter_bar
from goodbot.web.search.merged_results import MergedResults
from goodbot.web.search.search_query import (
    HITS_PER_PAGE,
    MAX_PAGE,
    OTHERS,
    SearchQuery,
    pages_of,
    read_filters,
    read_others,
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
    """The endpoints of the search. `today` returns the day, in UTC. `has_others`: visitors may include other services,
    so that links keep their choice."""

    def __init__(
        self,
        search: Search,
        threads: SearchThreads,
        pages: Templates,
        why_empty: WhyEmpty,
        today: Callable[[], date] = _today,
        *,
        has_others: bool = False,
    ) -> None:
        self._search = search
        self._threads = threads
        self._pages = pages
        self._why_empty = why_empty
        self._today = today
        self._has_others = has_others

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
        query = self.read(request)
        if isinstance(query, Response):
            return query
        try:
            found = self._find(query, languages_of(request))
        except NoIndexError:
            raise
        except InputError as error:
            return self.refused(request, error)
        return self.found(request, query, found)

    def read(self, request: Request) -> SearchQuery | Response:
        """Reads a search; or returns the answer to a form of filters, or to parameters that cannot be used."""
        typed = request.query_params.get("q", "").strip()
        if not typed:
            return self._home(request, translatable("Type a word or two to search for."))
        try:
            settled = settled_filters(request.query_params, self._today())
            if settled is not None:
                others = self._has_others and read_others(request.query_params)
                return self._redirect(request, search_state(typed, settled, others=others))
            query = read_search_query(request.query_params)
        except InputError as error:
            return self.refused(request, error)
        return query if self._has_others else replace(query, others=False)

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

    def found(
        self, request: Request, query: SearchQuery, found: Results, merged: MergedResults | None = None
    ) -> Response:
        """Returns the page of results. `merged`: other services were asked too; `found` then has the hits of all."""
        if not found.total:
            return self._nothing(request, query, found, merged)
        pages = pages_of(found) if merged is None else merged.pages
        if query.page > pages:
            return self._redirect(request, {**query.state, "page": str(pages)})
        return self._pages.page(
            request,
            "results.html",
            query=query.query,
            state=query.state,
            bar=self._bar(query),
            found=found,
            merged=merged,
            hits=[view_hit(hit) for hit in found.hits],
            sources=merged.sources_of_hits() if merged is not None else (),
            first=query.offset + 1,
            page=query.page,
            pages=pages,
            numbers=page_numbers(query.page, pages),
            cut=merged.is_cut
            if merged is not None
            else query.page == MAX_PAGE and pages == MAX_PAGE and found.total > MAX_PAGE * HITS_PER_PAGE,
        )

    def _nothing(self, request: Request, query: SearchQuery, found: Results, merged: MergedResults | None) -> Response:
        documents = self._search.count()
        return self._pages.page(
            request,
            "nothing.html",
            query=query.query,
            state=query.state,
            bar=self._bar(query),
            merged=merged,
            documents=documents,
            why_empty=self._why_empty(documents),
            found=found,
        )

    def refused(self, request: Request, error: InputError) -> Response:
        """Returns the page that says what is wrong with a query or a filter."""
        typed = request.query_params.get("q", "").strip()
        others = self._has_others and request.query_params.get(OTHERS, "").strip() == "1"
        query = SearchQuery(typed, 1, read_filters(request.query_params), others)
        return self._pages.page(
            request,
            "refused.html",
            400,
            query=typed[:MAX_QUERY_CHARS],
            line=str(error),
            state=query.state,
            bar=self._bar(query, is_open=True),
        )

    def _bar(self, query: SearchQuery, *, is_open: bool = False) -> FilterBar:
        choices = self._search.choices()
        return filter_bar(query.query, query.filters, choices, is_open=is_open, others=query.others)

    def _redirect(self, request: Request, state: dict[str, str]) -> Response:
        link = self._pages.link(reader_of(request))
        return RedirectResponse(link("/search", state), status_code=303)

    def _find(self, query: SearchQuery, languages: Sequence[str]) -> Results:
        return self._search.search(query.query, HITS_PER_PAGE, query.offset, languages, query.filters)
