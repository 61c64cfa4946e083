"""Finds the groups of a robots.txt by its User-agent lines, and reads the lines of a group when they are first needed.

A crawler needs only the one or two groups that apply to it. Finding all groups takes less than half the time of
reading all lines. Before its lines are read, a group takes about 0.5 kB of memory and 0.3 for each of its names,
however many lines it has.
"""

import re
from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.robotstxt.grouping import Grouping
from goodbot.exclusion.robotstxt.lines import decode_utf8, records_of, utf8_lines
from goodbot.exclusion.verdict import BEGINNING_CHARS, FILE_FIELDS, Group, Record

_NOT_IN_GROUPS: Final = frozenset({"user-agent", "sitemap"})
_SPACES: Final = b" \t"
_LINE_END: Final = ord("\n")
_LINES_WITH: Final = {
    field: re.compile(re.escape(field.encode()) + rb"[ \t]*:([^\n#]*)") for field in ("user-agent", *FILE_FIELDS)
}
"""Each expression matches a field and its value in lower-cased text. It begins with a literal, for which `re` searches
several times faster than for spaces at the beginning of a line."""

_BEGINNING: Final = rf"/[A-Za-z0-9_.\-/]{{{BEGINNING_CHARS - 1}}}"
_USUAL_BEGINNING: Final = re.compile(_BEGINNING)
_USUAL_RULE: Final = re.compile(rf"\n(?:[Dd]isa|[Aa])llow: ?{_BEGINNING}[^\n]*".encode())
_BEFORE_USUAL: Final = {
    f"{written}:{space}".encode(): written.lower()
    for written in ("Allow", "allow", "Disallow", "disallow")
    for space in ("", " ")
}
"""Maps the text before the path of a usual rule to the field of the rule."""


def in_sections(rule_fields: frozenset[str]) -> Grouping:
    """Returns a function that makes the same groups as `in_groups` makes of the records of `read_records`."""
    names = b"|".join(sorted(field.encode() for field in rule_fields))
    rule_line = re.compile(rb"\n[ \t]*(?:" + names + rb")[ \t]*:")

    def sections(body: bytes | str) -> Iterator[Group]:
        text = utf8_lines(body)
        lowered = text.lower()
        agents: list[str] = []
        numbers: list[int] = []
        start = past = 0
        number = 1
        for begin, end, agent in _lines_with("user-agent", text, lowered):
            number += text.count(b"\n", past, begin)
            if not agents:
                start = begin
            elif begin > past + 1 and rule_line.search(lowered, past, begin):
                yield Group(tuple(agents), tuple(numbers), _Part(text, start, begin, numbers[0]), rule_fields)
                agents, numbers, start = [], [], begin
            agents.append(agent)
            numbers.append(number)
            past = end
        if agents:
            yield Group(tuple(agents), tuple(numbers), _Part(text, start, len(text), numbers[0]), rule_fields)

    return lambda body: tuple(sections(body))


def values_in_lines(body: bytes | str, field: str) -> list[str]:
    """Returns the values of a field of the whole file (one of `FILE_FIELDS`), in order; empty values are left out."""
    text = utf8_lines(body)
    return [value for _, _, value in _lines_with(field, text, text.lower()) if value]


def _lines_with(field: str, text: bytes, lowered: bytes) -> Iterator[tuple[int, int, str]]:
    """Yields three things for each line with this field: where the line begins, where its value ends, and the value.
    Takes linear time."""
    past = 0
    for found in _LINES_WITH[field].finditer(lowered):
        begin = start = found.start()
        value_start, end = found.span(1)
        if start and text[start - 1] != _LINE_END:
            begin = text.rfind(b"\n", past, start) + 1
            is_first_in_line = (begin or not past) and not text[begin:start].strip(_SPACES)
            past = end
            if not is_first_in_line:
                continue
        past = end
        yield begin, end, decode_utf8(text[value_start:end]).strip(" \t")


class _Part:
    """The lines of one group: a part of the text, whose first line is a User-agent line with the number `first`."""

    __slots__ = ("_end", "_first", "_start", "_text")

    kept: tuple[Record, ...] = ()

    def __init__(self, text: bytes, start: int, end: int, first: int) -> None:
        self._text, self._start, self._end, self._first = text, start, end, first

    def records(self) -> tuple[Record, ...]:
        """See `Lines`."""
        return self._read(self._text[self._start : self._end])

    def others(self) -> tuple[Record, ...]:
        """See `Lines`. Takes two thirds of the time to read all records of a file of 60 lines."""
        return self._read(_USUAL_RULE.sub(b"\n", self._text[self._start : self._end]))

    def usual(self, beginning: str) -> list[Record]:
        """See `Lines`. Searches for the literal text: linear."""
        found: list[Record] = []
        if not _USUAL_BEGINNING.fullmatch(beginning):
            return found
        text, end, wanted = self._text, self._end, beginning.encode()
        number, past = self._first, self._start
        while (at := text.find(wanted, past, end)) >= 0:
            begin = text.rfind(b"\n", past, at) + 1 or past
            number += text.count(b"\n", past, begin)
            past = text.find(b"\n", at, end)
            if past < 0:
                past = end
            if field := _BEFORE_USUAL.get(text[begin:at]):
                found.append((number, field, decode_utf8(text[at:past]).partition("#")[0].strip(" \t")))
        return found

    def _read(self, part: bytes) -> tuple[Record, ...]:
        records = records_of(decode_utf8(part), self._first)
        return tuple([record for record in records if record[1] not in _NOT_IN_GROUPS])
