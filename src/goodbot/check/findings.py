"""The values of this room: a `Kind` of finding is one record, which feeds the checker, the page of the docs and the
tests; a `Finding` is one of a kind at a place."""

from dataclasses import dataclass
from typing import Literal

from goodbot.check.subject import Subject

Severity = Literal["error", "warning", "info"]
"""`error`: the file does not do what its author must mean; `warning`: it may not, or not for everyone; `info`: good to
know."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Edit:
    """A mend that changes no verdict in any dialect: on `line` (from 1) the characters `start` to `end` (from 0, `end`
    not included) are replaced by `text`. `end` None: to the end of the line, its end of line too."""

    line: int
    start: int
    end: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One of a kind at a place. `line` and `column` count from 1, in characters; `end_column` is behind the last
    character. What concerns the whole file stands at line 1, column 1. `message` is one sentence with the words of the
    file in it; `fix` says how to mend it, None if nothing is to be done; `edit` does it, if that is safe."""

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

    `affected`: which robots read it so, or whose business it is. `source`: where it is said (RFC section, operator's
    page, seed). `example` is hit by this kind, `near_miss` looks like it and is not: both are tried by the tests and
    shown in the docs.
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
        """One at a place; `words` fill the templates."""
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
