from datetime import date
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.search_values import NO_FILTERS, Filters
from goodbot.web.pages.accept_language import readers_languages
from goodbot.web.search.search_query import (
    MAX_PAGE,
    SearchQuery,
    page_count,
    read_search_query,
    settled_filters,
)

LONGEST = "r" * 20_000


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"q": "robot"}, SearchQuery("robot", 1)),
        ({"q": "  robot exclusion\n"}, SearchQuery("robot exclusion", 1)),
        ({"q": "robot", "page": ""}, SearchQuery("robot", 1)),
        ({"q": "robot", "page": "2"}, SearchQuery("robot", 2)),
        ({"q": "robot", "page": "007"}, SearchQuery("robot", 7)),
        ({"q": "robot", "page": str(MAX_PAGE)}, SearchQuery("robot", MAX_PAGE)),
        ({"q": LONGEST}, SearchQuery(LONGEST, 1)),
        (
            {"q": "a", "site": " x.example ", "lang": "de", "type": "pdf", "after": "2024", "before": "2025-01"},
            SearchQuery("a", 1, Filters("x.example", "de", "pdf", "2024", "2025-01")),
        ),
        ({"q": "a", "lang": "", "within": "week", "hl": "ru"}, SearchQuery("a", 1)),
    ],
)
def test_questions(parameters: dict[str, str], expected: SearchQuery) -> None:
    assert read_search_query(parameters) == expected


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({}, "the query is empty"),
        ({"q": " \t"}, "the query is empty"),
        *(
            ({"q": "robot", "page": page}, "the page must be a whole number from 1 to 100")
            for page in ("0", "-1", "+1", "1.0", "1_0", "two", "²", "１", " 1", "101", "9" * 5000)
        ),
    ],
)
def test_what_cannot_be_asked(parameters: dict[str, str], line: str) -> None:
    with pytest.raises(InputError, match=line):
        read_search_query(parameters)


@pytest.mark.parametrize(("total", "pages"), [(0, 0), (1, 1), (10, 1), (11, 2), (1000, 100), (1001, 100), (10**9, 100)])
def test_page_count(total: int, pages: int) -> None:
    assert page_count(total) == pages


TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, None),
        ({"lang": "de"}, None),
        ({"within": ""}, NO_FILTERS),
        ({"within": "", "lang": "de", "site": ""}, Filters(language="de")),
        ({"within": "", "after": "2024", "before": "2025"}, Filters(after="2024", before="2025")),
        ({"within": "day", "after": "2024", "before": "2025"}, Filters(after="2026-02-28")),
        ({"within": "week"}, Filters(after="2026-02-22")),
        ({"within": "month"}, Filters(after="2026-01-30")),
        ({"within": "year", "type": "pdf"}, Filters(filetype="pdf", after="2025-03-01")),
    ],
)
def test_a_period_becomes_a_date(parameters: dict[str, str], expected: Filters | None) -> None:
    assert settled_filters(parameters, TODAY) == expected


def test_an_unknown_period() -> None:
    with pytest.raises(InputError, match="the period must be day, week, month or year"):
        settled_filters({"within": "decade"}, TODAY)


@given(st.builds(Filters, *[st.text(max_size=20)] * 5), st.text(min_size=1, max_size=20))
def test_the_state_is_read_back(filters: Filters, query: str) -> None:
    asked = SearchQuery(query, 1, filters)
    if query.strip():
        read = read_search_query(asked.state)
        assert read_search_query(read.state) == read
    assert urlencode(asked.state).isascii()


def test_offset() -> None:
    question = read_search_query({"q": "robot", "page": "3"})
    assert question.offset == 20


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", ()),
        ("ru", ("ru",)),
        ("en-GB,en;q=0.9,de;q=0.8", ("en", "de")),
        ("de;q=0.5, fr", ("fr", "de")),
        ("*", ()),
        ("de;q=0, fr;q=0.001", ("fr",)),
        ("zh-Hant-TW; q=1", ("zh",)),
        ("haw, EN", ("en",)),
        (";q=1,,en;q=x,\u00e9", ()),
        (
            ",".join(f"{first}{second}" for first in "abc" for second in "abcde"),
            ("aa", "ab", "ac", "ad", "ae", "ba", "bb", "bc", "bd", "be"),
        ),
    ],
)
def test_languages_of_a_reader(header: str, expected: tuple[str, ...]) -> None:
    assert readers_languages(header) == expected
