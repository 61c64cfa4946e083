"""Formats findings for programs: as JSON and as annotations of GitHub Actions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from goodbot.check.checker import KINDS
from goodbot.check.findings import SEVERITIES, Finding, Severity
from goodbot.exclusion.text.shown_text import shown, visible

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


@dataclass(frozen=True)
class CheckedFile:
    """One input: its name, as the user gave it, its findings and its lines."""

    name: str
    findings: Sequence[Finding]
    lines: Sequence[str] = ()

    def severe(self) -> "CheckedFile":
        """Returns the input without findings of severity info."""
        return replace(self, findings=[finding for finding in self.findings if finding.severity != "info"])

    @property
    def counts(self) -> Counter[Severity]:
        """The number of findings of each severity."""
        return Counter(finding.severity for finding in self.findings)


def has(checked: Iterable[CheckedFile], at_least: Severity) -> bool:
    """Returns whether there is a finding of this severity or a higher one."""
    severe = SEVERITIES[: SEVERITIES.index(at_least) + 1]
    return any(finding.severity in severe for each in checked for finding in each.findings)


def as_json(checked: Iterable[CheckedFile]) -> list[dict[str, object]]:
    """Returns one object per finding, in order."""
    return [_object(each.name, finding) for each in checked for finding in each.findings]


def _object(name: str, finding: Finding) -> dict[str, object]:
    kind = KINDS[finding.code]
    return {
        "file": name,
        "line": finding.line,
        "column": finding.column,
        "end_column": finding.end_column,
        "code": finding.code,
        "severity": finding.severity,
        "title": kind.title,
        "message": finding.message,
        "affected": finding.affected,
        "fix": finding.fix,
        "mended_by_fix": finding.edit is not None,
        "source": kind.source,
    }


# ---- GitHub ---------------------------------------------------------------------------------------------------------


def as_github(checked: Iterable[CheckedFile]) -> Iterator[str]:
    """Yields one workflow command per finding; GitHub shows it next to the line of the file."""
    for each in checked:
        for finding in each.findings:
            place = {"file": each.name, "line": finding.line, "col": finding.column, "endColumn": finding.end_column}
            properties = {**place, "title": f"{finding.code} {KINDS[finding.code].title}"}
            given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
            fix = f"\n{finding.fix}" if finding.fix else ""
            yield f"::{_COMMANDS[finding.severity]} {given}::{_data(finding.message + fix)}"


def _data(text: str) -> str:
    """Escapes text as GitHub's toolkit does, and other invisible characters too."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(value: object) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")


def summary(checked: Sequence[CheckedFile], *, quiet: bool = False) -> str:
    """Returns `2 errors, 1 warning, 3 info in 2 files`; with `quiet` it says that the infos are not shown."""
    counts = sum((each.counts for each in checked), Counter[Severity]())
    parts = [f"{counts[each]:,} {each}{'' if counts[each] == 1 or each == 'info' else 's'}" for each in SEVERITIES]
    hidden = " (not shown)" if quiet and counts["info"] else ""
    where = f" in {len(checked)} files" if len(checked) > 1 else f" in {shown(checked[0].name)}" if checked else ""
    return f"{parts[0]}, {parts[1]}, {parts[2]}{hidden}{where}"
