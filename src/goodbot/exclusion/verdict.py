"""The values of this room. `exclusion` takes URLs as text and needs the standard library only."""

from dataclasses import dataclass
from typing import Literal

Record = tuple[int, str, str]
"""One line of a robots.txt that holds a record: line (from 1), field in lower case, value without comment and
outer blanks."""

RULE_FIELDS = frozenset({"allow", "disallow"})

AccessResult = Literal["successful", "unavailable", "unreachable"]
"""RFC 9309 §2.3.1: what fetching robots.txt came to."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a robot may fetch a URL, and why.

    `line` (from 1) and `rule` (`"Disallow: /x"`) name the deciding rule, None if no rule decided. `reason` is one
    sentence for people, `section` the text it rests on (`"RFC 9309 2.2.2"`). `delay_s` is the Crawl-delay asked of this
    robot. `valid_until` (Unix seconds) is when the robots.txt is due again; None if nothing was fetched.
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


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line. `pattern` is the path pattern as written; `line` counts from 1."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}"


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and what stands under them. `agents` are their values as written, `line` is the first
    one's line.

    `records` are the lines under them, the rules and the others, in order.
    """

    line: int
    agents: tuple[str, ...]
    records: tuple[Record, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Allow and Disallow lines; one with an empty pattern is no rule."""
        return tuple(
            Rule(field == "allow", value, line) for line, field, value in self.records if value and field in RULE_FIELDS
        )
