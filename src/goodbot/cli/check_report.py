"""Findings for people: where, what, an excerpt with a caret, who is affected, how to mend it."""

import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

import click

from goodbot.check import Finding, Severity
from goodbot.check.checker import KINDS
from goodbot.check.report import Checked
from goodbot.exclusion.showing import shown

NOTES_SHOWN = 3
"""Of one kind in one file; of the others, the lines."""

LINES_SHOWN = 12
WIDTH = 100
BEFORE = 40
"""Characters of a long line shown before the place; as many columns as `WIDTH` of it in all."""

_COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "cyan"}


def told(checked: Checked) -> Iterator[str]:
    """The lines to print, in colours that `click.echo` leaves out where no terminal is. No stranger's text reaches a
    terminal as it is."""
    notes: dict[str, list[Finding]] = defaultdict(list)
    for finding in checked.findings:
        if finding.severity == "info":
            notes[finding.code].append(finding)
        else:
            yield from _finding(checked, finding)
    for kind in notes.values():
        yield from _notes(checked, kind)


def _finding(checked: Checked, finding: Finding) -> Iterator[str]:
    yield f"{_head(checked, finding)} {click.style(KINDS[finding.code].title, bold=True)}"
    yield from _wrapped(finding.message, "  ", "  ")
    yield from _excerpt(checked, finding)
    if finding.affected:
        yield from _wrapped(finding.affected, "  affected: ", " " * 12)
    if finding.fix:
        yield from _wrapped(finding.fix, "  fix:      ", " " * 12)
    yield ""


def _notes(checked: Checked, findings: list[Finding]) -> Iterator[str]:
    """One line each; where there are many of a kind, the first ones, and the lines of the others."""
    for finding in findings[:NOTES_SHOWN]:
        yield f"{_head(checked, finding)} {finding.message}"
    more = findings[NOTES_SHOWN:]
    if more:
        numbers = ", ".join(str(finding.line) for finding in more[:LINES_SHOWN])
        yield f"  {findings[0].code} {len(more):,} times more: line {numbers}{', …' if len(more) > LINES_SHOWN else ''}"


def _head(checked: Checked, finding: Finding) -> str:
    place = f"{shown(checked.name)}:{finding.line}:{finding.column}:"
    severity = click.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
    return f"{click.style(place, bold=True)} {severity} {finding.code}"


def _wrapped(text: str, first: str, next_: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=next_,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _excerpt(checked: Checked, finding: Finding) -> Iterator[str]:
    if not 0 < finding.line <= len(checked.lines) or not checked.lines[finding.line - 1].strip():
        return
    end = finding.end_column if finding.end_column is not None else finding.column + 1
    text, caret = excerpt(checked.lines[finding.line - 1], finding.column - 1, end - 1)
    number = f"{finding.line:>6} | "
    yield click.style(number, dim=True) + text
    yield click.style(" " * (len(number) - 2) + "| ", dim=True) + click.style(caret, fg=_COLOURS[finding.severity])


def excerpt(line: str, start: int, end: int) -> tuple[str, str]:
    """A line as it can be shown, at most `WIDTH` characters of it, and carets under `start` to `end` (from 0): a tab is
    four blanks, wide signs take two columns, what cannot be printed is U+FFFD."""
    first = max(0, start - BEFORE) if len(line) > WIDTH else 0
    last = min(len(line), first + WIDTH)
    cells = [_cell(sign) for sign in line[first:last]]
    before, behind = ("…" if first else ""), ("…" if last < len(line) else "")
    begin = min(start, last) - first
    stop = max(begin, min(end, last) - first)
    gap = len(before) + sum(width for _, width in cells[:begin])
    caret = max(1, sum(width for _, width in cells[begin:stop]))
    return before + "".join(text for text, _ in cells).rstrip() + behind, " " * gap + "^" * caret


def _cell(sign: str) -> tuple[str, int]:
    """A character as shown, and how many columns that takes."""
    if sign == "\t":
        return "    ", 4
    if not sign.isprintable():
        return "\ufffd", 1
    if unicodedata.combining(sign):
        return sign, 0
    return sign, 2 if unicodedata.east_asian_width(sign) in "WF" else 1
