"""Gathers the records of a robots.txt into groups, each with the names of the robots that it applies to."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from goodbot.exclusion.robotstxt.lines import BLANK_LINE
from goodbot.exclusion.robotstxt.records import OUTSIDE_GROUPS
from goodbot.exclusion.verdict import Group, Record


class Grouped(NamedTuple):
    """The groups in the order of the file, and the values of its Sitemap records, which belong to no group."""

    groups: tuple[Group, ...]
    sitemaps: list[str]


Grouping = Callable[[Iterable[Record]], Grouped]


def in_groups(rule_fields: frozenset[str]) -> Grouping:
    """Groups records as RFC 9309 §2.1 says: only a User-agent line after a rule begins a new group; a rule before the
    first group applies to no robot. `rule_fields` are the fields of rules."""

    def grouping(records: Iterable[Record]) -> Grouped:
        groups: list[Group] = []
        sitemaps: list[str] = []
        agents, runs, lines = list[str](), list[int](), list[Record]()
        ruled, run = False, 0  # the line where the current run of User-agent lines begins; 0: none is open
        for record in records:
            field = record[1]
            if field in rule_fields:
                if agents:
                    lines.append(record)
                    ruled = True
            elif field == "user-agent":
                if ruled:
                    groups.append(Group(tuple(agents), tuple(runs), tuple(lines), rule_fields))
                    agents, runs, lines, ruled, run = [], [], [], False, 0
                run = run or record[0]
                agents.append(record[2])
                runs.append(run)
            elif field == "sitemap":
                sitemaps.append(record[2])
            elif agents:
                lines.append(record)
                run = run if field in OUTSIDE_GROUPS else 0
        if agents:
            groups.append(Group(tuple(agents), tuple(runs), tuple(lines), rule_fields))
        return Grouped(tuple(groups), [sitemap for sitemap in sitemaps if sitemap])

    return grouping


def in_records(is_rule_line: Callable[[str], bool]) -> Grouping:
    """Groups records as in the 1990s: User-agent lines, then at least one rule line, up to a blank line or the end.

    A User-agent line after a rule line begins a group too, since files were published without their blank lines. Other
    lines apply to no robot. `is_rule_line` says whether lines with a field are rule lines.
    """

    def grouping(records: Iterable[Record]) -> Grouped:
        groups: list[Group] = []
        sitemaps: list[str] = []
        agents, runs, lines = list[str](), list[int](), list[Record]()
        ruled, run = False, 0
        for record in chain(records, [(0, BLANK_LINE, "")]):
            number, field, value = record
            if field == BLANK_LINE or (ruled and field == "user-agent"):
                if ruled:
                    groups.append(Group(tuple(agents), tuple(runs), tuple(lines)))
                agents, runs, lines, ruled, run = [], [], [], False, 0
            if field == "user-agent":
                run = run or number
                agents.append(value)
                runs.append(run)
            elif agents and field != BLANK_LINE:
                lines.append(record)
                run = run if field in OUTSIDE_GROUPS or field == "sitemap" else 0
                ruled = ruled or is_rule_line(field)
            if field == "sitemap" and value:
                sitemaps.append(value)
        return Grouped(tuple(groups), sitemaps)

    return grouping
