"""All kinds of findings about a site. The audit, `goodbot explain`, docs/audit-findings.md and the tests all use these
records."""

from collections.abc import Iterable
from typing import Final

from goodbot.audit import index_kinds, link_kinds, page_kinds
from goodbot.audit.kind import AuditKind
from goodbot.errors import InputError

KINDS: Final[dict[str, AuditKind]] = {
    kind.code: kind for module in (link_kinds, index_kinds, page_kinds) for kind in module.KINDS
}
"""Every kind of finding about a site, by its code, in order."""


def known_audit_codes(codes: Iterable[str], origin: str) -> tuple[str, ...]:
    """Returns the codes in capitals. Raises InputError if no kind of finding has a code that begins so."""
    given = tuple(code.strip().upper() for code in codes)
    for code in given:
        if not code or not any(known.startswith(code) for known in KINDS):
            once = f" (give {origin} once for each code)" if "," in code else ""
            raise InputError(
                f"{origin}: no code of the audit begins with {code or repr(code)}{once}; "
                "goodbot explain --list lists the codes"
            )
    return given
