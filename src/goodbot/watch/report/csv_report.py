"""The report as CSV: one row for each robot and each undeclared address."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.watch.report.watch_report import WatchReport

COLUMNS: Final = (
    "kind",
    "name",
    "tier_or_verdict",
    "purpose",
    "operator",
    "requests",
    "bytes",
    "pages",
    "robots_txt_fetches",
    "peak_rps",
    "errors",
    "first",
    "last",
    "points",
    "evidence",
    "user_agent",
    "disallowed",
    "judged",
    "obeyed",
)

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a formula begins with; spreadsheets take fullwidth characters for the others."""

_AFTER_SEMICOLON: Final = re.compile(f"(?<=;)(?=[{re.escape(''.join(_FORMULA))}])")
"""Where a formula would begin in countries whose spreadsheets separate the cells of CSV by semicolons."""


MOST_CHARS: Final = 2000
"""Characters of a cell: a User-Agent can be longer than a spreadsheet allows."""


def report_csv(report: WatchReport) -> str:
    """Returns the table with its heading (RFC 4180, but for lines that end with LF). Times are Unix seconds.

    A cell that a spreadsheet would take for a formula begins with an apostrophe; so does the text after a semicolon.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(report):
        writer.writerow([harmless(cell) for cell in row])
    return text.getvalue()


def harmless(cell: object) -> object:
    """Makes a text that begins like a formula harmless, replaces invisible characters, and cuts off what is after
    `MOST_CHARS`; numbers stay."""
    if not isinstance(cell, str):
        return cell
    begun = f"'{cell}" if cell.startswith(_FORMULA) else cell
    return shown(_AFTER_SEMICOLON.sub("'", begun), MOST_CHARS)


def _rows(report: WatchReport) -> Iterator[tuple[object, ...]]:
    for robot in report.robots:
        counts, record, obedience = robot.counts, robot.robot, robot.obedience
        yield (
            "robot",
            robot.name,
            robot.tier,
            record.purpose if record else "",
            (record.operator if record else None) or "",
            counts.requests,
            counts.bytes,
            counts.kinds[0],
            robot.robots_txt_fetches,
            robot.rates.peak_second,
            robot.errors,
            counts.first_at,
            counts.last_at,
            "",
            "; ".join(robot.evidence),
            robot.agents[0][0] if robot.agents else "",
            *(
                (obedience.disallowed if obedience.judged else "", obedience.judged, obedience.obeyed)
                if obedience
                else ("", "", "")
            ),
        )
    for one in report.undeclared:
        yield (
            "group" if one.members else "undeclared",
            one.address,
            one.verdict,
            "",
            "",
            one.requests,
            one.bytes,
            one.pages,
            one.robots_txt_fetches,
            "",
            "",
            one.first_at,
            one.last_at,
            one.points,
            "; ".join(one.evidence),
            one.agent,
            one.disallowed.requests if one.disallowed else "",
            "",
            "",
        )
