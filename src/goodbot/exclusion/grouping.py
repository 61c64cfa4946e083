"""records → groups: whose lines these are."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from goodbot.exclusion.lines import BLANK_LINE
from goodbot.exclusion.records import OUTSIDE_GROUPS
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record


class Grouped(NamedTuple):
    """The groups in the order of the file, and the values of its Sitemap records, which belong to no group."""

    groups: tuple[Group, ...]
    sitemaps: list[str]


Grouping = Callable[[Iterable[Record]], Grouped]


class _Growing:
    """The group under way: names, the runs they stand in, and the lines under them."""

    __slots__ = ("_parted", "_rule_fields", "agents", "lines", "ruled", "runs")

    def __init__(self, rule_fields: frozenset[str]) -> None:
        self._rule_fields = rule_fields
        self._parted = True
        self.agents: list[str] = []
        self.runs: list[int] = []
        self.lines: list[Record] = []
        self.ruled = False
        """Whether a rule was seen, so that the next User-agent line begins another group."""

    def name(self, number: int, value: str) -> None:
        self.runs.append(number if self._parted else self.runs[-1])
        self.agents.append(value)
        self._parted = False

    def part(self, field: str) -> None:
        """After a line that is no rule: it ends a run of User-agent lines, unless it is one of the whole file."""
        self._parted = self._parted or field not in _OF_THE_FILE

    def group(self) -> Group:
        return Group(self.runs[0], tuple(self.agents), tuple(self.runs), tuple(self.lines), self._rule_fields)


_OF_THE_FILE = OUTSIDE_GROUPS | {"sitemap"}


def in_groups(rule_fields: frozenset[str]) -> Grouping:
    """RFC 9309 §2.1: only a User-agent line after a rule begins a new group; a rule before the first group is
    nobody's."""

    def grouping(records: Iterable[Record]) -> Grouped:
        groups: list[Group] = []
        sitemaps: list[str] = []
        growing = _Growing(rule_fields)
        agents, lines = growing.agents, growing.lines
        for record in records:
            field = record[1]
            if field in rule_fields:
                if agents:
                    lines.append(record)
                    growing.ruled = True
            elif field == "user-agent":
                if growing.ruled:
                    groups.append(growing.group())
                    growing = _Growing(rule_fields)
                    agents, lines = growing.agents, growing.lines
                growing.name(record[0], record[2])
            elif field == "sitemap":
                sitemaps.append(record[2])
            elif agents:
                lines.append(record)
                growing.part(field)
        if agents:
            groups.append(growing.group())
        return Grouped(tuple(groups), [sitemap for sitemap in sitemaps if sitemap])

    return grouping


def in_records(is_rule_line: Callable[[str], bool]) -> Grouping:
    """The records of the 1990s: User-agent lines, then at least one rule line, up to a blank line or the end.

    A User-agent line after a rule line opens a record too, since files were printed without blank lines. What is
    no such record is nobody's. `is_rule_line` says of which fields rule lines are.
    """

    def grouping(records: Iterable[Record]) -> Grouped:
        groups: list[Group] = []
        sitemaps: list[str] = []
        growing = _Growing(RULE_FIELDS)
        for record in chain(records, [(0, BLANK_LINE, "")]):
            number, field, value = record
            if field == BLANK_LINE or (growing.ruled and field == "user-agent"):
                if growing.ruled:
                    groups.append(growing.group())
                growing = _Growing(RULE_FIELDS)
            if field == "user-agent":
                growing.name(number, value)
            elif growing.agents and field != BLANK_LINE:
                growing.lines.append(record)
                growing.part(field)
                growing.ruled = growing.ruled or is_rule_line(field)
            if field == "sitemap" and value:
                sitemaps.append(value)
        return Grouped(tuple(groups), sitemaps)

    return grouping
