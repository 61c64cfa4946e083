"""Runs every check on one file and returns the findings in the order of the file."""

from collections.abc import Collection, Iterator
from itertools import chain, islice
from types import ModuleType

from goodbot.check import fetching, meaning, raw_bytes, syntax
from goodbot.check import other_records as others
from goodbot.check import page_checks as pages
from goodbot.check import rule_paths as paths
from goodbot.check import user_agents as agents
from goodbot.check.file_kind import is_garbled
from goodbot.check.findings import Finding, Kind
from goodbot.check.ignored import IgnoredFindings
from goodbot.check.subject import Subject

MAX_FINDINGS = 10_000
"""The most findings reported for one file: a hostile file may have a million."""

MODULES: tuple[ModuleType, ...] = (fetching, raw_bytes, syntax, agents, paths, meaning, others)
"""The modules with the checks of a robots.txt. Each has `KINDS` and a function `find`, which yields their findings: at
most a few hundred of each kind, in time linear in the size of the file, and without raising on any content."""
KINDS: dict[str, Kind] = {kind.code: kind for module in (*MODULES, pages) for kind in module.KINDS}
"""Every kind of finding, by its code, in order."""


def check(subject: Subject, ignore: Collection[str] = ()) -> list[Finding]:
    """Returns the findings, sorted by line, column and code; at most `MAX_FINDINGS`.

    Leaves out the codes in `ignore` (`R3` means all codes that begin with it) and those that a comment in the file
    ignores. Never raises on content.
    """
    ignored = IgnoredFindings.of(() if subject.is_page else subject.lines, ignore)
    kept = ignored.not_ignored(islice(_found(subject), max(MAX_FINDINGS, subject.fixable_most)))
    return sorted(kept, key=lambda each: (each.line, each.column, each.code))


def _found(subject: Subject) -> Iterator[Finding]:
    """Chooses the modules. The lines of a file are not checked if robots do not or cannot read it, or if it is not a
    robots.txt. A body that could not be decoded is recognized by its Content-Encoding header."""
    if subject.is_page:
        return pages.find(subject)
    modules = MODULES
    if not subject.is_read or subject.is_html:
        modules = (fetching,)
    elif subject.form is not None:
        modules = (fetching,) if subject.is_encoded else (raw_bytes,)
    elif is_garbled(subject.body):
        modules = (fetching, raw_bytes)
    return chain.from_iterable(module.find(subject) for module in modules)
