"""Writes a parsed robots.txt in normal form, which gives the same verdicts in the dialect it was parsed in."""

import re
from collections import deque
from collections.abc import Iterator
from heapq import merge
from itertools import repeat
from operator import itemgetter

from goodbot.exclusion.robotstxt.lines import GOOGLE_LINE_BYTES
from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt
from goodbot.exclusion.text.compared_paths import google_pattern
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record

_FIELDS = (
    *("User-agent", "Allow", "Disallow", "Sitemap", "Crawl-delay", "Request-rate", "Visit-time", "Host", "Comment"),
    *("Robot-version", "Clean-param", "Content-Signal", "Content-Usage", "License", "Noindex"),
)
_NAMES = {name.lower(): name for name in _FIELDS}
_SHORTEST = {"user-agent": "useragent", "disallow": "disalow"}
_BEYOND_ASCII = re.compile(rb"%([89A-Fa-f][0-9A-Fa-f])")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def format_robotstxt(parsed: RobotsTxt) -> bytes:
    """Returns the normal form: UTF-8, lines that end with LF, one blank line between groups.

    Groups and the records outside them stay in order; Sitemap records come last, unless one is in a group (in the
    dialects of the 1990s). Comments, lines without a record, and rules outside groups are left out; everything else
    keeps its text. Read in the same dialect, the result gives the same verdicts (with other line numbers); formatting
    it again changes nothing.
    """
    parts = [[_line(record, parsed.dialect) for record in part] for part in _parts(parsed) if part]
    text = b"\n\n".join(b"\n".join(part) for part in parts)
    # A parser would skip a text that begins like a byte order mark (Google: like a part of one).
    return (_BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK[:1]) else b"") + text + (b"\n" if text else b"")


def _parts(parsed: RobotsTxt) -> Iterator[list[Record]]:
    """Yields blocks of records: the groups, the records between them, the sitemaps."""
    grouped = {line for group in parsed.groups for line, _, _ in group.records}
    outside = deque(record for record in parsed.records if record[0] not in grouped and _is_kept(record))
    sitemaps: list[Record] = []
    if not any(field == "sitemap" for group in parsed.groups for _, field, _ in group.records):
        sitemaps = [record for record in outside if record[1] == "sitemap"]
        outside = deque(record for record in outside if record[1] != "sitemap")
    for group in parsed.groups:
        before: list[Record] = []
        while outside and outside[0][0] < group.line:
            before.append(outside.popleft())
        yield before
        yield list(_lines_of(group))
    yield list(outside)
    yield sitemaps


def _lines_of(group: Group) -> Iterator[Record]:
    """Returns each run of User-agent lines, followed by the records directly below it."""
    names = zip(group.runs, repeat("user-agent"), group.agents, strict=False)
    return merge(names, group.records, key=itemgetter(0))


def _is_kept(record: Record) -> bool:
    """Whether a record outside the groups is kept: User-agent lines and rules apply to no robot there, and an empty
    Sitemap has no meaning."""
    _, field, value = record
    return field not in {"user-agent", *RULE_FIELDS} and bool(value or field != "sitemap")


def _line(record: Record, dialect: str) -> bytes:
    _, field, value = record
    if dialect == "google" and len(google_pattern(value)) > GOOGLE_LINE_BYTES - len(field) - 2:
        return _google_line(field, value)
    return f"{_NAMES.get(field, field)}: {value}".rstrip(" ").encode()


def _google_line(field: str, value: str) -> bytes:
    """Returns the shortest form of a record: Google reads at most 16,663 octets of a line, and accepts octets that are
    not UTF-8."""
    octets = _BEYOND_ASCII.sub(lambda found: bytes.fromhex(found.group(1).decode()), value.encode())
    return f"{_SHORTEST.get(field, field)}:".encode() + octets
