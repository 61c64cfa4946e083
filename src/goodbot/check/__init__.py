"""Is this robots.txt what its author means?"""

from goodbot.check.checker import check
from goodbot.check.findings import Edit, Finding, Kind, Severity
from goodbot.check.subject import Answer, Subject

__all__ = ["Answer", "Edit", "Finding", "Kind", "Severity", "Subject", "check"]
