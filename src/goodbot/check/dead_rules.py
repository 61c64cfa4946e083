"""Which rules never decide, whatever the URL, for robots that follow RFC 9309 2.2.2."""

from collections.abc import Sequence

from goodbot.check.pattern_checks import octets
from goodbot.check.subject import Readers, Subject
from goodbot.exclusion.text.octets import compared_pattern
from goodbot.exclusion.verdict import Rule


class RuleOrder:
    """The rules that hold together for some robots. A rule is put to the matcher as if it were a URL: what decides
    there decides wherever the rule matches, unless the deciding pattern ends with `$`."""

    def __init__(self, subject: Subject, readers: Readers) -> None:
        self._matcher = subject.parsed.matcher(readers.token)
        rules = [rule for group in self._matcher.groups for rule in subject.rules_of(group)]
        self._longest_wild = {
            allow: max(
                (octets(each.pattern) for each in rules if each.allow is allow and not is_plain(each.pattern)),
                default=-1,
            )
            for allow in (True, False)
        }

    def better(self, rule: Rule) -> Rule | None:
        """The rule that makes `rule` useless: one of the other kind that outweighs it wherever it matches, or one of
        the same kind that would decide the same if `rule` were gone. None if `rule` may decide."""
        first, *others = self._matcher.matching(rule.pattern) or (rule,)
        if not _is_equal(first, rule):
            opposed = first.allow != rule.allow and not is_same(first.pattern, rule.pattern)
            return first if opposed and _covers(first.pattern, rule.pattern) else None
        next_ = next((other for other in others if not _is_equal(other, rule)), None)
        if next_ is None or next_.allow != rule.allow or not _covers(next_.pattern, rule.pattern):
            return None
        return next_ if octets(next_.pattern) > self._longest_wild[not rule.allow] else None


def better_in_all(readings: Sequence[RuleOrder], rule: Rule) -> Rule | None:
    """`RuleOrder.better` if `rule` never decides for any of these robots, preferring a rule of the other kind."""
    if not readings or not is_plain(rule.pattern) or not rule.pattern.startswith("/"):
        return None
    better = [reading.better(rule) for reading in readings]
    if None in better:
        return None
    return next((other for other in better if other and other.allow != rule.allow), better[0])


def is_plain(pattern: str) -> bool:
    """Whether it has neither `*` nor `$`."""
    return "*" not in pattern and "$" not in pattern


def is_same(one: str, other: str) -> bool:
    """Whether RFC 9309 treats both patterns as equal."""
    return one == other or compared_pattern(one) == compared_pattern(other)


def _is_equal(one: Rule, other: Rule) -> bool:
    return one.pattern == other.pattern and one.allow == other.allow


def _covers(pattern: str, path: str) -> bool:
    """Whether `pattern`, which matches `path` in one compared form, matches every URL that begins with `path` in both
    forms."""
    one, other = compared_pattern(pattern), compared_pattern(path)
    if is_plain(pattern):
        return other.plain.startswith(one.plain) and other.encoded.startswith(one.encoded)
    return one.plain == one.encoded and other.plain == other.encoded and not one.plain.endswith("$")
