"""The pages of results, and the same for programs, with the hits of other services: if the visitor has switched that on
by a parameter of the URL."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, NoIndexError
from goodbot.federate import OWN, Federation, with_sources
from goodbot.index import results_json
from goodbot.ports import Search
from goodbot.search_values import Hit, Results
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import languages_of, translatable
from goodbot.web.search.merged_results import MergedResults, page_of, sent_query
from goodbot.web.search.search_pages import SearchPages
from goodbot.web.search.search_query import HITS_PER_PAGE, OTHERS, SearchQuery, read_search_query
from goodbot.web.search.search_threads import SearchThreads

Endpoint = Callable[[Request], Awaitable[Response]]


_IN_ADVANCE: Final = translatable(
    "Other services get a query only when a visitor opens this page, not when a browser loads it in advance."
)


_PURPOSES: Final = ("Sec-Purpose", "Purpose", "X-Moz")
"""Where browsers say why they load a page: by the Fetch standard; Chromium for `<link rel="prefetch">`; old Firefox."""


def _either(own: Endpoint, merged: Endpoint) -> Endpoint:
    """Returns the endpoint that calls `merged` if the visitor has switched it on. HEAD never sends a query to other
    services; nor does a load in advance, whose answer browsers drop because of its status. Raises HTTPException 503."""

    async def choose(request: Request) -> Response:
        if request.method == "HEAD" or not request.query_params.get(OTHERS, "").strip():
            return await own(request)
        if is_in_advance(request):
            raise HTTPException(503, _IN_ADVANCE, {"Cache-Control": "no-store"})
        return await merged(request)

    return choose


def is_in_advance(request: Request) -> bool:
    """Whether a browser loads a page before its visitor asks for it."""
    values = (value for name in _PURPOSES for value in request.headers.getlist(name))
    purposes = (item.partition(";")[0].strip().lower() for value in values for item in value.split(","))
    return "prefetch" in purposes


class MergedPages:
    """The endpoints of searches that include other services. `own` are those of our index alone."""

    def __init__(
        self, federation: Federation, search: Search, own: SearchPages, threads: SearchThreads, pages: Templates
    ) -> None:
        self._federation = federation
        self._search = search
        self._own = own
        self._threads = threads
        self._pages = pages

    def over(self, routes: Iterable[Route]) -> tuple[Route, ...]:
        """Returns the routes of our index, with these endpoints where the visitor has switched them on."""
        merged = {"/search": self.results, "/api/search": self.api}
        return tuple(
            Route(route.path, _either(route.endpoint, merged[route.path])) if route.path in merged else route
            for route in routes
        )

    async def results(self, request: Request) -> Response:
        """GET /search: one page of results."""
        query = await self._threads.run(lambda: self._own.read(request))
        if isinstance(query, Response):
            return query
        try:
            merged = await self._find(query, languages_of(request))
        except NoIndexError:
            raise
        except InputError as error:
            refused = error
            return await self._threads.run(lambda: self._own.refused(request, refused))
        return await self._threads.run(lambda: self._own.found(request, query, merged.found, merged))

    async def api(self, request: Request) -> Response:
        """GET /api/search: the same as JSON."""
        query = read_search_query(request.query_params)
        merged = await self._find(query, accepted_languages(request))
        home = self._pages.site.absolute(request, "/")
        sources = [replace(each, url=home) if each.name == OWN else each for each in merged.sources]
        found = with_sources(results_json(merged.found), merged.hits, sources)
        headers = {"Vary": "Accept-Language"}
        return JSONResponse({**found, "page": query.page, "pages": merged.pages}, headers=headers)

    async def _find(self, query: SearchQuery, languages: Sequence[str]) -> MergedResults:
        """Searches our index, and then the others. Raises the errors of our index before another service is asked."""
        found: list[Results] = []

        async def own(before: int) -> Sequence[Hit]:
            results = await self._threads.run(
                lambda: self._search.search(query.query, HITS_PER_PAGE, before, languages, query.filters)
            )
            found.append(results)
            return results.hits

        began_at = time.perf_counter()
        merged = await self._federation.search(sent_query(query), own, query.offset + HITS_PER_PAGE)
        took_ms = (time.perf_counter() - began_at) * 1000
        return page_of(query, replace(found[0], took_ms=took_ms), merged)
