"""The values of this package. A `Kind` is the record of one kind of finding, from which the checker, docs/findings.md
and the tests work; a `Finding` is one finding of a kind at a place."""

from dataclasses import dataclass
from typing import Literal

from goodbot.check.subject import Subject

Severity = Literal["error", "warning", "info"]
"""`error`: the file does not do what its author intended; `warning`: it may not, or not for every robot; `info`: good
to know."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Edit:
    """A fix that changes no verdict in any dialect: it replaces the characters `start` to `end` (from 0, without `end`)
    of `line` (from 1) with `text`. If `end` is None, it removes the rest of the line and its line ending."""

    line: int
    start: int
    end: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of one kind at a place.

    `line` and `column` count from 1, in characters; `end_column` is the column after the last character. Findings about
    the whole file are at line 1, column 1. `message` is one sentence that quotes the file. `affected` names the robots
    or people that the finding affects. `fix` describes a fix, None if there is nothing to do; `edit` makes it, None if
    that would not be safe.
    """

    code: str
    severity: Severity
    message: str
    line: int = 1
    column: int = 1
    end_column: int | None = None
    affected: str = ""
    fix: str | None = None
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding. `message`, `affected` and `fix` are templates for `str.format`; `title` is for lists.

    `affected` names the robots or people that it affects. `source` names the text it follows from (RFC section,
    operator's page, older standard). `example` has a finding of this kind; `near_miss` is similar and has none. The
    tests run both, and the docs show both. `note` says in sentences when the severity is another one, or what is not
    reported.
    """

    code: str
    title: str
    severity: Severity
    message: str
    affected: str
    fix: str | None
    source: str
    example: Subject
    near_miss: Subject
    note: str = ""

    def at(
        self,
        line: int = 1,
        column: int = 1,
        end_column: int | None = None,
        /,
        *,
        edit: Edit | None = None,
        severity: Severity | None = None,
        **words: object,
    ) -> Finding:
        """Returns a finding of this kind at a place; `words` fill the templates."""
        return Finding(
            self.code,
            severity or self.severity,
            self.message.format(**words),
            line,
            column,
            end_column,
            self.affected.format(**words),
            None if self.fix is None else self.fix.format(**words),
            edit,
        )
