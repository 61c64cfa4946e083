"""The findings of an audit for people, grouped by kind."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from goodbot.audit.findings import AuditFinding
from goodbot.audit.kinds import KINDS
from goodbot.check import Severity
from goodbot.check.findings import SEVERITIES
from goodbot.cli.printing import Line, joined, styled, wrapped
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, in_shell
from goodbot.site_audit import SiteAudit

SHOWN: Final = 10
"""How many findings of one kind are shown."""

_COLOURS: Final[dict[Severity, str]] = {"error": "red", "warning": "yellow", "info": "cyan"}


def report_lines(audit: SiteAudit, folder: Path, ignore: tuple[str, ...]) -> Iterator[Line]:
    """Yields the lines to print: errors first."""
    counts = sorted(audit.staging.findings.counts(ignore), key=lambda row: (row[1], row[0]))
    for code, severity, count, documents in counts:
        yield from _kind(audit, code, SEVERITIES[severity], count, documents, ignore)
    if any(count > SHOWN for _, _, count, _ in counts):
        yield from wrapped(
            f"To list everything: goodbot audit --in {in_shell(folder)} --json, or --format html", "", "  "
        )
        yield []
    for note in audit.notes:
        yield from wrapped(note, "Note: ", "  ")
    if audit.notes:
        yield []


def summary_line(audit: SiteAudit, ignore: tuple[str, ...]) -> str:
    """Returns `2 errors, 1 warning, 3 info; 12 pages audited`: the findings, and the documents that were read."""
    totals: Counter[Severity] = Counter()
    for _, severity, count, _ in audit.staging.findings.counts(ignore):
        totals[SEVERITIES[severity]] += count
    parts = [f"{totals[each]:,} {each}{'' if totals[each] == 1 or each == 'info' else 's'}" for each in SEVERITIES]
    return f"{', '.join(parts)}; {counted(audit.pages, 'page')} audited"


def _kind(
    audit: SiteAudit, code: str, severity: Severity, count: int, documents: int, ignore: tuple[str, ...]
) -> Iterator[Line]:
    head = joined(styled(severity, fg=_COLOURS[severity], bold=True), " ", styled(code, bold=True), " ")
    where = f" in {counted(documents, 'document')}" if documents != count else ""
    yield from wrapped(f"{KINDS[code].title}: {counted(count, 'finding')}{where}", head, "  ", bold=True)
    found = list(islice(audit.staging.findings.select(ignore, code, severity), SHOWN))
    for finding in found:
        yield from wrapped(_words(finding), joined("  ", styled(_place(finding), bold=True), " "), "      ")
    if count > len(found):
        yield [f"  … and {count - len(found):,} more"]
    fixes = list(dict.fromkeys(finding.fix for finding in found))
    differ = len(fixes) > 1 or (count > len(found) and "{" in KINDS[code].fix)
    yield from wrapped(f"{'for example, ' if differ else ''}{fixes[0]}", "  fix:      ", " " * 12)
    yield from wrapped(KINDS[code].affected, "  affects:  ", " " * 12)
    yield []


def _place(finding: AuditFinding) -> str:
    url = shown(finding.url, 300)
    return f"{url}:" if finding.line is None else f"{url}:{finding.line}:{finding.column}:"


def _words(finding: AuditFinding) -> str:
    text, pages = finding.related.get("text"), finding.related.get("pages")
    quoted = f" [{shown(text, 80)}]" if isinstance(text, str) and text else ""
    many = f" ({pages:,} pages link there)" if isinstance(pages, int) and pages > 1 else ""
    return f"{finding.message}{quoted}{many}"
