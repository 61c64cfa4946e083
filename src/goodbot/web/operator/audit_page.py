"""Writes the report of `goodbot audit` as one self-contained HTML page: no script, and nothing is loaded.

Text of the audited site is shown without control characters, cut to a length, and escaped by the template. Each kind of
finding has a bounded list, and the page says what it leaves out.
"""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from gettext import NullTranslations
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from goodbot.audit.finding_store import FindingStore
from goodbot.audit.findings import AuditFinding
from goodbot.audit.kind import AuditKind
from goodbot.audit.kinds import KINDS
from goodbot.check import Severity
from goodbot.check.findings import SEVERITIES
from goodbot.check.sarif import source_url
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_time
from goodbot.web.pages.environment import plain_environment
from goodbot.web.pages.html_text import html_text
from goodbot.web.pages.view import human_number

FIRST_ROWS: Final = 25
"""Findings of one kind that are shown at once; the others are in a part that opens."""

MOST_ROWS: Final = 500
"""Findings of one kind that the page has."""

_STYLE: Final = Path(__file__).parents[1] / "static" / "style.css"


class KindPart(NamedTuple):
    """A kind of finding with one severity, how many findings there are, and the first of them. `fix`: what to do, if it
    is the same for all."""

    kind: AuditKind
    severity: Severity
    total: int
    findings: list[AuditFinding]
    fix: str
    source_url: str | None

    @property
    def part_id(self) -> str:
        return f"{self.kind.code.lower()}-{self.severity}"


def audit_page(
    findings: FindingStore, notes: Sequence[str], pages: int, ignore: Sequence[str], written_at: float
) -> str:
    """Returns the page. `pages` is the number of pages that were audited, `ignore` are the codes to leave out,
    `written_at` is the time that the page states, in Unix seconds."""
    counts = sorted(findings.counts(ignore), key=lambda row: (row[1], row[0]))
    parts = [_part(findings, code, SEVERITIES[severity], count, ignore) for code, severity, count, _ in counts]
    totals = {each: sum(part.total for part in parts if part.severity == each) for each in SEVERITIES}
    policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src"
    style = f"\n{_STYLE.read_text('utf-8')}\n"
    digest = b64encode(sha256(style.encode()).digest()).decode()
    text = (
        _environment()
        .get_template("audit.html")
        .render(
            parts=parts,
            totals=totals,
            pages=pages,
            notes=notes,
            written_at=written_at,
            first_rows=FIRST_ROWS,
            style=Markup(style),  # noqa: S704  (our own file)
            policy=f"{policy} 'sha256-{digest}'",
        )
    )
    return html_text(text)


def _part(findings: FindingStore, code: str, severity: Severity, count: int, ignore: Sequence[str]) -> KindPart:
    kind = KINDS[code]
    found = list(islice(findings.select(ignore, code, severity), MOST_ROWS))
    fixes = {each.fix for each in found}
    fix = fixes.pop() if len(fixes) == 1 else ""
    return KindPart(kind, severity, count, found, fix, source_url(kind.source))


@cache
def _environment() -> Environment:
    environment = plain_environment(NullTranslations())
    environment.filters.update(number=human_number, shown=shown, when=human_time)
    return environment
