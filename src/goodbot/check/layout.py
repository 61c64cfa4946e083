"""Formats a robots.txt, tidy or in as few bytes as possible, with the same verdicts in every dialect.

Everything that some dialect reads is kept, such as a line without a colon that Google reads as a record, or a blank
line that ends a group for robots of the 1990s. A file stays unchanged if it is in UTF-16, contains a NUL or a line that
may be longer than Google reads, has 200,000 lines or more, or begins with a part of a byte order mark (which Google
skips): in such files a single space can change what robots read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from goodbot.check.source_lines import FIELDS, MAX_LINES, SourceLine, read_lines
from goodbot.exclusion.robotstxt.lines import GOOGLE_LINE_BYTES, read_as_google
from goodbot.exclusion.verdict import RULE_FIELDS

_MARK = b"\xef\xbb\xbf"
_PART_OF_MARK = re.compile(rb"\xef(?![\x80-\xbf]{2})")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_MAX_LINE_CHARS = GOOGLE_LINE_BYTES // 4
"""Google reads a line of so many characters completely, because a character has at most four bytes."""


@dataclass(frozen=True, slots=True)
class _LayoutPart:
    """A line of the new file: `text` as it is written, and `key`, its field and value; None if it is not a record."""

    text: str
    field: str = ""
    key: tuple[str, str] | None = None

    @property
    def is_blank(self) -> bool:
        return not self.text


def tidy(body: bytes) -> bytes:
    """Formats a file with one space after each colon, fields in their usual spelling, LF line endings, and blank lines
    only between groups. Comments stay. Tidying the result again changes nothing. Linear; never raises."""
    lines = _lines_to_format(body)
    return body if lines is None else _bytes(_separated(_without_edges(_tidied(line) for line in lines)))


def compact(body: bytes) -> bytes:
    """Formats a file without comments, needless spaces, lines that no robot reads and repeated rules; adjacent groups
    with the same rules become one. Linear; never raises."""
    lines = _lines_to_format(body)
    if lines is None:
        return body
    google_lines = read_by_google(body)
    parts = _without_edges(part for line in lines if (part := _compacted(line, google_lines)) is not None)
    return min(_bytes(_with_shared_groups(_without_repeated_rules(_without_needless_blanks(parts)))), body, key=len)


def read_by_google(body: bytes) -> frozenset[int]:
    """Returns the numbers of the lines in which the dialect `google`, which needs no colon, finds a known field."""
    return frozenset(number for number, field, _ in read_as_google(body) if field in FIELDS)


def why_unchanged(body: bytes) -> str | None:
    """Says why a file cannot be formatted without risk to its verdicts; None if it can. Linear; never raises."""
    return _unsafe_bytes(body) or _too_large(read_lines(body))


def _unsafe_bytes(body: bytes) -> str | None:
    if body.startswith(_WIDE):
        return "it is in UTF-16"
    if b"\0" in body:
        return "it contains a NUL character"
    if _PART_OF_MARK.match(body):
        return "it begins with a part of a byte order mark"
    return None


def _too_large(lines: Sequence[SourceLine]) -> str | None:
    if len(lines) == MAX_LINES:
        return f"it has {MAX_LINES:,} lines or more"
    long = next((line.number for line in lines if len(line.text) > _MAX_LINE_CHARS), None)
    return None if long is None else f"line {long} is longer than {_MAX_LINE_CHARS:,} characters"


def _lines_to_format(body: bytes) -> tuple[SourceLine, ...] | None:
    """Returns the lines; None if the file cannot be formatted without risk to its verdicts."""
    if _unsafe_bytes(body):
        return None
    lines = read_lines(body)
    return None if _too_large(lines) else lines


def _bytes(parts: Iterable[_LayoutPart]) -> bytes:
    """Encodes the lines, with a byte order mark only if the text begins with one, or (to Google) with a part of one."""
    text = "\n".join(part.text for part in parts).encode("utf-8", "replace")
    return (_MARK if text.startswith(_MARK[:1]) else b"") + text + (b"\n" if text else b"")


# ---- tidy -----------------------------------------------------------------------------------------------------------


def _tidied(line: SourceLine) -> _LayoutPart:
    """Formats a line without outer spaces: a record in its usual spelling, then its comment."""
    if not line.is_record:
        return _LayoutPart(line.text.strip(" \t"), key=None)
    name = FIELDS.get(line.field, line.text[line.field_at : line.colon_at].rstrip(" \t"))
    comment = "" if line.comment_at < 0 else line.text[line.comment_at :].rstrip(" \t")
    gap = "" if not comment else "" if line.value and line.value_end == line.comment_at else " "
    text = f"{name}: {line.value}".rstrip(" ") + gap + comment
    return _LayoutPart(text, line.field, (line.field, line.value))


def _without_edges(parts: Iterable[_LayoutPart]) -> Iterator[_LayoutPart]:
    """Drops blank lines at the beginning and the end, and keeps one of several in a row."""
    blank: _LayoutPart | None = None
    begun = False
    for part in parts:
        if part.is_blank:
            blank = part if begun else None
            continue
        if blank is not None:
            yield blank
            blank = None
        begun = True
        yield part


def _separated(parts: Iterable[_LayoutPart]) -> Iterator[_LayoutPart]:
    """Adds a blank line before a group that follows a Disallow line, because there the group before it ends in every
    dialect. The blank line comes before the comments above the group."""
    comments: list[_LayoutPart] = []
    ended = False
    for part in parts:
        if ended and part.text.startswith("#"):
            comments.append(part)
            continue
        if ended and part.field == "user-agent":
            yield _LayoutPart("")
        yield from comments
        comments.clear()
        ended = part.field == "disallow" or (ended and part.field in RULE_FIELDS)
        yield part
    yield from comments


# ---- compact --------------------------------------------------------------------------------------------------------


def _compacted(line: SourceLine, google_lines: frozenset[int]) -> _LayoutPart | None:
    if line.is_blank:
        return _LayoutPart("")
    text = line.text if line.comment_at < 0 else line.text[: line.comment_at]
    if line.is_record:
        name = line.text[line.field_at : line.colon_at].rstrip(" \t")
        return _LayoutPart(f"{name}:{line.value}", line.field, (line.field, line.value))
    return _LayoutPart(text.strip(" \t")) if line.number in google_lines else None


def _without_needless_blanks(parts: Iterable[_LayoutPart]) -> Iterator[_LayoutPart]:
    """Drops blank lines between a Disallow line and the next group: the group before it ends there anyway."""
    blank: _LayoutPart | None = None
    ruled = False
    for part in parts:
        if part.is_blank:
            blank = part
            continue
        if blank is not None and not (ruled and part.field == "user-agent"):
            yield blank
        if blank is not None or part.field == "user-agent":
            ruled = False
        blank = None
        ruled = ruled or part.field == "disallow"
        yield part


def _without_repeated_rules(parts: Iterable[_LayoutPart]) -> Iterator[_LayoutPart]:
    """Drops rules that the same unbroken run of rules already has."""
    seen: set[tuple[str, str] | None] = set()
    for part in parts:
        if part.is_blank or part.field not in RULE_FIELDS:
            if part.field != "crawl-delay":
                seen.clear()
            yield part
        elif part.key not in seen:
            seen.add(part.key)
            yield part


@dataclass(frozen=True, slots=True)
class _Block:
    """User-agent lines and the unbroken run of lines below them."""

    names: tuple[_LayoutPart, ...]
    rest: tuple[_LayoutPart, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every dialect reads it as a group for named robots."""
        named = all(part.key is not None and part.key[1] not in ("", "*") for part in self.names)
        return bool(self.names) and named and any(part.field == "disallow" for part in self.rest)

    def shares_rules_with(self, other: "_Block") -> bool:
        """Returns whether the next block has the same rules, so that both can share them."""
        keys = [part.key for part in self.rest]
        return self.is_whole and other.is_whole and keys == [part.key for part in other.rest] and None not in keys


def _with_shared_groups(parts: Iterable[_LayoutPart]) -> Iterator[_LayoutPart]:
    last: _Block | None = None
    for block in _blocks(parts):
        if last is not None and not last.shares_rules_with(block):
            yield from last.rest
        yield from block.names
        last = block
    if last is not None:
        yield from last.rest


def _blocks(parts: Iterable[_LayoutPart]) -> Iterator[_Block]:
    names: list[_LayoutPart] = []
    rest: list[_LayoutPart] = []
    for part in parts:
        if part.field == "user-agent" and rest:
            yield _Block(tuple(names), tuple(rest))
            names, rest = [], []
        (names if part.field == "user-agent" else rest).append(part)
    yield _Block(tuple(names), tuple(rest))
