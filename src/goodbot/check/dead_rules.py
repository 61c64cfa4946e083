"""Finds rules that decide for no URL, for robots that follow RFC 9309 2.2.2."""

from collections.abc import Sequence

from goodbot.check.pattern_checks import pattern_bytes
from goodbot.check.subject import Readers, Subject
from goodbot.exclusion.text.octets import compared_pattern
from goodbot.exclusion.verdict import Rule


class RuleOrder:
    """The rules that apply together to some robots.

    To find out whether a rule ever decides, its pattern is matched as if it were a URL: the rule that decides there
    decides wherever the pattern matches, unless the deciding pattern ends with `$`.
    """

    def __init__(self, subject: Subject, readers: Readers) -> None:
        self._matcher = subject.parsed.matcher(readers.token)
        rules = [rule for group in self._matcher.groups for rule in subject.rules_of(group)]
        self._longest_wild = {
            allow: max(
                (pattern_bytes(each.pattern) for each in rules if each.allow is allow and not is_plain(each.pattern)),
                default=-1,
            )
            for allow in (True, False)
        }

    def overriding(self, rule: Rule) -> Rule | None:
        """Returns the rule that makes `rule` useless: an opposite one that overrides it wherever it matches, or one of
        the same kind that would decide in its place if `rule` were removed. None if `rule` may decide."""
        first, *others = self._matcher.matching(rule.pattern) or (rule,)
        if not _is_equal(first, rule):
            opposed = first.allow != rule.allow and not is_same(first.pattern, rule.pattern)
            return first if opposed and _covers(first.pattern, rule.pattern) else None
        next_ = next((other for other in others if not _is_equal(other, rule)), None)
        if next_ is None or next_.allow != rule.allow or not _covers(next_.pattern, rule.pattern):
            return None
        return next_ if pattern_bytes(next_.pattern) > self._longest_wild[not rule.allow] else None


def overriding_in_all(orders: Sequence[RuleOrder], rule: Rule) -> Rule | None:
    """Returns the rule that makes `rule` useless for all of these robots, if possible an opposite one; else None."""
    if not orders or not is_plain(rule.pattern) or not rule.pattern.startswith("/"):
        return None
    overriding = [order.overriding(rule) for order in orders]
    if None in overriding:
        return None
    return next((other for other in overriding if other and other.allow != rule.allow), overriding[0])


def is_plain(pattern: str) -> bool:
    """Returns whether the pattern has neither `*` nor `$`."""
    return "*" not in pattern and "$" not in pattern


def is_same(one: str, other: str) -> bool:
    """Returns whether RFC 9309 treats both patterns as equal."""
    return one == other or compared_pattern(one) == compared_pattern(other)


def _is_equal(one: Rule, other: Rule) -> bool:
    return one.pattern == other.pattern and one.allow == other.allow


def _covers(pattern: str, path: str) -> bool:
    """Returns whether `pattern`, which matches `path` in one of the compared forms, matches every URL that begins with
    `path`, in both forms."""
    one, other = compared_pattern(pattern), compared_pattern(path)
    if is_plain(pattern):
        return other.plain.startswith(one.plain) and other.encoded.startswith(one.encoded)
    return one.plain == one.encoded and other.plain == other.encoded and not one.plain.endswith("$")
