"""A search over a list of hits: every word of the query must occur in the title, snippet or URL."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPMessage
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from goodbot.errors import InputError
from goodbot.ports import Search
from goodbot.search_values import NO_FILTERS, Choices, ExplainedWord, Explanation, Filters, Hit, Results
from goodbot.web import Site, create_app, running


class Library:
    """A `Search` in memory. Every call raises `trouble` while it is set. Of the filters, `site` takes the host of a
    URL, `language` and `filetype` the language and the media type of a hit, `after` and `before` compare days."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self.hits = list(hits)
        self.trouble: Exception | None = None

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        self._check()
        words = _words(query)
        found = self._found(words, filters)
        shown = tuple(_highlighted(hit, words) for hit in found[offset : offset + limit])
        return Results(query, len(found), 0.4, shown)

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Gives a hit its score for its first word."""
        self._check()
        words = _words(query)
        found = self._found(words, filters)
        hit = next((hit for hit in self.hits if url in (hit.id, hit.url)), None)
        if hit is None:
            return None
        if hit not in found:
            return Explanation(hit.url, hit.title, is_found=False, notes=("the page lacks a word of the query",))
        first = ExplainedWord(words[0], (("body", hit.score),))
        others = tuple(ExplainedWord(word) for word in words[1:])
        return Explanation(
            hit.url, hit.title, is_found=True, score=hit.score, position=found.index(hit) + 1, words=(first, *others)
        )

    def choices(self) -> Choices:
        self._check()
        languages = Counter(hit.language for hit in self.hits if hit.language)
        types = Counter(hit.media_type for hit in self.hits if hit.media_type)
        return Choices(tuple(languages.most_common(40)), tuple(types.most_common(20)))

    def _found(self, words: Sequence[str], filters: Filters) -> list[Hit]:
        day = re.compile(r"\d{4}-\d\d-\d\d")
        for name, value in (("after", filters.after), ("before", filters.before)):
            if value and not day.fullmatch(value):
                raise InputError(f"{name}: needs a date, such as 2024-05-01")
        return [hit for hit in self.hits if all(word in _text(hit) for word in words) and _passes(hit, filters)]

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        self._check()
        return tuple(hit.title for hit in self.hits if hit.title.casefold().startswith(typed.casefold()))[:limit]

    def count(self) -> int:
        self._check()
        return len(self.hits)

    def _check(self) -> None:
        if self.trouble:
            raise self.trouble


def _words(query: str) -> list[str]:
    words = re.findall(r"\w+", query.casefold())
    if not words:
        raise InputError("the query contains no word to search for")
    return words


def _passes(hit: Hit, filters: Filters) -> bool:
    day = datetime.fromtimestamp(hit.modified_at or hit.fetched_at, UTC).date().isoformat()
    return (
        filters.site in ("", urlsplit(hit.url).hostname)
        and filters.language in ("", hit.language)
        and filters.filetype in ("", hit.media_type)
        and filters.after <= day
        and (not filters.before or day < filters.before)
    )


def _text(hit: Hit) -> str:
    return f"{hit.title} {hit.snippet} {hit.url}".casefold()


def _highlighted(hit: Hit, words: list[str]) -> Hit:
    pattern = "|".join(re.escape(word) for word in words)
    return replace(hit, highlights=tuple(m.span() for m in re.finditer(pattern, hit.snippet, re.IGNORECASE)))


def page(number: int, title: str, snippet: str, url: str = "") -> Hit:
    return Hit(
        id=f"d{number}", url=url or f"http://docs.example/{number}", title=title, snippet=snippet, score=10 / number
    )


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: HTTPMessage = field(repr=False)


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        return None


_opener = build_opener(_Stay)


@dataclass(frozen=True)
class Visitor:
    """Sends requests to a server. Follows no redirects."""

    base: str

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, /, **headers: str) -> Answer:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(self.base.rstrip("/") + path, body, method=method, headers=fields)
        try:
            response = _opener.open(request, timeout=60)
        except HTTPError as error:
            response = error
        with response:
            return Answer(response.status, response.read().decode(), response.headers)


@contextmanager
def served(search: Search, name: str = "Sample library") -> Iterator[Visitor]:
    with running(create_app(search, Site(name))) as url:
        yield Visitor(url)


SPECIMENS = [
    Hit(
        id="a",
        url="https://robots.example/guide/exclusion.html",
        title="The robots exclusion protocol, explained by examples",
        snippet="A robot asks for /robots.txt before anything else. What it finds there are groups of rules, each "
        "naming the robots it is meant for and the paths they are to leave alone …",
        score=9.1,
    ),
    Hit(
        id="b",
        url="http://127.0.0.1:8031/%D1%80%D0%BE%D0%B1%D0%BE%D1%82%D1%8B/%D1%81%D0%BF%D1%80%D0%B0%D0%B2%D0%BA%D0%B0",
        title="Роботы и поиск: справка",
        snippet="Поисковый робот (robot) обходит страницы по ссылкам и соблюдает правила, записанные в robots.txt.",
        score=8.2,
    ),
    Hit(
        id="c",
        url="https://robots.example/" + "a-very-long-path-without-any-blank-" * 6 + "end.html",
        title="",
        snippet="A robot met a page without a title and with a very long address; it is shown by its address instead.",
        score=7.7,
    ),
    Hit(
        id="d",
        url="https://אתר.example/",
        title="רובוטים באינטרנט",
        snippet="עמוד על robot אחד ועל הכללים שלו.",
        score=7.0,
    ),
    Hit(
        id="e",
        url="javascript:alert(1)",
        title="<script>alert('robot')</script> & friends",
        snippet='A page may call itself <b onmouseover="alert(1)">anything</b>; a robot shows it as text & no more.',
        score=6.5,
    ),
    Hit(id="f", url="http://docs.example/", title="Crawling politely", snippet="", score=6.0),
    *(
        page(
            number,
            f"Chapter {number}: what a robot owes the servers it visits",
            f"Chapter {number} of the handbook. A robot waits between two requests to the same server, says who it is "
            "and where its owner can be reached, and stops when it is asked to. Robots that hurry are shut out.",
            f"https://handbook.example/chapter/{number}",
        )
        for number in range(1, 130)
    ),
]
