"""The values of this package: a `Kind` is one record, which feeds the checker, docs/findings.md and the tests; a
`Finding` is one finding of a kind at a place."""

from dataclasses import dataclass
from typing import Literal

from goodbot.check.subject import Subject

Severity = Literal["error", "warning", "info"]
"""`error`: the file does not do what its author intended; `warning`: it may not, or not for every robot; `info`: worth
knowing."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Edit:
    """A fix that changes no verdict in any dialect: on `line` (from 1) the characters `start` to `end` (from 0, `end`
    not included) are replaced by `text`. `end` None: to the end of the line, its end of line too."""

    line: int
    start: int
    end: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of one kind at a place. `line` and `column` count from 1, in characters; `end_column` is one after the
    last character. Findings about the whole file are at line 1, column 1. `message` is one sentence with words of the
    file in it; `fix` says how to fix it, None if there is nothing to do; `edit` fixes it, None if that is not safe."""

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

    `affected`: the robots or people it matters to. `source`: where it is stated (RFC section, operator's page, older
    text). `example` has a finding of this kind; `near_miss` looks like it and has none. Tests run both, the docs show
    both. `note` is for the docs: when the severity is another one, or what is not reported; sentences.
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
        """A finding of this kind at a place; `words` fill the templates."""
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
