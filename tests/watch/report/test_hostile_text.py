"""Text of visitors (terminal escapes, HTML, formulas, 10 kB) is harmless and short for people, in lines that fit."""

import csv
import io
import json
import unicodedata

import pytest

from goodbot.cli.printing import json_text
from goodbot.cli.watch_report import print_report
from goodbot.watch.report import WatchReport, report_csv, report_json
from goodbot.watch.report.csv_report import MOST_CHARS, harmless
from watch.labelled_log import make_log
from watch.report.made_reports import line, report_of

AGENTS = {
    "terminal escapes": "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b1m",
    "writing direction": "\xe2\x80\xae\xe2\x81\xa6",
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "markup of rich": "[red]x[/red] [link=http://x.example]y[/link] :bomb:",
    "10 kB in one word": "A" * 10_000,
    "10 kB in words": "word " * 2000,
    "a formula": "=HYPERLINK(0)",
    "a tab": "\t=1+1",
    "no UTF-8": "\xff\xfe\xc3",
    "NUL": "\x00\x00",
}
WIDTHS = (60, 80, 120)
LONGEST = 350
"""Characters of the longest line: a word of a log line, which is cut to 300 characters, with its indent and escapes."""


def log_of(agent: str) -> list[str]:
    """An agent of its own that probes, one beside a robot's name, and the same text as path and referrer."""
    probes = [line(number, f"/.env?{number}", agent, "192.0.2.2", status=404) for number in range(20)]
    robots = [line(30 + number, "/" + agent.replace(" ", "+"), f"{agent[:1500]} GPTBot/1.3") for number in range(3)]
    return [*probes, *robots, line(40, "/", f"GPTBot/1.3 {agent}", referrer=agent)]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Printed":
    return Printed(capsys, monkeypatch)


class Printed:
    """Prints reports at a width, and returns what was printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, report: WatchReport, columns: int) -> str:
        self._monkeypatch.setenv("COLUMNS", str(columns))
        print_report(report)
        return self._capsys.readouterr().out


@pytest.mark.parametrize("robot", [None, "GPTBot"])
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_on_a_terminal(agent: str, robot: str | None, printed: Printed) -> None:
    report = report_of(log_of(agent), rules=b"User-agent: *\nDisallow: /", robot=robot)
    for columns in WIDTHS:
        text = printed(report, columns)
        assert {unicodedata.category(each) for each in text.replace("\n", "")} & {"Cc", "Cf", "Cs", "Co", "Cn"} == set()
        assert len(text) < 10_000
        lines = text.splitlines()
        assert max(map(len, lines)) <= LONGEST
        assert [one for one in lines if len(one.rstrip()) > columns and len(one.split()) > 2] == []


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("robot", [None, "GPTBot", "YandexBot"])
def test_lines_fit(columns: int, robot: str | None, printed: Printed) -> None:
    """But for a URL that is longer than a line."""
    lines = printed(report_of(make_log().text(), robot=robot), columns).splitlines()
    too_long = [one.strip() for one in lines if len(one.rstrip()) > columns]
    assert [text for text in too_long if not text.startswith("https://") or " " in text] == []


def test_a_table_or_a_list(printed: Printed) -> None:
    """At 60 columns a list, at 80 a table, at 120 a table with pages and bytes."""
    report = report_of(make_log().text())
    headings = [[one.split() for one in printed(report, columns).splitlines() if "peak/s" in one] for columns in WIDTHS]
    numbers = ["peak/s", "robots.txt", "errors"]
    head = ["robot", "tier", "purpose", "requests", "share"]
    assert headings == [[], [[*head, *numbers]], [[*head, "pages", "bytes", *numbers]]]


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_as_csv(agent: str) -> None:
    table = list(csv.reader(io.StringIO(report_csv(report_of(log_of(agent)))), strict=True))
    cells = [cell for row in table for cell in row]
    assert [row[0] for row in table] == ["kind", "robot", "undeclared"]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))] == []
    assert [cell for cell in cells if not cell.isprintable()] == []
    assert max(map(len, cells)) <= MOST_CHARS + 10


SEMICOLONS = [
    ("Mozilla;=1+1", "Mozilla;'=1+1"),
    ("a;;@SUM(1);-1", "a;;'@SUM(1);'-1"),
    (";+1", ";'+1"),
    ("=1;=2", "'=1;'=2"),
    ("(compatible; +http://x.example)", "(compatible; +http://x.example)"),
    ("a; b=1", "a; b=1"),
]


@pytest.mark.parametrize(("cell", "written"), SEMICOLONS, ids=[cell for cell, _ in SEMICOLONS])
def test_semicolons_begin_no_formula(cell: str, written: str) -> None:
    """Spreadsheets of some countries separate cells by semicolons."""
    assert harmless(cell) == written


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_as_json(agent: str) -> None:
    """Programs get the text itself, in printable ASCII."""
    report = report_json(report_of(log_of(agent)))
    written = json_text(report)
    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == report
