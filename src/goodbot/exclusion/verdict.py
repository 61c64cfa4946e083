"""Values that all of `goodbot.exclusion` uses: records, rules, groups, verdicts. URLs are text."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Record = tuple[int, str, str]
"""One line of a robots.txt that holds a record: its number (from 1), the field in lower case, and the value without
comment and surrounding spaces."""

RULE_FIELDS = frozenset({"allow", "disallow"})

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


class Group(NamedTuple):
    """User-agent lines and the records below them. `agents` are the values of the User-agent lines, as written.

    `records` are the rules and other records below them, in order. Records whose field is in `rule_fields` apply to all
    `agents`; any other record applies only to the run of User-agent lines directly above it: `runs` gives, for each of
    the `agents`, the line on which its run begins. In the dialects of the 1990s a group is called a record.
    """

    agents: tuple[str, ...]
    runs: tuple[int, ...]
    records: tuple[Record, ...]
    rule_fields: frozenset[str] = RULE_FIELDS

    @property
    def line(self) -> int:
        """The number of the first User-agent line."""
        return self.runs[0]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The Allow and Disallow lines, except those with an empty pattern, which are no rules."""
        return tuple(
            Rule(field == "allow", value, line) for line, field, value in self.records if value and field in RULE_FIELDS
        )

    def records_for(self, names_robot: Callable[[str], bool]) -> Iterator[Record]:
        """Yields the records that apply to a robot. `names_robot` says whether a User-agent value names the robot."""
        if self.runs[0] == self.runs[-1]:
            yield from self.records
            return
        named = {run for agent, run in zip(self.agents, self.runs, strict=True) if names_robot(agent)}
        for run, record in self.records_by_run():
            if run in named or record[1] in self.rule_fields:
                yield record

    def records_by_run(self) -> Iterator[tuple[int, Record]]:
        """Yields each record with the run of User-agent lines directly above it."""
        place = 0
        for record in self.records:
            while place + 1 < len(self.runs) and self.runs[place + 1] <= record[0]:
                place += 1
            yield self.runs[place], record
