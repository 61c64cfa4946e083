"""A finding about a site, as the audit reports it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from goodbot.audit.kind import AuditKind
from goodbot.check import Severity
from goodbot.exclusion.text.shown_text import shown

MAX_URL_CHARS = 300
"""How much of a URL a message shows; `url` and `related` have all of it."""

Part = Literal["link", "translation", "canonical", "robots", "html", "title", "entry", ""]
"""The part of a document that a finding is about: a link, a link to a translation, the canonical URL, META robots,
the html element, the title, an entry of a sitemap or a Sitemap record of robots.txt; empty: the whole document."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A finding of one kind. `url` is that of the document that has to be fixed, usually a page.

    `line` and `column` count from 1, in characters of the decoded document; they are None if the finding is about the
    whole document, or its place is not known. `part` says where to look for the place, with `target`, the URL there.
    `related` has what programs need besides: URLs, hops, counts.
    """

    code: str
    severity: Severity
    message: str
    fix: str
    url: str
    line: int | None = None
    column: int | None = None
    part: Part = ""
    target: str = ""
    related: Mapping[str, object] = field(default_factory=dict)


def finding(
    kind: AuditKind,
    url: str,
    part: Part = "",
    target: str = "",
    /,
    *,
    severity: Severity | None = None,
    related: Mapping[str, object] | None = None,
    **words: object,
) -> AuditFinding:
    """Returns a finding of a kind. `words` fill its templates; they are made safe to print, and shortened."""
    safe = {"target": target, **words}
    shown_words = {name: shown(str(word), MAX_URL_CHARS) for name, word in safe.items()}
    return AuditFinding(
        kind.code,
        severity or kind.severity,
        kind.message.format(**shown_words),
        kind.fix.format(**shown_words),
        url,
        part=part,
        target=target,
        related={**({"target": target} if target else {}), **(related or {})},
    )
