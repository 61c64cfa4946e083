"""Documents of equal score: their order does not depend on when they were added."""

from collections import Counter

import pytest

from goodbot.index import TantivyIndex, TantivySearch, refresh_links
from goodbot.index.finder import ADDED_PAGES
from goodbot.index.ranking import WINDOW
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

PAGES = 450


def page(number: int) -> Document:
    url = f"https://pages.example{'/folder' * (number % 3)}/{number}"
    links = tuple(Link(Url(page_url(number + step)), "lion", ()) for step in (1, 2))
    return Document(url, url, "Page", f"zebra only{number}", links=links)


def page_url(number: int) -> str:
    return f"https://pages.example{'/folder' * (number % 3)}/{number}"


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> list[TantivySearch]:
    """Indexes of the same documents, added in two orders, with their link texts."""
    made = []
    for name, step in (("up", 1), ("down", -1)):
        folder = tmp_path_factory.mktemp(name)
        index = TantivyIndex(folder)
        for number in range(PAGES)[::step]:
            index.add(page(number))
            if number % 100 == 50:
                index.commit()
        index.commit()
        index.close()
        refresh_links(folder)
        made.append(TantivySearch(folder))
    return made


@pytest.mark.parametrize("query", ["zebra", "site:pages.example", "zebra site:pages.example", "-lion", "page"])
def test_equal_scores(searches: list[TantivySearch], query: str) -> None:
    one, other = ([hit.url for hit in search.search(query, limit=PAGES).hits] for search in searches)
    assert one == other
    assert len(one) == len(set(one)) > 300


def test_pages_that_only_link_texts_find(searches: list[TantivySearch]) -> None:
    one, other = ([hit.url for hit in search.search("lion", limit=PAGES).hits] for search in searches)
    assert one == other
    assert len(one) == ADDED_PAGES


def test_pages_in_few_directories_come_first(searches: list[TantivySearch]) -> None:
    """The first window has all pages in the root; its other pages are one folder below."""
    hits = searches[0].search("site:pages.example", limit=WINDOW).hits
    assert Counter(hit.url.count("/") for hit in hits) == {3: PAGES // 3, 4: WINDOW - PAGES // 3}


def test_further_pages_of_hits_continue_the_first(searches: list[TantivySearch]) -> None:
    for query in ("zebra", "site:pages.example"):
        urls = [hit.url for start in range(0, PAGES, 10) for hit in searches[0].search(query, 10, start).hits]
        assert len(urls) == len(set(urls)) == PAGES
