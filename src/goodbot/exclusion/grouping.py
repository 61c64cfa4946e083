"""records → groups: whose lines these are."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from goodbot.exclusion.lines import BLANK_LINE
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record


class Grouped(NamedTuple):
    """The groups in the order of the file, and the values of its Sitemap records, which belong to no group."""

    groups: tuple[Group, ...]
    sitemaps: list[str]


Grouping = Callable[[Iterable[Record]], Grouped]


def in_groups(records: Iterable[Record]) -> Grouped:
    """RFC 9309 §2.1: only a User-agent line after a rule begins a new group; a rule before the first group is
    nobody's."""
    groups: list[Group] = []
    sitemaps: list[str] = []
    first_line, agents, lines = 0, list[str](), list[Record]()
    ruled = False
    for record in records:
        field = record[1]
        if field in RULE_FIELDS:
            if agents:
                lines.append(record)
                ruled = True
        elif field == "user-agent":
            if ruled:
                groups.append(Group(first_line, tuple(agents), tuple(lines)))
                agents, lines, ruled = [], [], False
            if not agents:
                first_line = record[0]
            agents.append(record[2])
        elif field == "sitemap":
            sitemaps.append(record[2])
        elif agents:
            lines.append(record)
    if agents:
        groups.append(Group(first_line, tuple(agents), tuple(lines)))
    return Grouped(tuple(groups), [sitemap for sitemap in sitemaps if sitemap])


def in_records(is_rule_line: Callable[[str], bool]) -> Grouping:
    """The records of the 1990s: User-agent lines, then at least one rule line, up to a blank line or the end.

    A User-agent line after a rule line opens a record too, since files were printed without blank lines. What is
    no such record is nobody's. `is_rule_line` says of which fields rule lines are.
    """

    def grouping(records: Iterable[Record]) -> Grouped:
        groups: list[Group] = []
        sitemaps: list[str] = []
        first_line, agents, lines = 0, list[str](), list[Record]()
        ruled = False
        for record in chain(records, [(0, BLANK_LINE, "")]):
            number, field, value = record
            if field == BLANK_LINE or (ruled and field == "user-agent"):
                if ruled:
                    groups.append(Group(first_line, tuple(agents), tuple(lines)))
                agents, lines, ruled = [], [], False
            if field == "user-agent":
                first_line = first_line if agents else number
                agents.append(value)
            elif agents and field != BLANK_LINE:
                lines.append(record)
                ruled = ruled or is_rule_line(field)
            if field == "sitemap" and value:
                sitemaps.append(value)
        return Grouped(tuple(groups), sitemaps)

    return grouping
