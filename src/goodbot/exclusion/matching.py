"""The matcher of one robot: of all rules in its groups, the one that counts for a URL."""

from collections.abc import Iterable, Sequence

from goodbot.exclusion.dialects import Dialect
from goodbot.exclusion.patterns import RuleTable
from goodbot.exclusion.timing import longest_delay
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record, Rule, Verdict

_SHOWN_CHARS = 120
_ITSELF = "/robots.txt"


class Matcher:
    """What one robots.txt says to one robot. `delay_s` is the Crawl-delay asked of it, or None."""

    __slots__ = ("_allow", "_dialect", "_rules", "_table", "agent", "delay_s", "groups")

    def __init__(self, agent: str, groups: Sequence[Group], dialect: Dialect) -> None:
        """`groups` are those that speak to `agent`: their rules count together."""
        self.agent = agent
        self.groups = groups
        delays = (value for group in groups for _, field, value in group.records if field == "crawl-delay")
        self.delay_s = longest_delay(delays)
        self._dialect = dialect
        self._rules, self._table = _by_precedence(groups, dialect)
        self._allow = [field == "allow" for _, field, _ in self._rules] + [True]

    def allows(self, url: str) -> bool:
        """Whether the robot may fetch `url`: path and query are compared, a fragment is not looked at."""
        target = self._dialect.target(url)
        return self._allow[self._table.best(target)] or target.plain == _ITSELF

    def verdict(self, url: str) -> Verdict:
        """The same as `allows`, and why."""
        target = self._dialect.target(url)
        if target.plain == _ITSELF:
            return self._verdict(url, True, None, "robots.txt itself is open to every robot.", "2.2.2")
        if not self.groups:
            name = _shown(self._dialect.agent_token(self.agent))
            return self._verdict(url, True, None, f"No group speaks to {name or 'a robot without a name'}.", "2.2.1")
        place = self._table.best(target)
        if place == len(self._rules):
            return self._verdict(url, True, None, f"No rule matches in {self._of_groups()}.", "2.2.2")
        line, field, pattern = self._rules[place]
        rule = Rule(field == "allow", pattern, line)
        reason = f"{_shown(str(rule))} (line {line}) is {self._dialect.winner} in {self._of_groups()}."
        return self._verdict(url, rule.allow, rule, reason, "2.2.2")

    def _verdict(self, url: str, allowed: bool, rule: Rule | None, reason: str, section: str) -> Verdict:
        return Verdict(
            allowed=allowed,
            line=rule.line if rule else None,
            rule=str(rule) if rule else None,
            reason=reason,
            section=f"{self._dialect.source} {section}",
            delay_s=self.delay_s,
            url=url,
            agent=self.agent,
            dialect=self._dialect.name,
        )

    def _of_groups(self) -> str:
        first = self.groups[0]
        robot = self._dialect.agent_token(self.agent)
        own = robot and robot in map(self._dialect.file_token, first.agents)
        name = _shown(robot) if own and robot != "*" else "all robots (*)"
        if len(self.groups) == 1:
            return f"the group for {name} (line {first.line})"
        return f"the {len(self.groups)} groups for {name} (from line {first.line})"


def _by_precedence(groups: Iterable[Group], dialect: Dialect) -> tuple[list[Record], RuleTable]:
    """The rules of all groups, the one that counts most first, and their patterns as compared.

    An empty pattern is no rule.
    """
    rules = [record for group in groups for record in group.records if record[1] in RULE_FIELDS and record[2]]
    compared = [(dialect.pattern(rule[2]), rule) for rule in rules]
    compared.sort(key=lambda item: dialect.precedence(len(item[0].encoded), item[1][1] == "allow", item[1][0]))
    return [rule for _, rule in compared], RuleTable(pattern for pattern, _ in compared)


def _shown(text: str) -> str:
    """Fit for a sentence on a terminal: a pattern may be as long as the file and hold control characters."""
    text = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
