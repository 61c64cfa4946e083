"""Finds what is wrong with a site from what a crawl of it has found."""

from goodbot.audit.findings import AuditFinding
from goodbot.audit.kind import AuditKind
from goodbot.audit.kinds import KINDS

__all__ = ["KINDS", "AuditFinding", "AuditKind"]
