"""Explains why a page is where it is among the results: as a page for people, and as JSON."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, UnusableUrlError
from goodbot.index import CONDITIONS, REASONS, explanation_json
from goodbot.ports import Search
from goodbot.search_values import Explanation
from goodbot.visitor_urls import lacks_scheme, plain_url
from goodbot.web.pages.accept_language import accepted_languages
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import languages_of, translatable
from goodbot.web.pages.view import MAX_TITLE_CHARS, clipped, is_link
from goodbot.web.search.search_query import SearchQuery, read_search_query
from goodbot.web.search.search_threads import SearchThreads

FIELDS: Final = {
    "title": translatable("title"),
    "headings": translatable("headings"),
    "terms": translatable("defined terms"),
    "body": translatable("text"),
    "summary": translatable("description"),
    "keywords": translatable("keywords"),
    "address": translatable("URL"),
    "alternatives": translatable("descriptions of images"),
    "links": translatable("texts of links to the page"),
}
"""Names the parts of a page in which words are found."""
BONUSES: Final = {
    "complete": translatable("The page has every word of the query."),
    "near": translatable("The words are close together, as in the query."),
    "joined": translatable("The parts of a joined word, such as os.path.join, are together."),
    "names": translatable("The title, a heading or a defined term has a joined word as a whole."),
    CONDITIONS: translatable("The query has no word to score: each page that meets its conditions gets one point."),
}
FACTORS: Final = {
    "rank": translatable("Pages that many pages link to rank higher."),
    "depth": translatable("Pages near the root of their site rank higher."),
    "language": translatable("Pages in your languages rank higher."),
    "lists": translatable("Pages that are only lists of links rank lower."),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the explanation: what counts, and its points or its factor."""

    text: str
    points: float


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word of the query, and the parts of the page that have it with their points, the most first."""

    word: str
    fields: tuple[Row, ...]

    @property
    def points(self) -> float:
        """The points of all parts."""
        return sum(row.points for row in self.fields)


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """An explanation ready to be shown. `most` are the most points of a word or bonus."""

    title: str
    href: str | None
    words: tuple[WordRow, ...]
    bonuses: tuple[Row, ...]
    factors: tuple[Row, ...]
    most: float


class ExplainPage:
    """The endpoints of explanations."""

    def __init__(self, search: Search, threads: SearchThreads, pages: Templates) -> None:
        self._search = search
        self._threads = threads
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        runs = self._threads.runs
        return Route("/explain", runs(self.show)), Route("/api/explain", runs(self.api))

    def show(self, request: Request) -> Response:
        """GET /explain: the page. Takes the parameters of /search, and `url`. Raises InputError for a query, a filter
        or a URL that cannot be used."""
        query, url = _read(request)
        found = self._explain(query, url, languages_of(request))
        return self._pages.page(
            request,
            "explain.html",
            404 if found is None else 200,
            query=query.query,
            state=query.state,
            url=url,
            found=found,
            view=view_explanation(found) if found else None,
        )

    def api(self, request: Request) -> Response:
        """GET /api/explain: the same as JSON."""
        query, url = _read(request)
        found = self._explain(query, url, accepted_languages(request))
        if found is None:
            return JSONResponse({"error": "this page is not in the index"}, 404)
        return JSONResponse(explanation_json(query.query, found), headers={"Vary": "Accept-Language"})

    def _explain(self, query: SearchQuery, url: str, languages: Sequence[str]) -> Explanation | None:
        """Returns the explanation; None if the page is not in the index. Raises UrlError if `url` is neither a URL nor
        the id of an imported document."""
        for name in (url, *(f"{scheme}://{url}" for scheme in ("https", "http") if lacks_scheme(url))):
            found = self._search.explain(query.query, name, languages, query.filters)
            if found is not None:
                return found
        with suppress(UnusableUrlError):
            plain_url(url)
        return None


def _read(request: Request) -> tuple[SearchQuery, str]:
    query, url = read_search_query(request.query_params), request.query_params.get("url", "").strip()
    if not url:
        raise InputError("give the URL of a page as well")
    return query, url


def view_explanation(found: Explanation) -> ExplanationView:
    """Prepares an explanation."""
    words = tuple(
        WordRow(word, tuple(Row(FIELDS.get(name, name), points) for name, points in fields))
        for word, fields in found.words
    )
    bonuses, factors = _rows(found.bonuses, BONUSES), _rows(found.factors, FACTORS)
    return ExplanationView(
        title=clipped(found.title.strip(), MAX_TITLE_CHARS) or found.url,
        href=found.url if is_link(found.url) else None,
        words=words,
        bonuses=bonuses,
        factors=factors,
        most=max([word.points for word in words] + [bonus.points for bonus in bonuses], default=0.0),
    )


def _rows(parts: tuple[tuple[str, float], ...], texts: Mapping[str, str]) -> tuple[Row, ...]:
    return tuple(Row(texts.get(name, REASONS.get(name, name)), points) for name, points in parts)
