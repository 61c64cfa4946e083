import pytest

from goodbot.errors import InputError
from goodbot.web.question import MAX_PAGE, MAX_QUERY_CHARS, Question, page_count, read_question

LONGEST = "r" * MAX_QUERY_CHARS


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"q": "robot"}, Question("robot", 1)),
        ({"q": "  robot exclusion\n"}, Question("robot exclusion", 1)),
        ({"q": "robot", "page": ""}, Question("robot", 1)),
        ({"q": "robot", "page": "2"}, Question("robot", 2)),
        ({"q": "robot", "page": "007"}, Question("robot", 7)),
        ({"q": "robot", "page": str(MAX_PAGE)}, Question("robot", MAX_PAGE)),
        ({"q": LONGEST}, Question(LONGEST, 1)),
    ],
)
def test_questions(parameters: dict[str, str], expected: Question) -> None:
    assert read_question(parameters) == expected


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({}, "the query is empty"),
        ({"q": " \t"}, "the query is empty"),
        ({"q": LONGEST + "r"}, "the query is too long: 1,001 characters, 1,000 at most"),
        *(
            ({"q": "robot", "page": page}, "the page must be a whole number from 1 to 100")
            for page in ("0", "-1", "+1", "1.0", "1_0", "two", "²", "１", " 1", "101", "9" * 5000)
        ),
    ],
)
def test_what_cannot_be_asked(parameters: dict[str, str], line: str) -> None:
    with pytest.raises(InputError, match=line):
        read_question(parameters)


@pytest.mark.parametrize(("total", "pages"), [(0, 0), (1, 1), (10, 1), (11, 2), (1000, 100), (1001, 100), (10**9, 100)])
def test_page_count(total: int, pages: int) -> None:
    assert page_count(total) == pages


def test_offset() -> None:
    question = read_question({"q": "robot", "page": "3"})
    assert question.offset == 20
