"""Answers the first questions to a file without compiling its rules: one scan over them for each URL.

Compiling all rules takes longer than a few scans. A scan reads only the rules that may match; it is linear in the
number of rules, and in the length of the target for each rule that may match.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.text.octets import Compared
from goodbot.exclusion.text.patterns import PLAIN_CHARACTERS, Shape
from goodbot.exclusion.verdict import LOST_MOST, Group, Rule

_T = TypeVar("_T")

MAX_EQUAL_RULES: Final = 2 * LOST_MOST + 2
"""How many copies of one rule are kept. More would change no verdict, which looks only at this many matching rules."""

# Characters that stand for themselves in every dialect: those a pattern begins with, and those after its first `*` or
# its first `?` (a `?` that is the first one is in no parameter value).
_BEGINNING_AND_PIECE = re.compile(rf"([{PLAIN_CHARACTERS}]*)\**(\??[A-Za-z0-9/_.-]*)")

_INDEX = "index.htm"
"""A pattern that contains this may match the directory it is in (Google)."""

_COMPARED_CHARS = 64
"""How much of a rule's beginning is compared with many targets at once."""

_MAX_SEARCHED_CHARS = 20_000
"""If all targets together are longer, the piece after a `*` is not searched for in them."""

_SHORT_CHARS = 300
_GRAM_CHARS = 4
"""Of a text longer than `_SHORT_CHARS`, all substrings of 1 to 4 characters are collected, so that the text is not
searched once per rule."""
_BLOCK_CHARS = 1 << 14
_MAX_GRAMS = 1 << 17
"""About 12 MB."""

RuleOfGroup = tuple[bool, str, int, Group]
"""Whether a rule allows, its path pattern, its line, and its group."""


class RankedRule(NamedTuple):
    """One shape of a rule, and what a verdict reports about the rule."""

    shape: Shape
    allow: bool
    pattern: str
    line: int
    group: Group

    @property
    def rule(self) -> Rule:
        return Rule(self.allow, self.pattern, self.line)


class RuleScan:
    """Answers from the rules of some groups without compiling them: each answer takes one scan."""

    __slots__ = ("_dialect", "_groups")

    def __init__(self, groups: Sequence[Group], dialect: Dialect) -> None:
        self._groups = groups
        self._dialect = dialect

    def allows(self, url: str) -> bool:
        """Whether a robot to which these groups apply may fetch `url`."""
        target = self._dialect.target(url)
        if self._dialect.is_itself(target):
            return True
        shapes, best_key, answer = self._dialect.shapes, math.inf, self.unmatched
        seen: set[Hashable] = set()
        for allow, pattern, _, group in _rules_near(self._groups, self._dialect, target):
            if (rule := (allow, pattern, id(group))) in seen:
                continue
            seen.add(rule)
            for shape in shapes(pattern, allow, group):
                if shape.key < best_key and shape.matches(target):
                    best_key, answer = shape.key, allow
        return answer

    def matching(self, target: Compared) -> list[RankedRule]:
        """The rules that match, the one that counts most first; of equal ones the first in the file."""
        return sorted(self._matching(target), key=_precedence)

    @property
    def unmatched(self) -> bool:
        """Whether a URL that no rule matches is allowed."""
        return self._dialect.allows_unmatched(self._groups)

    def _matching(self, target: Compared) -> Iterator[RankedRule]:
        shapes = self._dialect.shapes
        counts: dict[Hashable, int] = {}
        for allow, pattern, line, group in _rules_near(self._groups, self._dialect, target):
            key = allow, pattern, id(group)
            count = counts.get(key, 0)
            if count == MAX_EQUAL_RULES:
                continue
            counts[key] = count + 1
            for shape in shapes(pattern, allow, group):
                if shape.matches(target):
                    yield RankedRule(shape, allow, pattern, line, group)


def _precedence(ranked: RankedRule) -> int:
    return ranked.shape.key


def _rule_in_group(rule: RuleOfGroup) -> Hashable:
    """Returns a key that is equal for rules with the same effect."""
    return rule[0], rule[1], rule[3].line


def first_of_equals(items: Iterable[_T], key: Callable[[_T], Hashable], most: int = MAX_EQUAL_RULES) -> Iterator[_T]:
    """Yields the first `most` items of each key."""
    counts: dict[Hashable, int] = {}
    for item in items:
        found = key(item)
        counts[found] = count = counts.get(found, 0) + 1
        if count <= most:
            yield item


def _rules_near(groups: Sequence[Group], dialect: Dialect, target: Compared) -> Iterator[RuleOfGroup]:
    """Yields the rules that may match the target, as far as characters that stand for themselves show."""
    # One loop, because it passes every rule: a call for each would take as long as all the work done here.
    fields, paths, match = dialect.rule_fields, dialect.paths, _BEGINNING_AND_PIECE.match
    plain, encoded = target
    target_begins, reach = plain.startswith, plain + _INDEX
    may_hold = _may_hold(plain if plain == encoded else f"{plain}\n{encoded}", search=True)
    one_path = len(paths("/ /")) == 1  # with several paths on a line, its beginning says nothing about the others
    for group in groups:
        for line, field, value in group.records_near(reach) if one_path else group.records:
            if field in fields:
                found = match(value) if one_path else None
                if found and not (target_begins(found[1]) and may_hold(found[2])) and _INDEX not in value:
                    continue
                for pattern in paths(value):
                    yield field == "allow", pattern, line, group


def rules_near_any(groups: Sequence[Group], dialect: Dialect, targets: Iterable[Compared]) -> Iterator[RuleOfGroup]:
    """Yields the rules that may match at least one of the targets, as far as characters that stand for themselves show;
    of equal rules the first `MAX_EQUAL_RULES`. Linear in the rules."""
    return first_of_equals(_all_near_any(groups, dialect, targets), _rule_in_group)


def _all_near_any(groups: Sequence[Group], dialect: Dialect, targets: Iterable[Compared]) -> Iterator[RuleOfGroup]:
    fields, paths, match = dialect.rule_fields, dialect.paths, _BEGINNING_AND_PIECE.match
    one_path = len(paths("/ /")) == 1
    targets = list(targets)
    beginnings = {target.plain[:length] for target in targets for length in range(_COMPARED_CHARS + 1)}
    texts = "\n".join({text for target in targets for text in (target.plain, target.encoded)})
    may_hold = _may_hold(texts, search=len(texts) <= _MAX_SEARCHED_CHARS)
    for group in groups:
        for line, field, value in group.records:
            found = match(value) if one_path and _INDEX not in value else None
            if found and (found[1][:_COMPARED_CHARS] not in beginnings or not may_hold(found[2])):
                continue
            if field in fields:
                for pattern in paths(value):
                    yield field == "allow", pattern, line, group


def _may_hold(text: str, *, search: bool) -> Callable[[str], bool]:
    """Returns a test that is false only if the text certainly does not contain the piece; with `search` it is exact."""
    if len(text) <= _SHORT_CHARS:
        return text.__contains__
    grams = {""}
    for begin in range(0, len(text), _BLOCK_CHARS):
        places = range(begin, min(begin + _BLOCK_CHARS, len(text)))
        grams.update(text[at : at + length] for at in places for length in range(1, _GRAM_CHARS + 1))
        if len(grams) > _MAX_GRAMS:
            return text.__contains__ if search else lambda piece: True

    def may_hold(piece: str) -> bool:
        return piece[:_GRAM_CHARS] in grams and (not search or piece in text)

    return may_hold
