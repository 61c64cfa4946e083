"""Applies safe fixes to a robots.txt. They change no verdict in any dialect: a fix after which some dialect would read
other groups or rules is left out."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from goodbot.check.checker import check
from goodbot.check.findings import Edit, Finding
from goodbot.check.subject import Subject
from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.exclusion.robotstxt.lines import decode
from goodbot.exclusion.verdict import RULE_FIELDS, Group

MAX_PASSES = 10
"""How often fixes are applied, because one fix may reveal another finding. No known real file needs more than two."""

_ALL = 10_000_000

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_MARK = b"\xef\xbb\xbf"
_BEGINS_LIKE_A_MARK = (b"\xef", b"\xfe", b"\xff")


def apply_fixes(subject: Subject, ignore: Collection[str] = ()) -> bytes:
    """Returns the file with all safe fixes whose codes are not in `ignore`. Fixing the result again changes nothing.

    Lines keep their line endings, unless R105 is fixed: then all get the most common one. Lines that are not valid
    UTF-8 (R104) are left unchanged, and so are files over 500 KiB, because a fix would move the point where robots stop
    reading. Never raises on content.
    """
    body = subject.body
    if subject.is_page or len(body) > LIMIT_BYTES:
        return body
    for _ in range(MAX_PASSES):
        found = check(Subject(body, fixable_most=_ALL), ignore)
        after = _pass(body, [finding for finding in found if finding.edit is not None])
        if after == body or len(after) > LIMIT_BYTES:
            break
        body = after
    return body


# ---- one pass -------------------------------------------------------------------------------------------------------


def _pass(body: bytes, findings: list[Finding]) -> bytes:
    """Applies all edits; if they change what some dialect reads, only the kinds of edits that do not."""
    before = _readings(body)
    whole = _applied(body, findings)
    if whole == body or _readings(whole) == before:
        return whole
    kept: list[Finding] = []
    for code in sorted({finding.code for finding in findings}):
        tried = [*kept, *(finding for finding in findings if finding.code == code)]
        if _readings(_applied(body, tried)) == before:
            kept = tried
    return _applied(body, kept)


def _readings(body: bytes) -> list[object]:
    """Returns what each dialect reads: without line numbers, and with each rule of a group once. If the readings of two
    files are equal, their verdicts are equal."""
    parsed = [RobotsTxt.parse(body, dialect) for dialect in DIALECTS]
    return [
        [
            [_reading(group) for group in robots.groups],
            [(field, value) for _, field, value in robots.records if field not in RULE_FIELDS],
        ]
        for robots in parsed
    ]


def _reading(group: Group) -> object:
    """Returns the group's names and records, each with the number of the run that it belongs to."""
    runs = {run: place for place, run in enumerate(dict.fromkeys(group.runs))}
    names = [(runs[run], name) for run, name in zip(group.runs, group.agents, strict=True)]
    seen: set[tuple[str, str]] = set()
    records: list[tuple[int, str, str]] = []
    for run, (_, field, value) in group.records_by_run():
        if field not in RULE_FIELDS or (field, value) not in seen:
            seen.add((field, value))
            records.append((runs[run], field, value))
    return names, records


def _applied(body: bytes, findings: Sequence[Finding]) -> bytes:
    codes = {finding.code for finding in findings}
    mark = _MARK if body.startswith(_MARK) else b""
    rest = body[len(mark) :]
    edits: dict[int, list[Edit]] = defaultdict(list)
    for finding in findings:
        edit = finding.edit
        if edit is not None and (edit.end != edit.start or edit.text):
            edits[finding.line].append(edit)
    lines = [(match[1], match[2]) for match in _LINE.finditer(rest) if match[0]]
    ends = Counter(end for _, end in lines if end)
    common = (b"\r\n" if ends[b"\r\n"] > ends[b"\n"] else b"\n") if "R105" in codes else None
    new = bytearray()
    for number, (line, end) in enumerate(lines, 1):
        edited = _edited(line, edits[number]) if number in edits else line
        if edited is not None:
            new += edited + (common if common and end else end)
    keeps_mark = "R101" not in codes or new.startswith(_BEGINS_LIKE_A_MARK)
    return (mark if keeps_mark else b"") + bytes(new)


def _edited(line: bytes, edits: Iterable[Edit]) -> bytes | None:
    """Applies edits to one line, from right to left, but not to its comment; returns None if the line is removed."""
    record, sharp, comment = line.partition(b"#")
    text = decode(b" " + record)[1:]  # the space: U+FEFF is a byte order mark only at the beginning
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        if edit.end is None:
            return None
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text.encode("utf-8", "replace") + sharp + comment
