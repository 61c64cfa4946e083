"""Every code can be explained, and its explanation describes the finding in its own example."""

import pytest

from goodbot.check import check
from goodbot.check.checker import KINDS
from goodbot.check.explanation import explain
from goodbot.errors import InputError


@pytest.mark.parametrize("code", KINDS)
def test_every_code_has_an_explanation(code: str) -> None:
    explained = explain(code)
    kind = KINDS[code]
    assert (explained.code, explained.severity, explained.title) == (code, kind.severity, kind.title)
    found = next(finding for finding in check(kind.example) if finding.code == code)
    assert (explained.text, explained.affected, explained.fix) == (found.message, found.affected, found.fix)
    assert (explained.example_severity, explained.line, explained.column) == (found.severity, found.line, found.column)
    assert all((explained.text, explained.affected, explained.source))
    assert "{" not in explained.source
    assert explained.example != explained.not_reported
    for example in (explained.example, explained.not_reported):
        assert example.text.replace("\n", "").replace("\t", "").isprintable()
        assert len(example.text) < 1_500


def test_examples_say_where_the_file_was_found() -> None:
    assert explain("R001").example.given == (
        "at https://example.org/robots.txt, answered with 503, `Content-Type: text/plain; charset=utf-8`"
    )
    assert explain("R205").example.given == ""
    assert "User-agent: *" in explain("R001").example.text


def test_a_code_may_be_in_lower_case() -> None:
    assert explain(" r203 ") == explain("R203")


@pytest.mark.parametrize("code", ["R999", "", "R2", "E101", "R101\x1b[31m"])
def test_an_unknown_code_is_bad_input(code: str) -> None:
    with pytest.raises(InputError, match="no code") as error:
        explain(code)
    assert str(error.value).isprintable()
