"""Answers DocSearch, the search box of many documentation sites, in the form in which Algolia would answer it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, NoIndexError
from goodbot.index.query_words import QueryWords
from goodbot.ports import Search
from goodbot.search_values import Filters, Results
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.pages.posted_forms import read_body
from goodbot.web.search.docsearch_hits import HitMaker
from goodbot.web.search.docsearch_requests import MAX_BODY_BYTES, Asked, parse_searches
from goodbot.web.search.search_query import HITS_PER_PAGE, MAX_PAGE
from goodbot.web.search.search_threads import SearchThreads

PATH: Final = "/1/indexes/*/queries"
"""The path to which Algolia's clients send searches; the asterisk is literal."""
_MOST_PAGES: Final = HITS_PER_PAGE * MAX_PAGE
"""How many pages of a search can be shown, as on the pages of results."""
_TOO_LONG: Final = f"send at most {MAX_BODY_BYTES // 1024} KiB"


class DocSearch:
    """The endpoint for DocSearch."""

    def __init__(self, search: Search, threads: SearchThreads) -> None:
        self._search = search
        self._threads = threads

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route(PATH, self.answer, methods=["POST"]),)

    async def answer(self, request: Request) -> Response:
        """POST /1/indexes/*/queries: the hits of each search. Takes any Content-Type: DocSearch sends text/plain, so
        that browsers ask for no permission first."""
        body = await read_body(request, MAX_BODY_BYTES, _TOO_LONG)
        languages = accepted_languages(request)
        try:
            searches = parse_searches(body)
        except InputError as error:
            raise HTTPException(400, str(error)) from error
        results = await self._threads.run(lambda: [self._result(each, languages) for each in searches])
        return JSONResponse({"results": results}, headers={"Vary": "Accept-Language"})

    def _result(self, asked: Asked, languages: Sequence[str]) -> dict[str, Any]:
        """Searches for half as many documents as the response may have hits, because most documents make several
        hits."""
        limit = -(-asked.hits // 2)
        found = self._found(asked, limit, languages)
        maker = HitMaker(QueryWords(found.corrected or found.query), asked.before, asked.after)
        total = min(found.total if found.listed is None else found.listed, _MOST_PAGES)
        return {
            "index": asked.index,
            "query": asked.query,
            "hits": maker.hits(found.hits, asked.hits),
            "page": asked.page,
            "hitsPerPage": asked.hits,
            "nbHits": total,
            "nbPages": -(-total // limit) if limit else 0,
            "exhaustiveNbHits": False,
            "processingTimeMS": round(found.took_ms),
            "params": "",
        }

    def _found(self, asked: Asked, limit: int, languages: Sequence[str]) -> Results:
        """Searches. If no page has the last word, which may be half typed, the query is completed."""
        found = self._pages(asked, limit, languages)
        if found.complete or not asked.query.strip() or asked.query[-1:].isspace():
            return found
        completed = self._search.suggest(asked.query, 1)
        if not completed or completed[0].casefold() == asked.query.strip().casefold():
            return found
        return self._pages(replace(asked, query=completed[0]), limit, languages)

    def _pages(self, asked: Asked, limit: int, languages: Sequence[str]) -> Results:
        offset = asked.page * limit
        is_shown = limit > 0 and offset + limit <= _MOST_PAGES
        place = (limit, offset) if is_shown else (1, 0)  # of a page that is not shown only the totals
        try:
            found = self._search.search(asked.query, *place, languages, Filters(language=asked.language))
            return found if is_shown else replace(found, hits=())
        except NoIndexError:
            raise
        except InputError:  # it has no word to search for, as while the first one is being typed
            return Results(asked.query, 0, 0.0)
