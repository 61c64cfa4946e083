"""Explains a kind of finding about a site, for `goodbot explain` and docs/audit-findings.md."""

from collections.abc import Iterable
from typing import Any, Final

from goodbot.audit.kind import SitePage
from goodbot.audit.kinds import KINDS
from goodbot.check.explanation import Example, Explanation
from goodbot.errors import InputError

_SITE: Final = "https://example.org"
_WORDS: Final[dict[str, Any]] = {
    "target": f"{_SITE}/b",
    "end": f"{_SITE}/c",
    "why": "status 404",
    "hops": f"{_SITE}/b → {_SITE}/c",
    "count": 2,
    "rule": "Disallow: /b",
    "rule_line": 2,
    "agent": "Googlebot",
    "directive": "noindex in META robots",
    "canonical": f"{_SITE}/b",
    "title": "`Text`",
    "lang": "`en_US`",
    "language": "de",
    "taken_s": "3.2",
    "limit_s": "2",
    "size": "1.4 MB",
    "limit": "1.0 MB",
    "origin": "from a sitemap",
}
"""Words for the templates, as an audit of the examples would fill them in."""


def explain_audit(code: str) -> Explanation:
    """Explains the kind with this code, in either case. Raises InputError if there is none."""
    kind = KINDS.get(code.strip().upper())
    if kind is None:
        raise InputError(f"the audit has no code {code!r}: its codes are {min(KINDS)} to {max(KINDS)}")
    return Explanation(
        kind.code,
        kind.severity,
        kind.title,
        kind.message.format(**_WORDS),
        kind.affected.format(**_WORDS),
        kind.fix.format(**_WORDS),
        kind.source,
        kind.note,
        Example("", site_text(kind.example)),
        kind.severity,
        None,
        None,
        Example("", site_text(kind.near_miss)),
    )


def site_text(pages: Iterable[SitePage]) -> str:
    """Returns an example site as lines: each path with what the server answers."""
    lines: list[str] = []
    for page in pages:
        if page.location:
            lines.append(f"{page.path}: redirects to {page.location} (status {page.status})")
        elif page.status != 200:
            lines.append(f"{page.path}: status {page.status}")
        else:
            lines += [f"{page.path}:", *(f"  {line}" for line in page.body.replace("{site}", _SITE).splitlines())]
    return "\n".join(lines)
