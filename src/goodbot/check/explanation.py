"""Explains a kind of finding, for `goodbot explain` and docs/findings.md."""

import re
from dataclasses import dataclass
from typing import Final

from goodbot.check.checker import KINDS, check
from goodbot.check.findings import Severity
from goodbot.check.subject import Subject
from goodbot.errors import InputError

SHOWN_LINES: Final = 12
SHOWN_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Example:
    """A small file. `given` says in words where it was found, for example `at https://example.org/robots.txt, answered
    with 503`; it is empty if only the file matters. `text` is the file, without bytes that cannot be printed and cut
    where it is long."""

    given: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A kind of finding. `severity` is the usual one; `note` says when it is another one, and is often empty.

    `text` (one sentence: what is wrong and what happens), `affected` and `fix` are those of the finding in `example`,
    which has `example_severity` and is at `line` and `column`; these are None if the example is a site. The sentences
    have no full stop at the end. `fix` is None if there is nothing to do. `source` names the standard's section or the
    operator's page. `not_reported` is a similar file, or site, without this finding.
    """

    code: str
    severity: Severity
    title: str
    text: str
    affected: str
    fix: str | None
    source: str
    note: str
    example: Example
    example_severity: Severity
    line: int | None
    column: int | None
    not_reported: Example


def explain(code: str) -> Explanation:
    """Explains the kind with this code, in either case. Raises InputError if there is none."""
    kind = KINDS.get(code.strip().upper())
    if kind is None:
        raise InputError(f"there is no code {code!r}: the codes begin with {min(KINDS)} and end with {max(KINDS)}")
    found = next(finding for finding in check(kind.example) if finding.code == kind.code)
    source = "the page of its operator, see docs/robots-directory.md" if "{" in kind.source else kind.source
    return Explanation(
        kind.code,
        kind.severity,
        kind.title,
        found.message,
        found.affected,
        found.fix,
        source,
        kind.note,
        _example(kind.example),
        found.severity,
        found.line,
        found.column,
        _example(kind.near_miss),
    )


def _example(subject: Subject) -> Example:
    return Example(_given(subject), "\n".join(_lines(subject.body)))


def _given(subject: Subject) -> str:
    """Says what is known about a file besides its bytes."""
    known = [f"at {subject.url}"] if subject.url else []
    if subject.answer is not None and subject.answer.redirects:
        known = [f"{' redirects to '.join(subject.answer.redirects)}, {_answer(subject)}"]
    elif subject.answer is not None:
        known.append(_answer(subject))
    known += [f"with a page at {each.url} that contains `{each.body.decode()}`" for each in subject.pages]
    if subject.robots is not None:
        known.append(f"with the robots.txt `{' / '.join(subject.robots.decode().splitlines())}`")
    return ", ".join(known)


def _answer(subject: Subject) -> str:
    answer = subject.answer
    if answer is None or answer.status is None:
        return "without an answer"
    fields = "".join(f", `{name}: {value}`" for name, value in answer.headers)
    return f"{'which is ' if answer.redirects else ''}answered with {answer.status}{fields}"


def _lines(body: bytes) -> list[str]:
    """Escapes bytes that are not text, invisible characters, and line endings if one of them has a CR."""
    text = body.decode("utf-8", "backslashreplace")
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    end = "" if "\r" in text else "\n"
    shown = ["".join(map(_visible, line.removesuffix(end))) for line in lines if line]
    cut = [line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}… ({len(line):,} characters)" for line in shown]
    return cut[:SHOWN_LINES] + (["…"] if len(cut) > SHOWN_LINES else [])


def _visible(character: str) -> str:
    is_shown = character.isprintable() or character == "\t"
    return character if is_shown else character.encode("unicode_escape").decode()
