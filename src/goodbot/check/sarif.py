"""Formats findings as SARIF 2.1.0 (OASIS), which code hosts and editors read."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from goodbot.check.checker import KINDS
from goodbot.check.findings import Finding, Severity
from goodbot.check.json_report import CheckedFile

LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
"""The levels of SARIF for severities."""

_URL = re.compile(r"https?://[^\s;,]+")
_RFC = re.compile(r"RFC (\d+)(?: (\d+(?:\.\d+)*))?")


def as_sarif(checked: Sequence[CheckedFile], version: str) -> dict[str, object]:
    """Returns one SARIF run. `version` is the version of goodbot; the rules are the kinds of these findings."""
    codes = sorted({finding.code for each in checked for finding in each.findings})
    order = {code: number for number, code in enumerate(codes)}
    results = [_result(each.name, finding, order) for each in checked for finding in each.findings]
    return sarif_log([rule_of(KINDS[code]) for code in codes], results, version)


def sarif_log(
    rules: Sequence[dict[str, object]], results: Sequence[dict[str, object]], version: str
) -> dict[str, object]:
    """Returns a SARIF log of one run. `version` is the version of goodbot."""
    driver = {"name": "goodbot", "version": version, "rules": rules}
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def source_url(source: str) -> str | None:
    """Returns where a source can be read: the URL in it, else the URL of its RFC, else None."""
    if found := _URL.search(source):
        return found[0]
    if found := _RFC.search(source):
        section = f"#section-{found[2]}" if found[2] else ""
        return f"https://www.rfc-editor.org/rfc/rfc{found[1]}{section}"
    return None


class Rule(Protocol):
    """What SARIF says about a kind of finding."""

    @property
    def code(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def severity(self) -> Severity: ...

    @property
    def source(self) -> str: ...


def rule_of(kind: Rule) -> dict[str, object]:
    """Returns the rule of a kind of finding."""
    rule: dict[str, object] = {
        "id": kind.code,
        "name": kind.title,
        "shortDescription": {"text": kind.title},
        "help": {"text": f"{kind.title} (goodbot explain {kind.code}). Source: {kind.source}"},
        "defaultConfiguration": {"level": LEVELS[kind.severity]},
    }
    url = source_url(kind.source)
    return rule if url is None else {**rule, "helpUri": url}


def _result(name: str, finding: Finding, order: dict[str, int]) -> dict[str, object]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    if finding.end_column is not None and finding.end_column >= finding.column:
        region["endColumn"] = finding.end_column
    where = {"artifactLocation": {"uri": _uri(name)}, "region": region}
    parts = [finding.message, f"Affects: {finding.affected}" if finding.affected else "", finding.fix or ""]
    return {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": LEVELS[finding.severity],
        "message": {"text": "\n".join(filter(None, parts))},
        "locations": [{"physicalLocation": where}],
    }


def _uri(name: str) -> str:
    if "://" in name:
        return quote(name, safe=":/?#[]@!$&'()*+,;=%~")
    if name == "-":
        return "stdin"
    path = quote(os.fsencode(Path(name).as_posix()))
    return f"file://{path}" if Path(name).is_absolute() else path
