"""Explains a kind of finding about a site, for `goodbot explain` and docs/audit-findings.md."""

from collections.abc import Iterable

from goodbot.audit.example_audit import SITE, example_finding
from goodbot.audit.kind import SitePage
from goodbot.audit.kinds import KINDS
from goodbot.check.explanation import Example, Explanation
from goodbot.errors import InputError
from goodbot.human import human_bytes


def explain_audit(code: str) -> Explanation:
    """Explains the kind with this code (upper or lower case), with the message of its example. Raises InputError for an
    unknown code."""
    kind = KINDS.get(code.strip().upper())
    if kind is None:
        raise InputError(f"the audit has no code {code!r}; goodbot explain --list lists the codes")
    found = example_finding(kind)
    return Explanation(
        kind.code,
        kind.severity,
        kind.title,
        found.message,
        kind.affected,
        found.fix,
        kind.source,
        kind.note,
        Example("", site_text(kind.example)),
        found.severity,
        None,
        None,
        Example("", site_text(kind.near_miss)),
    )


def site_text(pages: Iterable[SitePage]) -> str:
    """Returns an example site as lines: each path with what the server sends."""
    lines: list[str] = []
    for page in pages:
        if page.location:
            lines.append(f"{page.path}: redirects to {page.location} (status {page.status})")
        elif page.status != 200:
            lines.append(f"{page.path}: status {page.status}")
        else:
            body = page.body.replace("{site}", SITE).splitlines()
            lines += [f"{page.path}{_weight(page)}:", *(f"  {line}" for line in body)]
    return "\n".join(lines)


def _weight(page: SitePage) -> str:
    """Says how long the response takes and how large it is, if that is what the example shows."""
    taken = [f"sent after {page.taken_s:g} s"] if page.taken_s else []
    size = [f"{human_bytes(page.size_bytes)} in all"] if page.size_bytes else []
    return f" ({', '.join(taken + size)})" if taken or size else ""
