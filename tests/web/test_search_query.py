import pytest

from goodbot.errors import InputError
from goodbot.web.search_query import MAX_PAGE, SearchQuery, page_count, read_search_query, readers_languages

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
