"""The search as JSON."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from threading import Barrier, Thread
from urllib.parse import quote

import pytest

from goodbot.errors import DamagedError
from goodbot.index import NoSearch
from goodbot.index.copies.followed_search import FollowedSearch
from goodbot.search_values import NO_FILTERS, Explanation, Filters, Hit, Results
from web.library import SPECIMENS, Library, Visitor, served


def test_an_answer(visitor: Visitor) -> None:
    answer = visitor.ask("/api/search?q=chapter+77")
    assert answer.headers["Content-Type"] == "application/json"
    body = json.loads(answer.text)
    (hit,) = body["hits"]
    assert {hit["snippet"][start:end].lower() for start, end in hit.pop("highlights")} == {"chapter", "77"}
    assert body == {
        "query": "chapter 77",
        "total": 1,
        "took_ms": 0.4,
        "complete": 0,
        "searched_for": "",
        "hits": [
            {
                "url": "https://handbook.example/chapter/77",
                "id": "d77",
                "title": "Chapter 77: what a robot owes the servers it visits",
                "snippet": next(hit.snippet for hit in SPECIMENS if "Chapter 77 " in hit.snippet),
                "score": pytest.approx(10 / 77),
            }
        ],
        "page": 1,
        "pages": 1,
    }


@pytest.mark.parametrize(
    ("page", "hits", "first"),
    [(1, 10, SPECIMENS[0]), (2, 10, SPECIMENS[11]), (14, 4, SPECIMENS[131]), (15, 0, None), (100, 0, None)],
)
def test_pages(visitor: Visitor, page: int, hits: int, first: Hit | None) -> None:
    answer = json.loads(visitor.ask(f"/api/search?q=robot&page={page}").text)
    assert (answer["total"], answer["page"], answer["pages"], len(answer["hits"])) == (134, page, 14, hits)
    assert [hit["url"] for hit in answer["hits"][:1]] == ([first.url] if first else [])


def test_nothing_found(visitor: Visitor) -> None:
    answer = json.loads(visitor.ask("/api/search?q=" + quote("дирижабль")).text)
    empty = {"query": "дирижабль", "total": 0, "took_ms": 0.4, "complete": 0, "searched_for": "", "hits": []}
    assert answer == {**empty, "page": 1, "pages": 0}


@pytest.mark.parametrize(
    ("path", "status", "line"),
    [
        ("/api/search", 400, "the query is empty: type a word to search for"),
        ("/api/search?q=+", 400, "the query is empty: type a word to search for"),
        ("/api/search?q=!", 400, "the query contains no word to search for"),
        ("/api/search?q=a&page=0", 400, "the page must be a whole number from 1 to 100"),
        ("/api/search?q=a&page=two", 400, "the page must be a whole number from 1 to 100"),
        ("/api/search?q=a&page=101", 400, "the page must be a whole number from 1 to 100"),
        ("/api/nothing", 404, "There is no page at this address."),
    ],
)
def test_errors_are_one_line(visitor: Visitor, path: str, status: int, line: str) -> None:
    answer = visitor.ask(path)
    assert (answer.status, json.loads(answer.text)) == (status, {"error": line})


def test_health(visitor: Visitor) -> None:
    assert json.loads(visitor.ask("/healthz").text) == {"ok": True, "documents": len(SPECIMENS)}


@pytest.mark.parametrize("path", ["/healthz", "/api/search?q=robot"])
def test_a_damaged_index(path: str) -> None:
    library = Library(SPECIMENS)
    library.trouble = DamagedError("index/meta.json is no index")
    with served(library) as visitor:
        answer = visitor.ask(path)
    assert answer.status == 503
    assert list(json.loads(answer.text)) == ["error"]
    assert "meta.json" not in answer.text


def test_a_copy_that_is_still_being_fetched(caplog: pytest.LogCaptureFixture) -> None:
    """It is no fault, so the log has no error."""
    with served(FollowedSearch()) as visitor:
        for path in ("/healthz", "/api/search?q=robot"):
            answer = visitor.ask(path)
            assert answer.status == 503
            assert json.loads(answer.text) == {"error": "This server is still fetching its copy of the index."}
        assert "ещё получает" in visitor.ask("/search?q=robot&hl=ru").text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_an_index_that_opens_but_cannot_be_searched_is_not_healthy() -> None:
    class HalfDamaged(Library):
        def search(
            self,
            query: str,
            limit: int = 10,
            offset: int = 0,
            languages: Sequence[str] = (),
            filters: Filters = NO_FILTERS,
        ) -> Results:
            raise DamagedError("a segment is damaged")

    with served(HalfDamaged(SPECIMENS)) as visitor:
        assert visitor.ask("/healthz").status == 503


def test_a_crawl_without_an_index() -> None:
    with served(NoSearch("C_noindex has no index: goodbot index rebuild")) as visitor:
        for path in ("/search?q=robot", "/explain?q=robot&url=a"):
            page = visitor.ask(path)
            assert page.status == 404
            assert "Search is unavailable" in page.text
            assert "This crawl keeps no index, so its pages cannot be searched." in page.text
            assert "C_noindex" not in page.text
        for path in ("/api/search?q=robot", "/search.atom?q=robot", "/api/explain?q=robot&url=a"):
            answer = visitor.ask(path)
            assert answer.status == 400
            assert json.loads(answer.text) == {"error": "This crawl keeps no index, so its pages cannot be searched."}
        assert json.loads(visitor.ask("/healthz").text) == {"ok": True, "documents": 0}


class Meeting(Library):
    """A search that answers only while another one is running."""

    def __init__(self) -> None:
        super().__init__([])
        self.barrier = Barrier(2)

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        self.barrier.wait(timeout=60)
        return Results(query, 0, 0.0)


def test_searches_do_not_wait_for_each_other() -> None:
    statuses: list[int] = []
    with served(Meeting()) as visitor:
        threads = [Thread(target=lambda: statuses.append(visitor.ask("/api/search?q=a").status)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [200, 200]


class Linguist(Library):
    """Remembers the languages of its readers, and corrects."""

    def __init__(self) -> None:
        super().__init__(SPECIMENS)
        self.asked: list[tuple[str, ...]] = []

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        self.asked.append(tuple(languages))
        found = super().search("robot", limit, offset)
        return replace(found, query=query, corrected="<robot>", suggestion="robots & more", notes=("a note <here>",))

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        self.asked.append(tuple(languages))
        return super().explain(query, url, languages, filters)


def test_the_readers_languages_are_passed_on() -> None:
    library = Linguist()
    with served(library) as visitor:
        visitor.ask("/api/search?q=x", Accept_Language="ru-RU, en;q=0.5")
        visitor.ask("/search?q=x")
        visitor.ask("/search?q=x&hl=ru", Accept_Language="en, ru;q=0.5, de;q=0.1")
        visitor.ask("/search?q=x&hl=en")
        visitor.ask("/search?q=x&hl=fr", Accept_Language="de")
        visitor.ask("/api/search?q=x&hl=ru", Accept_Language="en")
        visitor.ask("/explain?q=x&url=https://y.example/&hl=ru", Accept_Language="en")
        visitor.ask("/api/explain?q=x&url=https://y.example/&hl=ru", Accept_Language="en")
    pages = [("ru", "en"), (), ("ru", "en", "de"), ("en",), ("de",)]
    assert library.asked == [*pages, ("en",), ("ru", "en"), ("en",)]


def test_corrections_suggestions_and_notes_are_said() -> None:
    with served(Linguist()) as visitor:
        text = visitor.ask("/search?q=robts").text
    assert "<b><bdi>&lt;robot&gt;</bdi></b>" in text
    assert '<a href="/search?q=robots+%26+more"><bdi>robots &amp; more</bdi></a>?' in text
    assert "A note &lt;here&gt;." in text


def test_suggestions() -> None:
    with served(Library(SPECIMENS)) as visitor:
        answer = visitor.ask("/api/suggest?q=the")
        assert json.loads(answer.text) == ["the", ["The robots exclusion protocol, explained by examples"]]
        assert json.loads(visitor.ask("/api/suggest").text)[0] == ""


def test_a_query_of_10_kb_is_answered() -> None:
    with served(Library(SPECIMENS)) as visitor:
        assert visitor.ask("/api/search?q=" + "robot+" * 1700).status == 200
        assert visitor.ask("/search?q=" + "robot+" * 1700).status == 200
