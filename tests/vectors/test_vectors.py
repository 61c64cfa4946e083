"""The test vectors: every result is checked by our parser and by the naive one; both formats contain the same."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from exclusion.robotstxt.naive import naive_allows
from goodbot.cli import main
from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.vectors import KINDS, LICENCE, VERSION, Case, Expected, all_cases, as_json_value, as_text, selected
from goodbot.vectors.case import ALL, SECTIONS, is_token
from goodbot.vectors.collection import SOURCES
from programs import ROOT, blocks_of

NOT_NAIVE = {("google", "http://h;x")}
"""URLs whose path the naive matcher does not find: Google's parser alone lets a path begin with `;`."""

CASES = all_cases()


@pytest.mark.parametrize("source", SOURCES, ids=[source.__name__ for source in SOURCES])
def test_both_matchers_give_the_expected_results(source: Callable[[], Iterable[Case]]) -> None:
    wrong = []
    for case in source():
        for dialect, expected in case.expected.items():
            ours = RobotsTxt.parse(case.robots, dialect).allows(case.url, case.agent)
            naive = naive_allows(case.robots, case.url, case.agent, dialect)
            if ours is not expected.allowed or (naive is not ours and (dialect, case.url) not in NOT_NAIVE):
                wrong.append((case.id, case.note, dialect, expected, ours, naive))
    assert wrong == []


def test_sources_agree_on_the_results_of_what_they_share() -> None:
    """Kinds and sections may differ: the first `must`, or else the first case, gives its own."""
    results: dict[tuple[bytes, str, str, str], bool] = {}
    for case in (case for source in SOURCES for case in source()):
        for dialect, expected in case.expected.items():
            key = (case.robots, case.agent, case.url, dialect)
            assert results.setdefault(key, expected.allowed) is expected.allowed, case


def test_every_input_is_one_case_with_one_id() -> None:
    assert len({(case.robots, case.agent, case.url) for case in CASES}) == len(CASES)
    assert len({case.id for case in CASES}) == len(CASES)


def test_no_result_of_a_source_is_lost() -> None:
    found = {(case.robots, case.agent, case.url): case for case in CASES}
    for case in (case for source in SOURCES for case in source()):
        kept = found[case.robots, case.agent, case.url].expected
        for dialect, expected in case.expected.items():
            assert kept[dialect].allowed is expected.allowed, case
            assert expected.kind != "must" or kept[dialect].kind == "must", case


def test_the_first_case_about_an_input_gives_topic_and_note() -> None:
    (both,) = (case for case in CASES if case.id.endswith("-9aa288f5"))
    assert (both.id, both.note) == ("group-9aa288f5", "Foo between two names")
    assert set(both.expected) == {"rfc9309", "1994", "kollar", "1996"}


SECTIONS_OF_CASES = [
    ("example-4e27900a", "rfc9309", "must", "RFC 9309 2.2.3"),  # figure 6
    ("example-60631a61", "rfc9309", "must", "RFC 9309 2.2.3"),
    ("group-9aa288f5", "rfc9309", "must", "RFC 9309 2.2.4"),
    ("group-9aa288f5", "1996", "reading", "draft-koster-robots-00 3.3"),
]


@pytest.mark.parametrize(("name", "dialect", "kind", "section"), SECTIONS_OF_CASES)
def test_kind_and_section(name: str, dialect: str, kind: str, section: str) -> None:
    (found,) = (case.expected[dialect] for case in CASES if case.id == name)
    assert (found.kind, found.section) == (kind, section)


def test_what_is_about_other_records_has_one() -> None:
    """Comments and empty lines are no records."""
    fields = rb"(?!user-agent|disallow|allow)[^#\s][^:\n]*:"
    for case in CASES:
        sections = {result.section for result in case.expected.values()}
        has_another = re.search(rb"^" + fields, case.robots, re.IGNORECASE | re.MULTILINE) is not None
        assert "RFC 9309 2.2.4" not in sections or has_another, case
        assert case.topic != "other-record" or ("RFC 9309 2.2.4" in sections) is has_another, case


def test_in_google_all_results_for_a_token_are_certain() -> None:
    kinds = {(is_token(case.agent), case.expected["google"].kind) for case in CASES if "google" in case.expected}
    assert kinds == {(True, "must"), (False, "choice")}


def test_no_result_of_rfc_9309_for_a_whole_user_agent_is_certain() -> None:
    kinds = {case.expected["rfc9309"].kind for case in CASES if "rfc9309" in case.expected and not is_token(case.agent)}
    assert kinds == {"reading"}


def test_in_1994_nothing_certain_depends_on_which_name_contains_the_other() -> None:
    for case in CASES:
        if "1994" in case.expected and case.expected["1994"].kind == "must":
            ours = case.agent.encode().partition(b"/")[0].lower()
            values = re.findall(rb"^user-agent:([^#/\r\n]*)", case.robots, re.IGNORECASE | re.MULTILINE)
            names = {value.strip().lower() for value in values} - {b"*", b""}
            assert all(name == ours or not (name in ours or ours in name) for name in names), case


@pytest.mark.parametrize(("dialect", "kind"), [("1996", "must"), ("book", "must"), ("1994", "reading")])
def test_robots_txt_itself(dialect: str, kind: str) -> None:
    text = "User-agent: *\nDisallow: /"
    kinds = {
        case.expected[dialect].kind
        for case in CASES
        if dialect in case.expected
        and case.url == "https://example.org/robots.txt"
        and case.robots.decode().startswith(text)
    }
    assert kinds == {kind}


def test_the_set_covers_dialects_kinds_and_sections() -> None:
    assert len(CASES) > 5_000
    assert tuple(DIALECTS) == ALL == tuple(SECTIONS)
    found = {(dialect, expected.kind) for case in CASES for dialect, expected in case.expected.items()}
    assert {(dialect, "must") for dialect in ALL} <= found
    assert {kind for _, kind in found} == set(KINDS)
    sections = {expected.section for case in CASES for expected in case.expected.values()}
    assert {section for section in SECTIONS["rfc9309"].values() if section not in sections} == set()
    assert all(case.note.isprintable() for case in CASES)


DIGESTS = {"1.0": "92472aaadd80317e2e179f0e1ab3788d52e5e833e1fa958dc79ad3ce7a8b9b19"}
"""Version → digest of the ids and results. A change of the set needs a new version (see `VERSION`), and a row here."""


def test_a_change_of_the_set_has_a_new_version() -> None:
    lines = [
        f"{case.id} {dialect} {result.allowed} {result.kind} {result.section}\n"
        for case in CASES
        for dialect, result in case.expected.items()
    ]
    assert hashlib.sha256("".join(sorted(lines)).encode()).hexdigest() == DIGESTS[VERSION]


def test_cases_can_be_selected() -> None:
    assert list(selected(CASES, (), ("rfc 9309",))) == list(selected(CASES, (), ("RFC 9309",)))
    by_dialect = list(selected(CASES, ("1994",)))
    assert {tuple(case.expected) for case in by_dialect} == {("1994",)}
    by_section = list(selected(CASES, (), ("RFC 9309 2.2.3",)))
    assert {result.section for case in by_section for result in case.expected.values()} == {"RFC 9309 2.2.3"}
    assert list(selected(CASES, ("1994",), ("RFC 9309",))) == []
    assert list(selected(CASES)) == CASES


# ---- the two formats ------------------------------------------------------------------------------------------------

RESULT = {
    "type": "object",
    "properties": {"allowed": {"type": "boolean"}, "kind": {"enum": list(KINDS)}, "section": {"type": "string"}},
    "required": ["allowed", "kind", "section"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "format": {"const": 1},
        "version": {"type": "string", "pattern": r"^\d+\.\d+$"},
        "licence": {"const": "CC0-1.0"},
        "kinds": {"type": "object", "additionalProperties": {"type": "string"}},
        "cases": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": "^[a-z0-9-]+-[0-9a-f]{8}$"},
                    "robots": {"type": "string"},
                    "robots_base64": {"type": "string", "contentEncoding": "base64"},
                    "agent": {"type": "string"},
                    "url": {"type": "string", "pattern": "^[A-Za-z+]+://"},
                    "expected": {
                        "type": "object",
                        "propertyNames": {"enum": list(ALL)},
                        "additionalProperties": RESULT,
                        "minProperties": 1,
                    },
                    "note": {"type": "string", "minLength": 1},
                },
                "required": ["id", "agent", "url", "expected", "note"],
                "oneOf": [{"required": ["robots"]}, {"required": ["robots_base64"]}],
                "additionalProperties": False,
            },
        },
    },
    "required": ["format", "version", "licence", "kinds", "cases"],
    "additionalProperties": False,
}


def reader() -> Callable[[str], Iterable[dict[str, Any]]]:
    """The reader that the page for authors of parsers has."""
    names: dict[str, Any] = {}
    for block in blocks_of((ROOT / "docs" / "how-to" / "test-vectors.md").read_text(encoding="utf-8")):
        exec(block, names)
    found: Callable[[str], Iterable[dict[str, Any]]] = names["read_vectors"]
    return found


def as_read(case: Case) -> dict[str, Any]:
    """What a reader makes of a case."""
    expected = {dialect: tuple(result) for dialect, result in case.expected.items()}
    named = {"id": case.id, "agent": case.agent, "url": case.url, "note": case.note}
    return {**named, "robots": case.robots, "expected": expected}


def from_json(item: dict[str, Any]) -> dict[str, Any]:
    robots = item.pop("robots").encode() if "robots" in item else base64.b64decode(item.pop("robots_base64"))
    expected = {name: (each["allowed"], each["kind"], each["section"]) for name, each in item["expected"].items()}
    return {**item, "robots": robots, "expected": expected}


def test_both_formats_contain_the_cases() -> None:
    wanted = [as_read(case) for case in CASES]
    text = "".join(as_text(CASES, VERSION, LICENCE))
    assert text.isascii()
    assert list(reader()(text)) == wanted
    value = json.loads(json.dumps(as_json_value(CASES, VERSION, LICENCE)))
    Draft202012Validator(SCHEMA).validate({**value, "cases": value["cases"][::50]})
    assert [from_json(item) for item in value["cases"]] == wanted


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(robots=st.binary(max_size=40), agent=TEXTS, path=TEXTS)
def test_any_octets_can_be_written(robots: bytes, agent: str, path: str) -> None:
    expected = {"1994": Expected(True, "choice", "Koster 1994, the format")}
    case = Case("any", robots, agent, "https://example.org/" + path, expected, "any octets")
    (found,) = reader()("".join(as_text([case], "1.0", "CC0-1.0")))
    assert found == as_read(case)
    (item,) = json.loads(json.dumps(as_json_value([case], "1.0", "CC0-1.0")))["cases"]
    assert from_json(item) == as_read(case)


def test_the_first_line_and_the_empty_fields_are_as_the_grammar_says() -> None:
    text = "".join(as_text(CASES[:20], VERSION, LICENCE))
    lines = [line for line in text.split("\n") if line and not line.startswith("|")]
    assert [line.startswith("#") for line in lines] == [True, *(False for _ in lines[1:])]
    assert {line for line in lines[1:] if ": " not in line} == {"robots:"}


# ---- the command ----------------------------------------------------------------------------------------------------


def test_the_command_writes_both_forms(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["vectors", "--dialect", "1994", "--dialect", "google", "--section", "Google, user agents"]
    assert main(command) == 0
    text, _ = capfd.readouterr()
    assert text.startswith(f"# robots.txt test vectors, version {VERSION}, licence {LICENCE}\n")
    assert main([*command, "--json"]) == 0
    value = json.loads(capfd.readouterr().out)
    assert (value["version"], value["licence"]) == (VERSION, LICENCE)
    assert list(reader()(text)) == [from_json(item) for item in value["cases"]]


@pytest.mark.parametrize("section", ["2.2.3", "RFC 9309 2.2.3", "rfc 9309 2.2.3"])
def test_a_section_may_be_a_number_and_in_any_case(section: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "--section", section, "--format", "json"]) == 0
    cases = json.loads(capfd.readouterr().out)["cases"]
    assert {each["section"] for case in cases for each in case["expected"].values()} == {"RFC 9309 2.2.3"}


NO_SECTIONS = [
    (["9.9"], ["rfc9309"], "no section begins with '9.9'; there are: RFC 9309 2.1; "),
    (["2.2.3", "9.9"], [], "no section begins with '9.9'; there are: Conner 2.0, "),
    (
        ["2.2.3"],
        ["google"],
        "section '2.2.3' is in none of the dialects of --dialect (google); these have: Google, file",
    ),
    (["Google", "2.2.3"], ["google", "1994"], "section '2.2.3' is in none of the dialects of --dialect (google, 1994)"),
]


@pytest.mark.parametrize(("sections", "dialects", "message"), NO_SECTIONS)
def test_each_section_must_be_in_a_text_of_these_dialects(
    sections: list[str], dialects: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    options = [word for section in sections for word in ("--section", section)]
    options += [word for dialect in dialects for word in ("--dialect", dialect)]
    assert main(["vectors", *options]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"goodbot: {message}")


@pytest.mark.parametrize("section", ["", " "])
def test_an_empty_section_is_bad_input(section: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "--section", "2.2.3", "--section", section]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("goodbot: --section is empty; give a section such as 2.2.3")


@pytest.mark.parametrize("dialects", [["all"], ["1994", "all"]])
def test_all_dialects(dialects: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    given = [word for dialect in dialects for word in ("--dialect", dialect)]
    assert main(["vectors", *given, "--section", "2.2.3", "--section", "Koster 1994"]) == 0
    text = capfd.readouterr().out
    assert {name for case in reader()(text) for name in case["expected"]} == {"rfc9309", "1994"}
