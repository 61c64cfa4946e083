"""Formats the findings of an audit for programs: as JSON, and as SARIF 2.1.0 for code hosts and editors."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from goodbot.audit.findings import AuditFinding
from goodbot.audit.kinds import KINDS
from goodbot.check.sarif import LEVELS, rule_of, sarif_log, uri_of

MAX_SARIF_RESULTS: Final = 25_000
"""How many results a SARIF file gets: code hosts take no more in one run."""


def finding_json(finding: AuditFinding) -> dict[str, object]:
    """Returns one finding as an object: the keys of `check`, with `url` in place of `file`."""
    kind = KINDS[finding.code]
    return {
        "url": finding.url,
        "line": finding.line,
        "column": finding.column,
        "code": finding.code,
        "severity": finding.severity,
        "title": kind.title,
        "message": finding.message,
        "affected": affected(finding),
        "fix": finding.fix,
        "source": kind.source,
        "related": dict(finding.related),
    }


def affected(finding: AuditFinding) -> str:
    """Names the people and robots that a finding affects."""
    hops = finding.related.get("hops")
    count = len(hops) - 1 if isinstance(hops, list) else 0
    return KINDS[finding.code].affected.format(count=count)


def as_sarif(findings: Iterable[AuditFinding], codes: Sequence[str], version: str) -> dict[str, object]:
    """Returns one SARIF run with the rules of these codes, and at most `MAX_SARIF_RESULTS` findings. `version` is the
    version of goodbot."""
    order = {code: number for number, code in enumerate(codes)}
    results = [_result(finding, order) for finding, _ in zip(findings, range(MAX_SARIF_RESULTS), strict=False)]
    return sarif_log([rule_of(KINDS[code]) for code in codes], results, version)


def _result(finding: AuditFinding, order: dict[str, int]) -> dict[str, Any]:
    where: dict[str, Any] = {"artifactLocation": {"uri": uri_of(finding.url)}}
    if finding.line is not None:
        where["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    parts = (finding.message, f"Affects: {affected(finding)}", finding.fix)
    return {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": LEVELS[finding.severity],
        "message": {"text": "\n".join(parts)},
        "locations": [{"physicalLocation": where}],
        "properties": dict(finding.related),
    }
