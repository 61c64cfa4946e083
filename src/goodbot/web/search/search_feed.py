"""Serves the results of a search as a feed, so that feed readers can follow a query."""

import time
from dataclasses import replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.ports import Search
from goodbot.search_values import Results
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.search.atom import MEDIA_TYPE, Feed, feed_xml
from goodbot.web.search.search_query import (
    HITS_PER_PAGE,
    SearchQuery,
    pages_of,
    read_search_query,
)
from goodbot.web.search.search_threads import SearchThreads
from goodbot.web.site import Site


class SearchFeed:
    """The endpoint of the feeds."""

    def __init__(self, search: Search, threads: SearchThreads, site: Site) -> None:
        self._search = search
        self._threads = threads
        self._site = site
        self._began_at = time.time()

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/search.atom", self._threads.runs(self.show)),)

    def show(self, request: Request) -> Response:
        """GET /search.atom: one page of results; takes the parameters of /search."""
        query = replace(read_search_query(request.query_params), others=False)  # the feed is of this index alone
        languages = accepted_languages(request)
        found = self._search.search(query.query, HITS_PER_PAGE, query.offset, languages, query.filters)
        feed = self._feed(request, query, found)
        return Response(feed_xml(feed), media_type=MEDIA_TYPE, headers={"Vary": "Accept-Language"})

    def _feed(self, request: Request, query: SearchQuery, found: Results) -> Feed:
        def url(path: str, page: int = 1) -> str:
            state = {**query.state, **({"page": page} if page > 1 else {})}
            return self._site.absolute(request, f"{path}?{urlencode(state)}")

        pages = pages_of(found)
        numbers = {"first": 1, "previous": query.page - 1, "next": query.page + 1, "last": max(pages, 1)}
        return Feed(
            id=url("/search.atom"),
            title=f"{query.query} – {self._site.name}",
            author=self._site.name,
            query=query.query,
            links={
                "self": url("/search.atom", query.page),
                "alternate": url("/search", query.page),
                **{name: url("/search.atom", n) for name, n in numbers.items() if 1 <= n <= max(pages, 1)},
            },
            total=found.total,
            offset=query.offset,
            per_page=HITS_PER_PAGE,
            hits=found.hits,
            as_of=found.as_of or self._began_at,  # while there is no index
        )
