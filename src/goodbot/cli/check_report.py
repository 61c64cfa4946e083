"""Findings for people: where, what, an excerpt with a caret, who is affected, how to fix it."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from goodbot.check import Finding, Severity
from goodbot.check.checker import KINDS
from goodbot.check.json_report import CheckedFile
from goodbot.check.subject import FILLER
from goodbot.cli.printing import Line, joined, styled, width, wrapped
from goodbot.exclusion.text.shown_text import shown, visible

NOTES_SHOWN = 3
"""How many findings of severity info are shown of one kind in one file; for the others, only their line numbers."""

LINES_SHOWN = 12

_COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "cyan"}


def report_lines(checked: CheckedFile) -> Iterator[Line]:
    """Yields the lines to print."""
    notes: dict[str, list[Finding]] = defaultdict(list)
    for finding in checked.findings:
        if finding.severity == "info":
            notes[finding.code].append(finding)
        else:
            yield from _finding(checked, finding)
    for kind in notes.values():
        yield from _notes(checked, kind)


def _finding(checked: CheckedFile, finding: Finding) -> Iterator[Line]:
    yield from wrapped(KINDS[finding.code].title, joined(*_head(checked, finding), " "), "  ", bold=True)
    yield from wrapped(finding.message, "  ", "  ")
    yield from _excerpt(checked, finding)
    if finding.affected:
        yield from wrapped(finding.affected, "  affects:  ", " " * 12)
    if finding.fix:
        yield from wrapped(finding.fix, "  fix:      ", " " * 12)
    yield []


def _notes(checked: CheckedFile, findings: list[Finding]) -> Iterator[Line]:
    """Yields a line for each of the first findings, and one with the line numbers of the others."""
    for finding in findings[:NOTES_SHOWN]:
        yield from wrapped(finding.message, joined(*_head(checked, finding), " "), "  ")
    more = findings[NOTES_SHOWN:]
    if len(more) == 1:
        yield [f"  1 more {findings[0].code} in line {more[0].line}"]
    elif more:
        numbers = ", ".join(str(finding.line) for finding in more[:LINES_SHOWN])
        yield [f"  {len(more):,} more {findings[0].code} in lines {numbers}{', …' if len(more) > LINES_SHOWN else ''}"]


def _head(checked: CheckedFile, finding: Finding) -> Line:
    place = styled(f"{shown(checked.name)}:{finding.line}:{finding.column}:", bold=True)
    return [place, " ", styled(finding.severity, fg=_COLOURS[finding.severity], bold=True), f" {finding.code}"]


def _excerpt(checked: CheckedFile, finding: Finding) -> Iterator[Line]:
    if not 0 < finding.line <= len(checked.lines) or not checked.lines[finding.line - 1].strip():
        return
    end = finding.end_column if finding.end_column is not None else finding.column + 1
    number = f"{finding.line:>6} | "
    most = width() - len(number) - len("……")
    text, caret = excerpt(checked.lines[finding.line - 1], finding.column - 1, end - 1, most)
    yield [styled(number, dim=True), text]
    yield [styled(" " * (len(number) - 2) + "| ", dim=True), styled(caret, fg=_COLOURS[finding.severity])]


def excerpt(line: str, start: int, end: int, most: int) -> tuple[str, str]:
    """A line as it can be shown, at most so many characters of it, and carets under `start` to `end` (from 0): a tab is
    four spaces, wide characters take two columns, what cannot be printed is an escape, and so is a
    byte that is not UTF-8."""
    first = max(0, start - most * 2 // 5) if len(line) > most else 0
    last = min(len(line), first + most)
    cells = [_cell(character) for character in line[first:last]]
    before, behind = ("…" if first else ""), ("…" if last < len(line) else "")
    begin = min(start, last) - first
    stop = max(begin, min(end, last) - first)
    gap = len(before) + sum(width for _, width in cells[:begin])
    caret = max(1, sum(width for _, width in cells[begin:stop]))
    return before + "".join(text for text, _ in cells).rstrip() + behind, " " * gap + "^" * caret


def _cell(character: str) -> tuple[str, int]:
    """A character as shown, and how many columns that takes."""
    if character == FILLER:
        return "", 0
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}", 4
    if character == "\t":
        return "    ", 4
    if unicodedata.combining(character):
        return character, 0
    if unicodedata.east_asian_width(character) in "WF":
        return character, 2
    return (seen := visible(character)), len(seen)
