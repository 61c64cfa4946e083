"""The matcher of one robot: of all rules in its groups, the one that counts for a URL, and why."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.fast_matching import quick_answer
from goodbot.exclusion.robotstxt.first_matching import near_rules, rules_near_any
from goodbot.exclusion.robotstxt.group_choice import ALL, Choice
from goodbot.exclusion.robotstxt.timing import asked_delay_s
from goodbot.exclusion.text.patterns import RuleTable, Shape
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import LOST_MOST, Group, Record, Rule, Verdict

_T = TypeVar("_T")

_EQUAL_MOST: Final = 2 * LOST_MOST + 2
"""Equal rules that are compiled. A verdict looks at so many ranks, and these come before those of a
further copy."""

_RULE_BYTES = 600
_PIECE_BYTES = 80
"""Measured with tracemalloc: 400 to 760 bytes for a rule, up to 70 more for each piece between two stars."""


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
    """Rules of some groups made ready for many questions. `unmatched` is whether a URL is open that none of them
    matches, `weight_bytes` an estimate, rather too high, of the memory it takes."""

    __slots__ = ("allows", "ranked", "table", "unmatched", "weight_bytes")

    def __init__(
        self, groups: Sequence[Group], rules: Iterable[tuple[bool, str, int, Group]], dialect: Dialect
    ) -> None:
        self.ranked = _by_precedence(rules, dialect)
        self.unmatched = dialect.allows_unmatched(groups)
        shapes = [ranked.shape for ranked in self.ranked]
        allow = [*(ranked.allow for ranked in self.ranked), self.unmatched]
        table = self.table = RuleTable(shapes)

        def careful(url: str) -> bool:
            target = dialect.target(url)
            return allow[table.best(target)] or dialect.is_itself(target)

        self.allows = quick_answer(shapes, table.plain, allow, careful)
        pieces = sum(len(shape.plain.pieces) + len(shape.encoded.pieces) for shape in shapes)
        self.weight_bytes = _RULE_BYTES * len(shapes) + _PIECE_BYTES * pieces

    @classmethod
    def of(cls, groups: Sequence[Group], dialect: Dialect) -> "Compiled":
        """All rules of some groups together; robots that get the same groups share it."""
        rules = (
            (field == "allow", pattern, line, group)
            for group in groups
            for line, field, value in _rules(group, dialect)
            for pattern in dialect.paths(value)
        )
        return cls(groups, rules, dialect)

    @classmethod
    def near(cls, groups: Sequence[Group], dialect: Dialect, url: str) -> "Compiled":
        """Of these the ones that may match `url`: for one question, sooner by far than all of them."""
        return cls._of_near(groups, near_rules(groups, dialect, dialect.target(url)), dialect)

    @classmethod
    def near_any(cls, groups: Sequence[Group], dialect: Dialect, urls: Iterable[str]) -> "Compiled":
        """The same for some questions."""
        return cls._of_near(groups, rules_near_any(groups, dialect, map(dialect.target, urls)), dialect)

    @classmethod
    def _of_near(
        cls, groups: Sequence[Group], near: Iterable[tuple[bool, str, int, Group]], dialect: Dialect
    ) -> "Compiled":
        return cls(groups, _first_of(near, lambda rule: (rule[0], rule[1], rule[3].line)), dialect)


class Matcher:
    """What one robots.txt says to one robot. `delay_s` is the Crawl-delay asked of it, or None."""

    __slots__ = ("_compiled", "_dialect", "_name", "agent", "allows", "delay_s", "groups", "records")

    allows: Callable[[str], bool]
    """Whether the robot may fetch a URL: path and query are compared, a fragment is not looked at."""

    records: Callable[[], Iterator[Record]]
    """The records of its groups that count for the robot, in order: all rules, and what stands directly below its own
    names."""

    def __init__(self, agent: str, choice: Choice, dialect: Dialect, compiled: Compiled) -> None:
        """`choice` is the groups that apply to `agent`: their rules count together, `compiled`."""
        self.agent = agent
        self.groups = choice.groups
        self.records = choice.records
        self.delay_s = asked_delay_s(choice.records()) if dialect.reads_timing else None
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
            reason = f"No {self._dialect.groups_called} applies to {name}."
            return self._verdict(url, reason, sections.group)
        ranks = self._compiled.table.all(target)
        if not ranks:
            closed = "" if self._compiled.unmatched else "; it has only Allow rules, so everything else is closed"
            reason = f"No rule matches in {self._of_groups()}{closed}."
            return self._verdict(url, reason, sections.rule, unmatched=self._compiled.unmatched)
        winner = self._compiled.ranked[ranks[0]]
        is_what = f"(line {winner.rule.line}) is {self._dialect.winner(winner.group)}"
        reason = f"{shown(str(winner.rule))} {is_what} in {self._of_groups()}."
        return self._verdict(url, reason, sections.rule, winner, self._lost(ranks))

    def matching(self, url: str) -> tuple[Rule, ...]:
        """The rules that match, the one that decides first; beyond it some of them. Cheaper than a verdict."""
        target = self._dialect.target(url)
        ranks = () if self._dialect.is_itself(target) else self._compiled.table.all(target)
        return tuple(dict.fromkeys(self._compiled.ranked[rank].rule for rank in islice(ranks, _EQUAL_MOST)))

    def _lost(self, ranks: Sequence[int]) -> tuple[Rule, ...]:
        rules = dict.fromkeys(self._compiled.ranked[rank].rule for rank in islice(ranks, _EQUAL_MOST))
        return tuple(rules)[1 : LOST_MOST + 1]

    def _verdict(
        self,
        url: str,
        reason: str,
        section: str,
        decided: _Ranked | None = None,
        lost: tuple[Rule, ...] = (),
        *,
        unmatched: bool = True,
    ) -> Verdict:
        group = decided.group if decided else self.groups[0] if self.groups else None
        rule = decided.rule if decided else None
        return Verdict(
            allowed=rule.allow if rule else unmatched,
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


def _by_precedence(rules: Iterable[tuple[bool, str, int, Group]], dialect: Dialect) -> list[_Ranked]:
    """The rule that counts most first; of equals the first in the file."""
    ranked = [
        _Ranked(shape, allow, pattern, line, group)
        for allow, pattern, line, group in rules
        for shape in dialect.shapes(pattern, allow, group)
    ]
    if any(each.group is not ranked[0].group for each in ranked):
        ranked = list(_first_of(ranked, lambda each: (each.shape, each.allow)))
    ranked.sort(key=lambda each: each.shape.key)
    return ranked


def _rules(group: Group, dialect: Dialect) -> Iterable[Record]:
    """Its rules, before the work of compiling them. In one group equal lines have equal shapes."""
    return _first_of((record for record in group.records if record[1] in dialect.rule_fields), itemgetter(1, 2))


def _first_of(items: Iterable[_T], same: Callable[[_T], Hashable]) -> Iterator[_T]:
    """Of those that are the same the first `_EQUAL_MOST`."""
    times: dict[Hashable, int] = {}
    for item in items:
        key = same(item)
        times[key] = count = times.get(key, 0) + 1
        if count <= _EQUAL_MOST:
            yield item
