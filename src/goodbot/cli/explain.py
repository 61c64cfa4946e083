"""`goodbot explain`: explains a code that `goodbot check` or `goodbot audit` reports."""

from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import Final

import click

from goodbot.audit.kind import AuditKind
from goodbot.audit.kinds import KINDS as AUDIT_KINDS
from goodbot.check import Kind
from goodbot.check.checker import KINDS as CHECK_KINDS
from goodbot.check.explanation import Example, Explanation, explain
from goodbot.cli.command_class import Command
from goodbot.cli.printing import Line, joined, say, styled, wrapped, write_json
from goodbot.errors import InputError

KINDS: Final[dict[str, Kind | AuditKind]] = {**AUDIT_KINDS, **CHECK_KINDS}
"""All kinds of findings, by code."""

CODES_SHOWN = 12
"""Codes listed at most in an error message."""


@click.command(
    name="explain",
    cls=Command,
    examples="""
    goodbot explain R203
    goodbot explain A101
    goodbot explain --list
    """,
)
@click.argument("code", required=False)
@click.option("--list", "lists", is_flag=True, help="List all codes, with severity and title.")
def command(code: str | None, lists: bool, as_json: bool) -> None:
    """Explain CODE, a code that `goodbot check` (R…) or `goodbot audit` (A…) reports: what is wrong and why it matters,
    with an example, how to fix it, and the source of the rule.

    With --json: one object; for --list a list of objects.

    Exit status: 0: done; 2: there is no such code.
    """
    if lists == (code is not None):
        raise InputError("give either a CODE, such as R203, or --list")
    if code is None:
        _list_codes(as_json=as_json)
        return
    name = _known_code(code)
    explanation = _audit_explanation(name) if name in AUDIT_KINDS else explain(name)
    if as_json:
        write_json(asdict(explanation))
    else:
        for line in _lines(explanation):
            say(*line)


def _audit_explanation(code: str) -> Explanation:
    from goodbot.audit.explanation import explain_audit  # noqa: PLC0415  (loads the readers of pages)

    return explain_audit(code)


def _known_code(code: str) -> str:
    """Returns the code in capitals. Raises InputError, naming codes like it, if no kind of finding has it."""
    name = code.strip().upper()
    if name in KINDS:
        return name
    begun = [known for known in KINDS if name and known.startswith(name)]
    if begun:
        more = ", …" if len(begun) > CODES_SHOWN else ""
        hint = f"codes that begin with it: {', '.join(begun[:CODES_SHOWN])}{more}"
    else:
        near = get_close_matches(name, KINDS, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "goodbot explain --list lists all codes"
    raise InputError(f"there is no code {code!r}; {hint}")


def _list_codes(*, as_json: bool) -> None:
    if as_json:
        kinds = KINDS.values()
        write_json([{"code": kind.code, "severity": kind.severity, "title": kind.title} for kind in kinds])
        return
    for kind in KINDS.values():
        for line in wrapped(kind.title, joined(styled(kind.code, bold=True), f"  {kind.severity:<8} "), " " * 15):
            say(*line)


def _lines(found: Explanation) -> Iterator[Line]:
    yield from wrapped(found.title, joined(styled(found.code, bold=True), f" {found.severity}: "), "  ", bold=True)
    yield []
    yield from wrapped(f"{found.text}.", "", "")
    yield from wrapped(f"{found.affected}.", "Affects: ", "  ")
    if found.note:
        yield from wrapped(found.note, "", "")
    yield []
    place = "" if found.line is None else f" ({found.example_severity}, line {found.line}, column {found.column})"
    if found.example.text or found.line is not None:
        yield from _example("Example", found.example, place)
    if found.fix:
        yield from wrapped(found.fix if found.fix.endswith("?") else f"{found.fix}.", "Fix: ", "  ")
        yield []
    yield from _example("Not reported", found.not_reported, "")
    yield from wrapped(found.source, "Source: ", "  ")


def _example(title: str, example: Example, place: str) -> Iterator[Line]:
    yield from wrapped(f"{f', {example.given}' if example.given else ''}{place}:", title, "  ")
    yield from ([f"    {line}"] for line in example.text.splitlines() or ["(empty)"])
    yield []
