"""Formats the findings of an audit for programs: as JSON, and as SARIF 2.1.0 for code hosts and editors."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from goodbot.audit.findings import AuditFinding
from goodbot.audit.kinds import KINDS
from goodbot.check.sarif import LEVELS, rule_of, sarif_log
from goodbot.url import Url

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
        "affected": kind.affected,
        "fix": finding.fix,
        "source": kind.source,
        "related": dict(finding.related),
    }


def as_sarif(
    findings: Iterable[AuditFinding], codes: Sequence[str], version: str, root: str | None = None
) -> dict[str, object]:
    """Returns one SARIF run with the rules of these codes, and at most `MAX_SARIF_RESULTS` findings. `version` is the
    version of goodbot, `root` the folder whose files the site serves (see `sarif_uri`)."""
    order = {code: number for number, code in enumerate(codes)}
    results = [_result(finding, order, root) for finding, _ in zip(findings, range(MAX_SARIF_RESULTS), strict=False)]
    return sarif_log([rule_of(KINDS[code]) for code in codes], results, version)


def sarif_uri(url: str, root: str | None) -> str:
    """Returns where a finding about a URL is, as a relative URI: code hosts reject files with URLs of http and https.

    It is a file below `root`, `index.html` for a URL that ends in a slash; without `root`, the URL without its scheme.
    """
    if root is None:
        authority, _, rest = url.partition("://")[2].partition("/")
        return f"{quote(authority)}/{quote(rest, safe=_KEPT)}"
    path = Url(url).path.removeprefix("/")
    name = f"{path}index.html" if not path or path.endswith("/") else path
    folder = quote(os.fsencode(root.rstrip("/")))
    return f"{folder}/{quote(name, safe=_KEPT)}"


_KEPT: Final = "/?#[]@!$&'()*+,;=%~:"
"""Characters of a URL that are not encoded once more."""


def _result(finding: AuditFinding, order: dict[str, int], root: str | None) -> dict[str, Any]:
    where: dict[str, Any] = {"artifactLocation": {"uri": sarif_uri(finding.url, root)}}
    if finding.line is not None:
        where["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    parts = (finding.message, f"Affects: {KINDS[finding.code].affected}", finding.fix)
    return {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": LEVELS[finding.severity],
        "message": {"text": "\n".join(parts)},
        "locations": [{"physicalLocation": where}],
        "properties": {"url": finding.url, **finding.related},
    }
