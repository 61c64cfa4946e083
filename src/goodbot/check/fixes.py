"""Safe fixes of a robots.txt, which change no verdict in any dialect. Each is proved: a fix after which a dialect reads
other groups is left out."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from goodbot.check.checker import check
from goodbot.check.findings import Edit, Finding
from goodbot.check.subject import Subject
from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.exclusion.robotstxt.lines import decode
from goodbot.exclusion.text.shown_text import visible
from goodbot.exclusion.verdict import RULE_FIELDS, Group

ROUNDS_MOST = 10
"""One fix may reveal another finding; no real file seen needs more than two rounds."""

_ALL = 10_000_000

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_MARK = b"\xef\xbb\xbf"
_BEGINS_LIKE_A_MARK = (b"\xef", b"\xfe", b"\xff")


def mend(subject: Subject, ignore: Collection[str] = ()) -> bytes:
    """The file with every safe edit made that is not ignored. Fixing the result again changes nothing.

    Lines keep their line endings, unless R105 is fixed: then all get the most common one. A line that is not valid
    UTF-8 is left as it is (R104), and so is a file over 500 KiB, because the point where robots cut it would move.
    Never raises on content.
    """
    body = subject.body
    if subject.is_page or len(body) > LIMIT_BYTES:
        return body
    for _ in range(ROUNDS_MOST):
        found = check(Subject(body, mends_most=_ALL), ignore)
        after = _round(body, [finding for finding in found if finding.edit is not None])
        if after == body or len(after) > LIMIT_BYTES:
            break
        body = after
    return body


def difference(before: bytes, after: bytes, name: str) -> str:
    """A unified diff for people: invisible characters are escapes, a CR at the end of a line is shown as ␍."""
    lines = difflib.unified_diff(_shown_lines(before), _shown_lines(after), name, f"{name} (fixed)", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _shown_lines(body: bytes) -> list[str]:
    text = body.decode("utf-8", "replace").replace("\r\n", "␍\n").replace("\r", "␍\n")
    lines = text.removesuffix("\n").split("\n")
    return [visible(line) for line in lines]


# ---- one round ------------------------------------------------------------------------------------------------------


def _round(body: bytes, findings: list[Finding]) -> bytes:
    """All edits at once; if they change what some dialect reads, only those kinds that do not."""
    said = _readings(body)
    whole = _applied(body, findings)
    if whole == body or _readings(whole) == said:
        return whole
    kept: list[Finding] = []
    for code in sorted({finding.code for finding in findings}):
        tried = [*kept, *(finding for finding in findings if finding.code == code)]
        if _readings(_applied(body, tried)) == said:
            kept = tried
    return _applied(body, kept)


def _readings(body: bytes) -> list[object]:
    """What each dialect reads, without line numbers, and each rule of a group once. Equal readings give equal
    verdicts."""
    parsed = [RobotsTxt.parse(body, dialect) for dialect in DIALECTS]
    return [
        [
            [_reading(group) for group in robots.groups],
            [(field, value) for _, field, value in robots.records if field not in RULE_FIELDS],
        ]
        for robots in parsed
    ]


def _reading(group: Group) -> object:
    """The group's names and records, each with the number of the run it belongs to."""
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
        mended = _mended(line, edits[number]) if number in edits else line
        if mended is not None:
            new += mended + (common if common and end else end)
    keeps_mark = "R101" not in codes or new.startswith(_BEGINS_LIKE_A_MARK)
    return (mark if keeps_mark else b"") + bytes(new)


def _mended(line: bytes, edits: Iterable[Edit]) -> bytes | None:
    """One line, edited from the right; None if it is removed. Its comment keeps its bytes."""
    said, sharp, comment = line.partition(b"#")
    text = decode(b" " + said)[1:]  # only at the beginning of a file is this a byte order mark
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        if edit.end is None:
            return None
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text.encode("utf-8", "replace") + sharp + comment
