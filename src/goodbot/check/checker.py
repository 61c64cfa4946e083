"""Runs every check over one subject: its findings, in the order of the file."""

from collections.abc import Collection, Iterator
from itertools import chain, islice
from types import ModuleType

from goodbot.check import fetching, meaning, syntax
from goodbot.check import other_records as others
from goodbot.check import page_checks as pages
from goodbot.check import raw_bytes as octets
from goodbot.check import rule_paths as paths
from goodbot.check import user_agents as agents
from goodbot.check.file_kind import is_garbled
from goodbot.check.findings import Finding, Kind
from goodbot.check.ignored import IgnoredFindings
from goodbot.check.subject import Subject

FINDINGS_MOST = 10_000
"""Findings of one file that are reported: a hostile file may have a million."""

ROOMS: tuple[ModuleType, ...] = (fetching, octets, syntax, agents, paths, meaning, others)
"""Each has its kinds, and `find`, which looks for them: never raises on content, linear in its size, at most a few
hundred of each."""
KINDS: dict[str, Kind] = {kind.code: kind for room in (*ROOMS, pages) for kind in room.KINDS}
"""Every kind, by its code, in order."""


def check(subject: Subject, ignore: Collection[str] = ()) -> list[Finding]:
    """The findings by line, column and code, at most `FINDINGS_MOST`. Leaves out the codes in `ignore` (`R3` means all
    codes that begin with it) and those that a comment in the file ignores. Never raises on content."""
    silence = IgnoredFindings.of(() if subject.is_page else subject.lines, ignore)
    kept = silence.heard(islice(_found(subject), max(FINDINGS_MOST, subject.mends_most)))
    return sorted(kept, key=lambda each: (each.line, each.column, each.code))


def _found(subject: Subject) -> Iterator[Finding]:
    """Lines are not checked if no robot reads or can read the file, or if it is a Web page or not a robots.txt. A body
    that could not be decoded is recognized by its Content-Encoding header."""
    if subject.is_page:
        return pages.find(subject)
    rooms = ROOMS
    if not subject.is_read or subject.is_html:
        rooms = (fetching,)
    elif subject.form is not None:
        rooms = (fetching,) if subject.is_encoded else (octets,)
    elif is_garbled(subject.body):
        rooms = (fetching, octets)
    return chain.from_iterable(room.find(subject) for room in rooms)
