"""The report as CSV, read back by Python's csv module."""

import csv
import io

import pytest

from goodbot.watch.report import WatchReport, report_csv
from goodbot.watch.report.csv_report import COLUMNS, harmless
from programs import ROOT
from watch.labelled_log import make_log
from watch.report.made_reports import GPTBOT, line, report_of


def rows_of(report: WatchReport) -> list[dict[str, str]]:
    """Reads the table."""
    return list(csv.DictReader(io.StringIO(report_csv(report)), strict=True))


def test_a_robot() -> None:
    lines = [line(0, "/robots.txt", status=404), line(1), line(1, "/x", GPTBOT + ' "q", r')]
    (row,) = rows_of(report_of([text.replace('"q"', '\\"q\\"') for text in lines]))
    assert row.pop("evidence").startswith("the User-Agent contains GPTBot, a robot of OpenAI; 9.9.9.9 is outside")
    assert row == {
        "kind": "robot",
        "name": "GPTBot",
        "tier_or_verdict": "impostor",
        "purpose": "ai-training",
        "operator": "OpenAI",
        "requests": "3",
        "bytes": "300",
        "pages": "2",
        "robots_txt_fetches": "1",
        "peak_rps": "2",
        "errors": "1",
        "first": "1789466400",
        "last": "1789466401",
        "points": "",
        "user_agent": GPTBOT,
        "disallowed": "",
        "judged": "",
        "obeyed": "",
    }


def test_obedience() -> None:
    lines = [line(0), line(1, "/x"), *(line(second, f"/x/{second}", "x", "192.0.2.1") for second in range(90))]
    rows = rows_of(report_of(lines, rules=b"User-agent: *\nDisallow: /x"))
    found = [(row["kind"], row["disallowed"], row["judged"], row["obeyed"]) for row in rows]
    assert found == [("robot", "1", "2", "no"), ("undeclared", "90", "", "")]


def test_robots_then_the_others() -> None:
    report = report_of(make_log().text())
    rows = rows_of(report)
    assert [row["kind"] for row in rows[: len(report.robots)]] == ["robot"] * len(report.robots)
    others = rows[len(report.robots) :]
    assert [(row["name"], row["points"]) for row in others] == [
        (one.address, str(one.points)) for one in report.undeclared
    ]
    assert {row["kind"] for row in others} == {"undeclared", "group"}


def test_every_column_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "watch-robots.md").read_text(encoding="utf-8")
    section = page.partition("## CSV")[2].partition("\n## ")[0]
    assert [name for name in COLUMNS if f"`{name}`" not in section] == []


CELLS = [
    ("=1+1", "'=1+1"),
    ("+1", "'+1"),
    ("-1", "'-1"),
    ("@SUM(A1)", "'@SUM(A1)"),
    ("\t=1", r"'\t=1"),
    ("\r=1", r"'\r=1"),
    ("\uff1d1", "'\uff1d1"),
    ("a=1", "a=1"),
    ("a\nb", r"a\nb"),
    ("\x1b[2J", r"\x1b[2J"),
    ("x" * 2001, "x" * 2000 + "…"),
    ("", ""),
    (-1, -1),
]


@pytest.mark.parametrize(("cell", "written"), CELLS, ids=[repr(cell)[:20] for cell, _ in CELLS])
def test_no_cell_is_a_formula(cell: object, written: object) -> None:
    assert harmless(cell) == written


def test_a_user_agent_that_is_a_formula() -> None:
    (row,) = rows_of(report_of([line(0, "/", '=HYPERLINK(\\"http://x.example\\") GPTBot/1.3')]))
    assert row["user_agent"].startswith("'=HYPERLINK(")


def test_an_empty_report_has_its_heading() -> None:
    assert report_csv(report_of([])) == ",".join(COLUMNS) + "\n"
