"""Comments in a file suppress findings."""

import pytest

from goodbot.check import Subject, check

CASES: list[tuple[str, str, list[int]]] = [
    # name, body, lines with R202
    ("no comment", "User-agent : *\nDisallow : /\n", [1, 2]),
    ("on the line", "User-agent : * # goodbot: ignore R202\nDisallow : /\n", [2]),
    ("of its own, for the next line", "# goodbot: ignore R202\nUser-agent : *\nDisallow : /\n", [3]),
    ("two of their own", "# goodbot: ignore R202\n # goodbot: ignore R5\nUser-agent : *\nDisallow : /\n", [4]),
    ("a blank line is the next line", "# goodbot: ignore R202\n\nUser-agent : *\n", [3]),
    ("the whole file", "User-agent : *\n# goodbot: ignore-file R202\nDisallow : /\n", []),
    ("behind a record", "User-agent : * # goodbot: ignore-file R5, R202\nDisallow : /\n", []),
    ("beginning of codes", "User-agent : * # goodbot: ignore R2\nDisallow : / # goodbot: ignore R5 R6\n", [2]),
    ("several codes", "User-agent : * #goodbot: ignore R203, r202,R1\n", []),
    ("without a code", "User-agent : * # goodbot: ignore\n", [1]),
    ("not for goodbot", "User-agent : * # goodbots: ignore R202\n", [1]),
    ("said otherwise", "User-agent : * # TODO goodbot: ignore R202\n", [1]),
]


@pytest.mark.parametrize(("name", "body", "lines"), CASES, ids=[case[0] for case in CASES])
def test_comments(name: str, body: str, lines: list[int]) -> None:
    assert [each.line for each in check(Subject(body.encode())) if each.code == "R202"] == lines


def test_codes_of_the_command_line() -> None:
    subject = Subject(b"User-agent : *\nDisallow : /\n")
    assert {each.code for each in check(subject)} >= {"R202", "R506"}
    assert {each.code for each in check(subject, ["R202"])} >= {"R506"}
    assert check(subject, ["r2", "R5", "R6"]) == []
    assert check(subject, ["R"]) == []
