"""Checks whether a robots.txt, or the robots tags of a page, do what their author intends."""

from goodbot.check.checker import check
from goodbot.check.findings import Edit, Finding, Kind, Severity
from goodbot.check.subject import HttpAnswer, Subject

__all__ = ["Edit", "Finding", "HttpAnswer", "Kind", "Severity", "Subject", "check"]
