"""The matcher of one robot: finds the rule that decides about a URL among all rules in its groups, and says why.

Two evaluators answer the same question, since each is several times slower at the other's work: `RuleScan` answers the
first questions to a file without compiling it, `Compiled` answers all later ones.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Protocol

from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.fast_matching import quick_answer
from goodbot.exclusion.robotstxt.first_matching import (
    MAX_EQUAL_RULES,
    RankedRule,
    RuleOfGroup,
    first_of_equals,
    rules_near_any,
)
from goodbot.exclusion.robotstxt.group_choice import ALL, Choice
from goodbot.exclusion.robotstxt.timing import asked_delay_s
from goodbot.exclusion.text.octets import Compared
from goodbot.exclusion.text.patterns import RuleTable
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import LOST_MOST, AccessResult, Group, Record, Rule, Verdict

_RULE_BYTES = 600
_PIECE_BYTES = 80
"""Measured with tracemalloc: 400 to 760 bytes for a rule, up to 70 more for each piece between two `*`."""


class Evaluator(Protocol):
    """Answers questions about the rules of some groups, taken together."""

    @property
    def allows(self) -> Callable[[str], bool]:
        """Whether a robot to which these groups apply may fetch a URL."""

    @property
    def unmatched(self) -> bool:
        """Whether a URL that no rule matches is allowed."""

    def matching(self, target: Compared) -> Iterable[RankedRule]:
        """The rules that match, the one that counts most first; of equal ones the first in the file."""


class Compiled:
    """The rules of some groups, prepared for many questions. `weight_bytes` estimates the memory they take, rather too
    high than too low."""

    __slots__ = ("_ranked", "_table", "allows", "unmatched", "weight_bytes")

    allows: Callable[[str], bool]
    unmatched: bool

    def __init__(self, groups: Sequence[Group], rules: Iterable[RuleOfGroup], dialect: Dialect) -> None:
        self._ranked = _by_precedence(rules, dialect)
        self.unmatched = dialect.allows_unmatched(groups)
        shapes = [ranked.shape for ranked in self._ranked]
        allow = [*(ranked.allow for ranked in self._ranked), self.unmatched]
        table = self._table = RuleTable(shapes)

        def exact_answer(url: str) -> bool:
            target = dialect.target(url)
            return allow[table.best(target)] or dialect.is_itself(target)

        self.allows = quick_answer(shapes, table.plain, allow, exact_answer)
        pieces = sum(len(shape.plain.pieces) + len(shape.encoded.pieces) for shape in shapes)
        self.weight_bytes = _RULE_BYTES * len(shapes) + _PIECE_BYTES * pieces

    @classmethod
    def of(cls, groups: Sequence[Group], dialect: Dialect) -> "Compiled":
        """Compiles all rules of some groups; robots to which the same groups apply share the result."""
        rules = (
            (field == "allow", pattern, line, group)
            for group in groups
            for line, field, value in _rules(group, dialect)
            for pattern in dialect.paths(value)
        )
        return cls(groups, rules, dialect)

    @classmethod
    def near_any(cls, groups: Sequence[Group], dialect: Dialect, urls: Iterable[str]) -> "Compiled":
        """Compiles only the rules that may match one of these URLs; the result answers only for them."""
        return cls(groups, rules_near_any(groups, dialect, map(dialect.target, urls)), dialect)

    def matching(self, target: Compared) -> Iterator[RankedRule]:
        """The rules that match, the one that counts most first; of equal ones the first in the file."""
        return map(self._ranked.__getitem__, self._table.all(target))


class Matcher:
    """Answers for one robot by the rules of one robots.txt. `delay_s` is the Crawl-delay for the robot, or None."""

    __slots__ = ("_described", "_dialect", "_name", "_rules", "agent", "allows", "delay_s", "groups", "records")

    allows: Callable[[str], bool]
    """Whether the robot may fetch a URL: compares path and query, ignores a fragment."""

    records: Callable[[], Iterator[Record]]
    """The records of its groups that count for the robot, in order: all rules, and the other records directly below its
    own names."""

    def __init__(self, agent: str, choice: Choice, dialect: Dialect, rules: Evaluator) -> None:
        """`choice` is the groups that apply to `agent`, `rules` are their rules together."""
        self.agent = agent
        self.groups = choice.groups
        self.records = choice.records
        self.delay_s = asked_delay_s(choice.other_records()) if dialect.reads_timing else None
        self.allows = rules.allows
        self._name = choice.name
        self._described = ""
        self._dialect = dialect
        self._rules = rules

    def verdict(self, url: str, access: AccessResult = "successful", valid_until: float | None = None) -> Verdict:
        """Answers as `allows` does, and says why. The verdict gets `access` and `valid_until` as they are."""
        fetched = access, valid_until
        sections = self._dialect.sections
        target = self._dialect.target(url)
        if self._dialect.is_itself(target):
            return self._verdict(url, fetched, "robots.txt itself is open to every robot.", sections.itself)
        if not self.groups:
            name = shown(_as_typed(self._dialect.robot(self.agent), self.agent)) or "a robot without a name"
            reason = f"No {self._dialect.groups_called} applies to {name}."
            return self._verdict(url, fetched, reason, sections.group)
        matching = list(islice(self._rules.matching(target), MAX_EQUAL_RULES))
        if not matching:
            unmatched = self._rules.unmatched
            closed = "" if unmatched else "; it has only Allow rules, so everything else is disallowed"
            reason = f"No rule matches in {self._of_groups()}{closed}."
            return self._verdict(url, fetched, reason, sections.rule, unmatched=unmatched)
        winner, *lost = dict.fromkeys(ranked.rule for ranked in matching)
        group = matching[0].group
        is_what = f"(line {winner.line}) is {self._dialect.winner(group)}"
        reason = f"{shown(str(winner))} {is_what} in {self._of_groups()}."
        return self._verdict(url, fetched, reason, sections.rule, winner, group, tuple(lost[:LOST_MOST]))

    def matching(self, url: str) -> tuple[Rule, ...]:
        """The rules that match, the deciding one first; with many equal rules not all of them. Cheaper than a
        verdict."""
        target = self._dialect.target(url)
        matching = () if self._dialect.is_itself(target) else self._rules.matching(target)
        return tuple(dict.fromkeys(ranked.rule for ranked in islice(matching, MAX_EQUAL_RULES)))

    def _verdict(
        self,
        url: str,
        fetched: tuple[AccessResult, float | None],
        reason: str,
        section: str,
        rule: Rule | None = None,
        group: Group | None = None,
        lost: tuple[Rule, ...] = (),
        *,
        unmatched: bool = True,
    ) -> Verdict:
        if group is None and self.groups:
            group = self.groups[0]
        return Verdict(
            allowed=rule.allow if rule else unmatched,
            line=rule.line if rule else None,
            rule=str(rule) if rule else None,
            reason=reason,
            section=section,
            access=fetched[0],
            delay_s=self.delay_s,
            valid_until=fetched[1],
            url=url,
            agent=self.agent,
            dialect=self._dialect.name,
            pattern=rule.pattern if rule else None,
            group_line=group.line if group else None,
            group_agents=group.agents if group else (),
            lost=lost,
        )

    def _of_groups(self) -> str:
        self._described = self._described or self._describe_groups()
        return self._described

    def _describe_groups(self) -> str:
        name = "all robots (*)" if self._name == ALL else shown(self._name)
        called, line = self._dialect.groups_called, self.groups[0].line
        if len(self.groups) == 1:
            return f"the {called} for {name} (line {line})"
        return f"the {len(self.groups)} {called}s for {name} (from line {line})"


def _by_precedence(rules: Iterable[RuleOfGroup], dialect: Dialect) -> list[RankedRule]:
    """Sorts the rules: the one that counts most comes first; of equal ones the first in the file."""
    ranked = [
        RankedRule(shape, allow, pattern, line, group)
        for allow, pattern, line, group in rules
        for shape in dialect.shapes(pattern, allow, group)
    ]
    if any(each.group is not ranked[0].group for each in ranked):
        ranked = list(first_of_equals(ranked, lambda each: (each.shape, each.allow)))
    ranked.sort(key=lambda each: each.shape.key)
    return ranked


def _rules(group: Group, dialect: Dialect) -> Iterator[Record]:
    """The rule lines of a group, without needless copies. In one group equal lines have equal shapes."""
    rules = (record for record in group.records if record[1] in dialect.rule_fields)
    return first_of_equals(rules, itemgetter(1, 2))


def _as_typed(name: str, agent: str) -> str:
    """Returns the folded name of a robot in the case in which `agent` has it."""
    start = agent.lower().find(name)
    typed = agent[start : start + len(name)] if start >= 0 else name
    return typed if typed.lower() == name else name
