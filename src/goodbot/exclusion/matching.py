"""The matcher of one robot: of all rules in its groups, the one that counts for a URL, and why."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from goodbot.exclusion.choosing import ALL, Choice
from goodbot.exclusion.dialect import Dialect
from goodbot.exclusion.patterns import RuleTable, Shape
from goodbot.exclusion.quick import quick_answer
from goodbot.exclusion.showing import shown
from goodbot.exclusion.timing import asked_delay_s
from goodbot.exclusion.verdict import LOST_MOST, Group, Rule, Verdict


class _Ranked(NamedTuple):
    """One shape of a rule, and what a verdict says of it."""

    shape: Shape
    allow: bool
    pattern: str
    line: int
    group: Group

    @property
    def rule(self) -> Rule:
        return Rule(self.allow, self.pattern, self.line)


class Compiled:
    """The rules of some groups together, made ready for many questions; robots that get the same groups share it."""

    __slots__ = ("allows", "ranked", "table")

    def __init__(self, groups: Sequence[Group], dialect: Dialect) -> None:
        self.ranked = _by_precedence(groups, dialect)
        shapes = [ranked.shape for ranked in self.ranked]
        allow = [*(ranked.allow for ranked in self.ranked), True]
        table = self.table = RuleTable(shapes)

        def careful(url: str) -> bool:
            target = dialect.target(url)
            return allow[table.best(target)] or dialect.is_itself(target)

        self.allows = quick_answer(shapes, table.plain, allow, careful)


class Matcher:
    """What one robots.txt says to one robot. `delay_s` is the Crawl-delay asked of it, or None."""

    __slots__ = ("_compiled", "_dialect", "_name", "agent", "allows", "delay_s", "groups")

    allows: Callable[[str], bool]
    """Whether the robot may fetch a URL: path and query are compared, a fragment is not looked at."""

    def __init__(self, agent: str, choice: Choice, dialect: Dialect, compiled: Compiled) -> None:
        """`choice` is the groups that speak to `agent`: their rules count together, `compiled`."""
        self.agent = agent
        self.groups = choice.groups
        self.delay_s = asked_delay_s(choice.groups) if dialect.reads_timing else None
        self.allows = compiled.allows
        self._name = choice.name
        self._dialect = dialect
        self._compiled = compiled

    def verdict(self, url: str) -> Verdict:
        """The same as `allows`, and why."""
        sections = self._dialect.sections
        target = self._dialect.target(url)
        if self._dialect.is_itself(target):
            return self._verdict(url, "robots.txt itself is open to every robot.", sections.itself)
        if not self.groups:
            name = shown(self._dialect.robot(self.agent)) or "a robot without a name"
            reason = f"No {self._dialect.groups_called} speaks to {name}."
            return self._verdict(url, reason, sections.group)
        ranks = self._compiled.table.all(target)
        if not ranks:
            return self._verdict(url, f"No rule matches in {self._of_groups()}.", sections.rule)
        winner = self._compiled.ranked[ranks[0]]
        is_what = f"(line {winner.rule.line}) is {self._dialect.winner(winner.group)}"
        reason = f"{shown(str(winner.rule))} {is_what} in {self._of_groups()}."
        return self._verdict(url, reason, sections.rule, winner, self._lost(ranks))

    def _lost(self, ranks: Sequence[int]) -> tuple[Rule, ...]:
        rules = dict.fromkeys(self._compiled.ranked[rank].rule for rank in islice(ranks, 2 * LOST_MOST + 2))
        return tuple(rules)[1 : LOST_MOST + 1]

    def _verdict(
        self, url: str, reason: str, section: str, decided: _Ranked | None = None, lost: tuple[Rule, ...] = ()
    ) -> Verdict:
        group = decided.group if decided else self.groups[0] if self.groups else None
        rule = decided.rule if decided else None
        return Verdict(
            allowed=rule is None or rule.allow,
            line=rule.line if rule else None,
            rule=str(rule) if rule else None,
            reason=reason,
            section=section,
            delay_s=self.delay_s,
            url=url,
            agent=self.agent,
            dialect=self._dialect.name,
            pattern=rule.pattern if rule else None,
            group_line=group.line if group else None,
            group_agents=group.agents if group else (),
            lost=lost,
        )

    def _of_groups(self) -> str:
        name = "all robots (*)" if self._name == ALL else shown(self._name)
        called, line = self._dialect.groups_called, self.groups[0].line
        if len(self.groups) == 1:
            return f"the {called} for {name} (line {line})"
        return f"the {len(self.groups)} {called}s for {name} (from line {line})"


def _by_precedence(groups: Iterable[Group], dialect: Dialect) -> list[_Ranked]:
    """The rules of all groups, the one that counts most first; of equals the first in the file."""
    ranked = [
        _Ranked(shape, field == "allow", pattern, line, group)
        for group in groups
        for line, field, value in group.records
        if field in dialect.rule_fields
        for pattern in dialect.paths(value)
        for shape in dialect.shapes(pattern, field == "allow", group)
    ]
    ranked.sort(key=lambda each: each.shape.key)
    return ranked
