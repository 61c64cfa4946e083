"""The rules of groups in the order in which they count, so that the first one that matches decides."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from goodbot.exclusion import Group
from goodbot.exclusion.text.octets import compared_pattern
from goodbot.gate.export.notation import Notation
from goodbot.gate.export.path_regex import MOST_OCTETS, path_regex

_CUT_SHORT: Final = re.compile(r"(?:%[0-9A-Fa-f]?|\$)+\Z")

_EVERYTHING: Final = frozenset(("/", "*", "/*"))

RuleList = tuple["OrderedRule", ...]


class OrderedRule(NamedTuple):
    """A rule of robots.txt."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {'Allow' if self.allow else 'Disallow'}: {self.pattern}"


def rule_list(groups: Iterable[Group]) -> RuleList:
    """Returns the rules of these groups: the longest pattern in octets comes first, of equal ones Allow (RFC 9309
    §2.2.2). An Allow after the last Disallow is left out, since what no rule matches is allowed."""
    found = {
        (field == "allow", value): OrderedRule(field == "allow", value, line)
        for group in groups
        for line, field, value in reversed(group.records)
        if field in ("allow", "disallow") and value.startswith(("/", "*"))
    }
    rules = sorted(
        found.values(), key=lambda rule: (-len(compared_pattern(rule.pattern).encoded), not rule.allow, rule.line)
    )
    while rules and rules[-1].allow:
        rules.pop()
    return tuple(rules)


def closes_everything(rules: Sequence[OrderedRule]) -> bool:
    """Whether these rules close the whole site, without an exception."""
    return not any(rule.allow for rule in rules) and any(rule.pattern in _EVERYTHING for rule in rules)


class WrittenRule(NamedTuple):
    """A rule with its expression."""

    rule: OrderedRule
    regex: str


def written_rules(rules: RuleList, notation: Notation) -> list[WrittenRule]:
    """Writes each rule. One whose expression would be too long for a server counts in favour of robots: a Disallow is
    left out, and an Allow ends earlier; see `cut_rules`. Of rules with equal expressions the first one counts."""
    written: dict[str, WrittenRule] = {}
    for rule in rules:
        regex = path_regex(rule.pattern, notation)
        pattern = rule.pattern
        while rule.allow and len(regex) > MOST_OCTETS:
            pattern = _CUT_SHORT.sub("", pattern[: len(pattern) // 2])
            regex = path_regex(pattern, notation)
        if len(regex) <= MOST_OCTETS:
            written.setdefault(regex, WrittenRule(rule, regex))
    return [*written.values()]


def cut_rules(rules: RuleList, notation: Notation) -> list[OrderedRule]:
    """Returns the rules whose patterns are too long for a server."""
    return [rule for rule in rules if len(path_regex(rule.pattern, notation)) > MOST_OCTETS]
