"""What the search says about queries is read back, so that pages can translate it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import TantivyIndex, TantivySearch, parse_query
from goodbot.index.filters import read_filters
from goodbot.search_values import Document, Filters
from goodbot.web.pages.known_sentences import read_sentence
from goodbot.web.pages.local_formats import Speaker
from goodbot.web.pages.messages import Message
from goodbot.web.pages.search_sentences import SENTENCES
from goodbot.web.pages.translations import load_translations
from goodbot.web.search.search_query import read_search_query

QUERIES = [
    "x" * 20_000,
    '"a" b c d e f g h i j k l m n',
    "intitle:!! a",
    "site:? a",
    "filetype:? a",
    "lang:? a",
    "before:? a",
    "link:? a",
    " ".join(f"w{number} OR" for number in range(1_100)),
    " OR ".join(f'"a b{number}"' for number in range(40)),
    " ".join(f"w{number}* OR" for number in range(30)),
    "c*",
    "(" * 60 + "a",
    "!!",
]
"""Each has another note."""
CONDITIONS = [
    "robot site:x.example",
    "robot filetype:pdf",
    "robot lang:de",
    "robot before:2020",
    "robot after:2030",
    "robot link:https://x.example/",
    "intitle:zeppelin robot",
    "inurl:zeppelin robot",
    "robot -polite",
    "zeppelin",
]


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    folder: Path = tmp_path_factory.mktemp("index")
    index = TantivyIndex(folder)
    for number in range(3):
        url = f"https://a.example/{number}"
        index.add(Document(url, url, "A robot", f"A polite robot waits. {number}", fetched_at=1.7e9))
    index.commit()
    index.close()
    return TantivySearch(folder)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:20])
def test_notes_about_queries_are_read(query: str, search: TantivySearch) -> None:
    notes = search.search(query).notes
    assert notes
    for note in notes:
        message = read_sentence(note)
        assert message is not None
        assert str(message) == note


@pytest.mark.parametrize("query", CONDITIONS)
def test_notes_of_explanations_are_read(query: str, search: TantivySearch) -> None:
    found = search.explain(query, "https://a.example/1")
    assert found is not None
    assert found.notes
    for note in found.notes:
        message = read_sentence(note)
        assert message is not None
        assert str(message) == note
        condition = message.values.get("condition")
        assert condition is None or isinstance(condition, Message) or condition == "polite"


@pytest.mark.parametrize("name", ["site", "language", "filetype", "after", "before"])
def test_errors_of_filters_are_read(name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_filters(Filters(**{name: "?"}))
    assert read_sentence(str(caught.value)) is not None


@pytest.mark.parametrize("parameters", [{}, {"q": "a", "page": "x"}])
def test_errors_of_parameters_are_read(parameters: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        read_search_query(parameters)
    assert read_sentence(str(caught.value)) is not None


def test_the_notes_of_the_cases_are_all_there_are() -> None:
    notes = [read_sentence(note) for query in QUERIES for note in parse_query(query).notes]
    texts = {message.text for message in notes if message is not None}
    of_queries = SENTENCES[: SENTENCES.index("the query has neither a word nor a filter")]
    assert set(of_queries) == texts


@pytest.mark.parametrize(
    ("sentence", "russian"),
    [
        ("only the first 1,024 words count", "учитываются только первые слова, не больше 1\u00a0024"),
        ("since: needs a date, such as since:2024-05-01", "since: нужна дата, например since:2024-05-01"),
        ("the page does not meet a condition: in the language de", "страница не подходит под условие: язык de"),
        ("the query excludes pages that match: 100 % <b>", "запрос исключает страницы по условию: 100 % <b>"),
        ("Page not found", "Страница не найдена"),
        ("%(nothing)s 100 %", "%(nothing)s 100 %"),
        ("", ""),
    ],
)
def test_in_russian(sentence: str, russian: str) -> None:
    assert Speaker("ru", load_translations("ru")).said(sentence) == russian


@given(st.text())
def test_any_text_stays_as_it_is_in_english(text: str) -> None:
    assert Speaker("en", load_translations("en")).said(text) == text
