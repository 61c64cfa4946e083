"""Misspelt queries: what is searched for instead, and what is only suggested."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.index import Ranking, TantivyIndex, TantivySearch
from goodbot.index.correction import MAX_WORDS
from goodbot.search_values import Document

RARE = "A page of plants: the crocus, the crockus and the lily."
PAGES = [
    *(
        Document(
            f"crocus-{number}", f"https://garden.example/{number}", f"Bed {number}", f"A crocus grows in bed {number}."
        )
        for number in range(60)
    ),
    Document("rare", "https://garden.example/rare", "Rare", RARE),
    Document("robots", "https://robots.example/", "Robots", "Robots read robots.txt. The crawl delay is in seconds."),
    Document("tuple", "https://python.example/t", "Tuples", "A tuple is a sequence. A tuple has no methods to add."),
    Document("turtle", "https://python.example/g", "Turtle graphics", "The turtle draws lines on a canvas."),
    Document("snake", "https://python.example/s", "snake_case", "The function read_configuration_file reads."),
    Document("кот", "https://дом.example/", "Кошки", "Кошки спят на печке.", language="ru"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    index = TantivyIndex(folder)
    for page in PAGES:
        index.add(page)
    index.commit()
    index.close()
    return folder


@pytest.fixture(scope="module")
def search(folder: Path) -> TantivySearch:
    return TantivySearch(folder)


@pytest.mark.parametrize(
    ("query", "corrected", "first"),
    [
        ("robts", "robots", "robots"),
        ("ROBTS", "ROBOTS", "robots"),
        ("Robts", "Robots", "robots"),
        ("robotsx crawl", "robots crawl", "robots"),
        ("tutle canvas", "turtle canvas", "turtle"),
        ("tutle sequence", "tuple sequence", "tuple"),
        ("read_confguration_file", "read_configuration_file", "snake"),
        ("crawldelay", "crawl delay", "robots"),
        ("кошкм", "Кошки".lower(), "кот"),
        ("site:robots.example robts", "site:robots.example robots", "robots"),
    ],
)
def test_a_word_that_no_page_has_is_corrected(search: TantivySearch, query: str, corrected: str, first: str) -> None:
    results = search.search(query)
    assert results.corrected == corrected
    assert results.query == query
    assert results.hits[0].id == first
    assert results.suggestion is None


@pytest.mark.parametrize(
    "query", ['"robts"', "intitle:robts", "robts*", "inurl:robts", "robots -robts", "xyzzyq", "dgo", "東京駅前広場"]
)
def test_what_is_never_corrected(search: TantivySearch, query: str) -> None:
    results = search.search(query)
    assert (results.corrected, results.suggestion) == (None, None)


def test_a_word_that_hardly_any_page_has_is_only_questioned(search: TantivySearch) -> None:
    results = search.search("crockus")
    assert results.corrected is None
    assert results.suggestion == "crocus"
    assert [hit.id for hit in results.hits] == ["rare"]


def test_a_word_of_a_title_is_not_questioned(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    for page in PAGES[:60]:
        index.add(page)
    index.add(Document("name", "https://garden.example/name", "Crockus", "A firm that sells flowers."))
    index.commit()
    index.close()
    assert TantivySearch(tmp_path).search("crockus").suggestion is None


def test_correction_can_be_switched_off(folder: Path) -> None:
    results = TantivySearch(folder, Ranking(frozenset({"spelling"}))).search("robts")
    assert (results.total, results.corrected) == (0, None)


@settings(deadline=None, max_examples=60)
@given(query=st.text(alphabet="robtscauledy крошки'\"-_:*()", max_size=40).filter(str.strip))
def test_a_corrected_query_finds_at_least_as_much(folder: Path, query: str) -> None:
    results = TantivySearch(folder).search(query)
    if results.corrected is not None:
        assert results.total >= TantivySearch(folder, Ranking(frozenset({"spelling"}))).search(query).total


@pytest.mark.parametrize(("words", "corrected"), [(MAX_WORDS, True), (MAX_WORDS + 1, False)])
def test_a_long_text_stays_as_it_is(search: TantivySearch, words: int, corrected: bool) -> None:
    text = " ".join(["robts", *(f"word{number}" for number in range(1, words))])
    assert (search.search(text).corrected is not None) is corrected
