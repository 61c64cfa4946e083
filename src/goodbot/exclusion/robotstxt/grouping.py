"""Gathers the records of a robots.txt into groups, each with the names of the robots that it applies to."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from goodbot.exclusion.robotstxt.lines import BLANK_LINE
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record

Grouping = Callable[[bytes | str], tuple[Group, ...]]
"""Returns the groups of a robots.txt, in the order of the file."""

Read = Callable[[bytes | str], Iterable[Record]]


def in_groups(read: Read, rule_fields: frozenset[str]) -> Grouping:
    """Groups records as RFC 9309 §2.1 says: only a User-agent line after a rule begins a new group; a rule before the
    first group applies to no robot. `rule_fields` are the fields of rules. Sitemap records belong to no group."""

    def grouping(body: bytes | str) -> Iterator[Group]:
        agents, numbers, records = list[str](), list[int](), list[Record]()
        ruled = False
        for record in read(body):
            field = record[1]
            if field == "user-agent":
                if ruled:
                    yield _group(agents, numbers, records, rule_fields)
                    agents, numbers, records, ruled = [], [], [], False
                agents.append(record[2])
                numbers.append(record[0])
            elif agents and field != "sitemap":
                records.append(record)
                ruled = ruled or field in rule_fields
        if agents:
            yield _group(agents, numbers, records, rule_fields)

    return lambda body: tuple(grouping(body))


def in_records(read: Read, is_rule_line: Callable[[str], bool]) -> Grouping:
    """Groups records as in the 1990s: User-agent lines, then at least one rule line, up to a blank line or the end.

    A User-agent line after a rule line begins a group too, since files were published without their blank lines. Other
    lines apply to no robot. `is_rule_line` says whether lines with a field are rule lines.
    """

    def grouping(body: bytes | str) -> Iterator[Group]:
        agents, numbers, records = list[str](), list[int](), list[Record]()
        ruled = False
        for record in chain(read(body), [(0, BLANK_LINE, "")]):
            number, field, value = record
            if field == BLANK_LINE or (ruled and field == "user-agent"):
                if ruled:
                    yield _group(agents, numbers, records, RULE_FIELDS)
                agents, numbers, records, ruled = [], [], [], False
            if field == "user-agent":
                agents.append(value)
                numbers.append(number)
            elif agents and field != BLANK_LINE:
                records.append(record)
                ruled = ruled or is_rule_line(field)

    return lambda body: tuple(grouping(body))


class ReadLines:
    """Lines that have been read already. It does not look for usual rules."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.kept = tuple(records)

    def records(self) -> tuple[Record, ...]:
        """See `Lines`."""
        return self.kept

    others = records

    def usual(self, beginning: str) -> list[Record]:
        """See `Lines`."""
        return []


def _group(agents: list[str], numbers: list[int], records: list[Record], rule_fields: frozenset[str]) -> Group:
    return Group(tuple(agents), tuple(numbers), ReadLines(records), rule_fields)
