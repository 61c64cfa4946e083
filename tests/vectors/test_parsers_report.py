"""docs/make_parsers_report.py: parsers that answer, raise, hang or end, and the page about them."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from goodbot.vectors import Case, Expected
from programs import load

PYTHON = """
import json, os, sys, time
for line in sys.stdin:
    question = json.loads(line)
    if "/raise" in question["url"]:
        print(json.dumps({"error": "ValueError: no | URL"}), flush=True)
    elif "/end" in question["url"]:
        os._exit(1)
    elif "/hang" in question["url"]:
        time.sleep(60)
    else:
        print(json.dumps({"allowed": "/x" not in question["url"]}), flush=True)
"""
SECTION = "RFC 9309 2.2.2"


@pytest.fixture(scope="module")
def report() -> ModuleType:
    return load("docs/make_parsers_report.py")


def case(path: str, allowed: bool, kind: Any = "must", topic: str = "topic") -> Case:
    expected = {"rfc9309": Expected(allowed, kind, SECTION)}
    return Case(topic, b"User-agent: *\nDisallow: /x|\xe9\n", "me", f"https://h{path}", expected, "a case")


CASES = [
    *(case("/x", False), case("/end", True), case("/raise", True), case("/hang", True), case("/y", True)),
    *(case("/x/1", True, "must", "wrong"), case("/x/2", True, "reading")),
]


def peer(report: ModuleType, *command: str) -> Any:
    return report.Parser("peer", "here", (), "rfc9309", "it says so", command)


def test_errors_are_answers_and_the_process_is_started_again(
    report: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "ANSWER_S", 0.5)
    program = tmp_path / "peer.py"
    program.write_text(PYTHON)
    parser = peer(report, sys.executable, str(program))
    answers = report.asked(parser, CASES)
    assert list(answers.answers.values()) == [
        *(False, "the process ended", "ValueError: no | URL", "no answer within 0.5 s", True, False, False)
    ]
    assert (answers.slowest_id, answers.absent) == (CASES[3].id, "")
    page = report.page({parser: answers}, CASES)
    assert "| peer | here | this version | rfc9309 | 2 of 6 (33.3 %) | 3 |" in page
    assert "| 2 of 7 (28.5 %) |" in page
    assert f"| {SECTION} | topic | 3 of 5 | a case: `User-agent: *\\nDisallow: /x\\|\\xe9\\n` `me` " in page
    assert f"| {SECTION} | wrong | 1 of 1 |" in page
    assert page.count("wrong |") == 1
    assert "reading |" not in page
    assert report.page({parser: report.Answers(absent="it is gone")}, CASES).count("- peer: it is gone.") == 1


def test_every_driver_of_python_is_known(report: ModuleType) -> None:
    drivers = load("docs/parsers/python_parsers.py")
    used = {parser.command[-1] for parser in report.PARSERS if parser.command[:2] == report.PARSERS[0].command[:2]}
    known = {driver.__name__ for driver in drivers.PARSERS}
    assert used - {"reppy", "fastrobots"} == known  # these two cannot be installed
    assert len({report._file(parser) for parser in report.PARSERS}) == len(report.PARSERS)
    assert all(parser.dialect in ("rfc9309", "google", "1996", "1994") for parser in report.PARSERS)


HERE = ["goodbot", "protego", "urllib.robotparser", "WWW::RobotRules (Perl)", "webrobots (Ruby)"]
"""Parsers that the developers' tools or Debian bring."""


@pytest.mark.parametrize("name", HERE)
def test_a_driver_answers(name: str, report: ModuleType) -> None:
    (parser,) = (parser for parser in report.PARSERS if parser.name == name)
    if parser.source == "Debian" and report.installed(parser) is None:
        pytest.skip(parser.absent)
    text = b"User-agent: *\nDisallow: /x\n"
    asked = [Case("t", text, "me", f"https://example.org{path}", {}, "") for path in ("/x/1", "/y")]
    with report.Driver(parser) as driver:
        assert [driver.answer(each) for each in asked] == [False, True]


def test_results_are_kept_and_the_page_is_written_from_them(
    report: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(report, "all_cases", lambda: CASES)
    report.main(["goodbot"])
    first = report.PAGE.read_text(encoding="utf-8")
    report.main(["--from-results"])
    assert report.PAGE.read_text(encoding="utf-8") == first
    (kept,) = report.RESULTS.iterdir()
    assert set(json.loads(kept.read_text())["answers"]) == {each.id for each in CASES}
    with pytest.raises(SystemExit, match="no parser: nobody; there are protego"):
        report.main(["nobody"])


def test_the_page_is_about_the_set_of_today(report: ModuleType) -> None:
    """If this fails, run `make parsers-report`."""
    text = report.PAGE.read_text(encoding="utf-8")
    assert f"Version of the vectors: {report.VERSION}." in text
    assert f"has {len(report.all_cases()):,} cases" in text
    assert all(f"\n| {parser.name} |" in text or f"\n- {parser.name}: " in text for parser in report.PARSERS)
