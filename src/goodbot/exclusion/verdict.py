"""The values of this room. `exclusion` takes URLs as text and needs the standard library only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Record = tuple[int, str, str]
"""One line of a robots.txt that holds a record: line (from 1), field in lower case, value without comment and
outer blanks."""

RULE_FIELDS = frozenset({"allow", "disallow"})

LOST_MOST: Final = 10
"""How many of the rules that lost a verdict names."""

AccessResult = Literal["successful", "unavailable", "unreachable"]
"""RFC 9309 §2.3.1: what fetching robots.txt came to."""


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
    `reason` is one sentence for people, `section` the text it rests on (`"RFC 9309 2.2.2"`; docs/conformance.md lists
    them). `delay_s` is the Crawl-delay asked of this robot. `valid_until` (Unix seconds) is when the robots.txt is due
    again; None if nothing was fetched. `group_line` and `group_agents` are the first line and the names of the group
    the verdict is from (of several the one of the deciding rule, else the first), None and empty if no group applies to
    the robot. `lost` are the rules that match the URL as well but do not count, the next best first, at most
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


class Group(NamedTuple):
    """User-agent lines and what stands under them. `agents` are their values as written.

    `records` are the lines under them, the rules and the others, in order. Lines of the `rule_fields` count for every
    robot named, any other line for the User-agent lines directly above it: `runs` gives for each of the `agents` the
    line on which such a run of User-agent lines begins. In the dialects of the 1990s a group is called a record.
    """

    agents: tuple[str, ...]
    runs: tuple[int, ...]
    records: tuple[Record, ...]
    rule_fields: frozenset[str] = RULE_FIELDS

    @property
    def line(self) -> int:
        """The line of the first User-agent line."""
        return self.runs[0]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Allow and Disallow lines; one with an empty pattern is no rule."""
        return tuple(
            Rule(field == "allow", value, line) for line, field, value in self.records if value and field in RULE_FIELDS
        )

    def records_for(self, names_robot: Callable[[str], bool]) -> Iterator[Record]:
        """The records that count for a robot. `names_robot` says whether the value of a User-agent line names it."""
        if self.runs[0] == self.runs[-1]:
            yield from self.records
            return
        named = {run for agent, run in zip(self.agents, self.runs, strict=True) if names_robot(agent)}
        for run, record in self.records_by_run():
            if run in named or record[1] in self.rule_fields:
                yield record

    def records_by_run(self) -> Iterator[tuple[int, Record]]:
        """Each record, and the run of User-agent lines directly above it."""
        place = 0
        for record in self.records:
            while place + 1 < len(self.runs) and self.runs[place + 1] <= record[0]:
                place += 1
            yield self.runs[place], record
