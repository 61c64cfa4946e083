"""Values that all of `goodbot.exclusion` uses: records, rules, groups, verdicts. URLs are text."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from sys import getsizeof
from typing import Final, Literal, Protocol

Record = tuple[int, str, str]
"""One line of a robots.txt that holds a record: its number (from 1), the field in lower case, and the value without
comment and surrounding spaces."""

_RECORD_BYTES: Final = 128
"""What a record takes besides its texts: tuple, number, place in a list."""

RULE_FIELDS = frozenset({"allow", "disallow"})

FILE_FIELDS: Final = frozenset({"sitemap", "license", "host", "clean-param"})
"""Fields of records about the whole file: they mean the same wherever they are."""

BEGINNING_CHARS: Final = 8
"""How many characters of a usual rule are compared with a target (`Lines.usual`). In 1,000 real files, 7 rules a file
begin like a URL with 8 characters, 37 with 4 to 6; with more than 8, more rules are too short."""

LOST_MOST: Final = 10
"""How many rules that also match, but do not decide, a verdict lists."""

AccessResult = Literal["successful", "unavailable", "unreachable"]
"""The result of fetching robots.txt (RFC 9309 §2.3.1)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line. `pattern` is the path pattern as written; `line` counts from 1."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}".rstrip(" ")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a robot may fetch a URL, and why.

    `line` (from 1), `rule` (`"Disallow: /x"`) and `pattern` (`"/x"`) name the deciding rule, None if no rule decided.
    `reason` is one sentence for people. `section` names the text that it follows (`"RFC 9309 2.2.2"`;
    docs/conformance.md lists them). `delay_s` is the Crawl-delay for this robot. `valid_until` (Unix seconds) is when
    robots.txt must be fetched again; None if nothing was fetched. `group_line` and `group_agents` are the first line
    and the names of the group with the deciding rule, or, without one, of the first group that applies to the robot;
    None and empty if no group applies. `lost` lists the other rules that match the URL, the next best first, at most
    `LOST_MOST`.
    """

    allowed: bool
    line: int | None
    rule: str | None
    reason: str
    section: str
    access: AccessResult = "successful"
    delay_s: float | None = None
    valid_until: float | None = None
    url: str = ""
    agent: str = ""
    dialect: str = "rfc9309"
    pattern: str | None = None
    group_line: int | None = None
    group_agents: tuple[str, ...] = ()
    lost: tuple[Rule, ...] = ()


class Lines(Protocol):
    """The lines of a group, read when they are needed. Some rules are *usual*: their first `BEGINNING_CHARS`
    characters match only themselves, so a search finds them."""

    kept: tuple[Record, ...]
    """The records that are in memory from the beginning."""

    def records(self) -> tuple[Record, ...]:
        """Reads all records, in order."""

    def others(self) -> tuple[Record, ...]:
        """Reads all records except usual rules, in order."""

    def usual(self, beginning: str) -> list[Record]:
        """Reads the usual rules that begin with these `BEGINNING_CHARS` characters, in order."""


class Group:
    """User-agent lines and the records below them. `agents` are the values of the User-agent lines, as written; `lines`
    are the line numbers.

    Records whose field is in `rule_fields` apply to all `agents`; any other record applies only to the run of
    User-agent lines directly above it. In the dialects of the 1990s a group is called a record.
    """

    __slots__ = ("_lines", "_others", "_records", "agents", "lines", "rule_fields")

    def __init__(
        self,
        agents: tuple[str, ...],
        lines: tuple[int, ...],
        read: Lines,
        rule_fields: frozenset[str] = RULE_FIELDS,
    ) -> None:
        """`read` reads the lines below the User-agent lines, as far as they are needed."""
        self.agents = agents
        self.lines = lines
        self.rule_fields = rule_fields
        self._lines = read
        self._records: tuple[Record, ...] | None = None
        self._others: tuple[Record, ...] | None = None

    def __repr__(self) -> str:
        return f"Group(agents={self.agents!r}, lines={self.lines!r}, records={self.records!r})"

    @property
    def records(self) -> tuple[Record, ...]:
        """The rules and other records below the User-agent lines, in order."""
        records = self._records
        if records is None:
            records = self._records = self._lines.records()
            self._others = None
        return records

    @property
    def other_records(self) -> tuple[Record, ...]:
        """The records that are not rules, and perhaps some rules, in order. Reads fewer lines than `records`."""
        if self._records is not None:
            return self._records
        others = self._others
        if others is None:
            others = self._others = self._lines.others()
        return others

    def records_near(self, target: str) -> Iterable[Record]:
        """Returns the records in order; may leave out rules whose pattern begins unlike the target. The target has at
        least `BEGINNING_CHARS` characters."""
        if self._records is not None:
            return self._records
        usual = self._lines.usual(target[:BEGINNING_CHARS])
        return sorted([*self.other_records, *usual]) if usual else self.other_records

    @property
    def held_bytes(self) -> int:
        """The memory of the records that have been read. Linear in their number."""
        records = self._records or self._others or self._lines.kept
        return sum([_RECORD_BYTES + getsizeof(field) + getsizeof(value) for _, field, value in records])

    @property
    def line(self) -> int:
        """The number of the first User-agent line."""
        return self.lines[0]

    @property
    def runs(self) -> tuple[int, ...]:
        """For each of the `agents`, the line on which its run begins. A record about the whole file does not end a
        run."""
        above = takewhile(lambda record: record[0] < self.lines[-1], self.other_records)
        ends = iter([number for number, field, _ in above if field not in FILE_FIELDS])
        end, runs = next(ends, 0), list[int]()
        for line in self.lines:
            begins = not runs or 0 < end < line
            while 0 < end < line:
                end = next(ends, 0)
            runs.append(line if begins else runs[-1])
        return tuple(runs)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The Allow and Disallow lines, except those with an empty pattern, which are no rules."""
        return tuple(
            Rule(field == "allow", value, line) for line, field, value in self.records if value and field in RULE_FIELDS
        )

    def records_for(self, names_robot: Callable[[str], bool], *, others: bool = False) -> Iterator[Record]:
        """Yields the records that apply to a robot; with `others`, those of `other_records`. `names_robot` says whether
        a User-agent value names the robot."""
        records = self.other_records if others else self.records
        runs = self.runs if len(self.agents) > 1 else self.lines
        if runs[0] == runs[-1]:
            yield from records
            return
        named = {run for agent, run in zip(self.agents, runs, strict=True) if names_robot(agent)}
        for run, record in self._by_run(records):
            if run in named or record[1] in self.rule_fields:
                yield record

    def records_by_run(self) -> Iterator[tuple[int, Record]]:
        """Yields each record with the run of User-agent lines directly above it."""
        return self._by_run(self.records)

    def _by_run(self, records: Iterable[Record]) -> Iterator[tuple[int, Record]]:
        place, runs = 0, self.runs
        for record in records:
            while place + 1 < len(runs) and runs[place + 1] <= record[0]:
                place += 1
            yield runs[place], record
