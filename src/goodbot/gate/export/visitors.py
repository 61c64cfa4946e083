"""Who may come to a site, as far as a static configuration can see: by the User-Agent, then by the address.

The list of names is read from its beginning; the first entry that matches a User-Agent says who the visitor is. The
order is that of `Clients.recognize`: robots on record, tools, robots without a record, browsers, other programs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.gate.clients import Client, Identity
from goodbot.gate.decision import MOST_BURST
from goodbot.gate.export.agent_regex import (
    FEED_READER,
    HAS_CONTACT,
    HAS_ROBOT_WORD,
    LOOKS_LIKE_A_BROWSER,
    LOOKS_LIKE_A_TELEPHONE,
    names_regexes,
    tokens_regexes,
    words_regexes,
)
from goodbot.gate.export.notation import Notation
from goodbot.gate.export.rule_lists import RuleList, rule_list
from goodbot.gate.policy import Policy
from goodbot.gate.site_rules import SiteRules
from goodbot.registry import KnownRobot, matches_browsers
from goodbot.registry.agent_kind import names_a_robot
from goodbot.registry.crawler_user_agents import load_crawler_user_agents
from goodbot.watch.remedies.choosing import Records
from goodbot.watch.remedies.name_regex import has_words
from goodbot.watch.remedies.targets import Network, TargetRobot
from goodbot.watch.robot_reading import named_agents

Outside = Literal["", "public", "all"]
"""Which addresses outside the networks of a robot are refused: none, those of the Internet, or local ones too."""

OUTSIDE: Final[tuple[Outside, ...]] = ("public", "all")

Kind = Literal["robot", "program", "browser"]
"""Whose limits of the policy apply: those of `unverified`, `undeclared` or `browsers`."""

NO_RULES: Final = -1

_LEVEL: Final = {
    "record": 0,
    "imitated": 1,
    "tool": 2,
    "listed": 3,
    "telephone": 4,
    "named": 5,
    "word": 6,
    "feed": 7,
    "look": 8,
    "browser": 9,
    "token": 10,
}


class Pace(NamedTuple):
    """How fast robots.txt lets a robot come: `burst` requests at once, and one each `gap_s` seconds on average."""

    gap_s: float
    burst: int


class Visitor(NamedTuple):
    """What happens to the requests of a visitor. Robots of which all of this is equal are one visitor."""

    kind: Kind
    refused: bool = False
    """Whether every request is refused, but those for robots.txt."""
    networks: tuple[Network, ...] = ()
    """The published addresses of the robot."""
    outside: Outside = ""
    free_inside: bool = False
    """Whether the policy allows everything from `networks`."""
    rules: int = NO_RULES
    """The place of its rules in `SiteVisitors.rule_lists`; `NO_RULES` if robots.txt closes nothing to it."""
    pace: Pace | None = None
    pace_name: str = ""
    """The name for which robots.txt asks for the pace; empty without one, and for robots without a name."""


class Entry(NamedTuple):
    """An entry of the list of names. Exactly one of `patterns`, `tokens` and `regex` is set."""

    level: int
    """Entries of one level are about different names; those of a lower one come first."""
    visitor: int
    names: tuple[str, ...]
    """What it finds, for a comment."""
    patterns: tuple[str, ...] = ()
    """As in `KnownRobot.patterns`."""
    tokens: tuple[str, ...] = ()
    robots_only: bool = False
    """Whether the User-Agent must also look like a robot's."""
    regex: str = ""

    def regexes(self, notation: Notation) -> list[str]:
        """Returns the expressions, any of which finds it. They are to be searched for without regard to case."""
        if self.patterns:
            return names_regexes(self.patterns, notation)
        if self.tokens:
            return tokens_regexes(self.tokens, notation, robots_only=self.robots_only)
        return [notation.ignoring_case + self.regex]


@dataclass(frozen=True, slots=True)
class SiteVisitors:
    """All visitors of a site."""

    visitors: tuple[Visitor, ...]
    entries: tuple[Entry, ...]
    rule_lists: tuple[RuleList, ...]
    other: int
    """The visitor whose User-Agent no entry matches: a program that names no robot."""
    timings: tuple[tuple[str, Timing], ...]
    """The hours and paces that robots.txt asks for, with the names of the robots."""
    browsers_names: tuple[str, ...]
    """Robots that are left out because browsers have their names too."""
    unknown: tuple[str, ...]
    """Names in the policy that no robot on record has."""

    def regexes(self, notation: Notation) -> Iterator[tuple[Entry, str]]:
        """Yields every expression with its entry, in order; an expression that came before is left out."""
        seen: set[str] = set()
        for entry in self.entries:
            for regex in entry.regexes(notation):
                if regex not in seen:
                    seen.add(regex)
                    yield entry, regex

    def words(self, notation: Notation) -> list[str]:
        """Returns short expressions, one of which finds something in every User-Agent with a name on record."""
        return words_regexes((pattern for entry in self.entries for pattern in entry.patterns), notation)

    def of_kind(self, kind: Kind) -> list[int]:
        """Returns the visitors of a kind that the policy does not refuse."""
        return [number for number, one in enumerate(self.visitors) if one.kind == kind and not one.refused]


class _Visitors:
    """Collects visitors and rules; equal ones once."""

    def __init__(self, rules: SiteRules, policy: Policy, records: Records, *, paces: bool) -> None:
        self._paces = paces
        self._rules = rules
        self._policy = policy
        self._records = records
        self._rule_lists: dict[RuleList, int] = {}
        self._networks: dict[tuple[str, ...], tuple[Network, ...]] = {}
        self.visitors: dict[Visitor, int] = {}
        self.timings: dict[str, Timing] = {}

    @property
    def rule_lists(self) -> tuple[RuleList, ...]:
        return tuple(self._rule_lists)

    def of_robot(self, robot: KnownRobot) -> int:
        """Returns the visitor of a robot on record, or of one that crawler-user-agents lists."""
        is_tool = robot.purpose == "tool"
        policy, target = self._policy, self._records.target(robot)
        wish = policy.robots.get(robot.name, "rules")
        networks = () if is_tool else self._networks_of(target)
        outside = "" if is_tool else self._outside(target)
        action = policy.undeclared.action if is_tool else policy.unverified.action
        refused = wish == "refuse"
        if action == "refuse":
            outside, refused = ("all", refused) if networks else ("", True)
        visitor = self._visitor(robot, "undeclared" if is_tool else "unverified", robot.name)
        return self._add(
            visitor._replace(
                refused=refused,
                networks=networks,
                outside=outside,
                free_inside=wish == "allow" and bool(networks),
            )
        )

    def of_token(self, token: str, identity: Identity) -> int:
        """Returns the visitor without a record that names itself so; an empty name is any other."""
        policy = self._policy
        action = policy.undeclared.action if identity == "undeclared" else policy.unverified.action
        return self._add(self._visitor(None, identity, token)._replace(refused=action == "refuse"))

    def browser(self) -> int:
        return self._add(Visitor("browser"))

    def _networks_of(self, target: TargetRobot) -> tuple[Network, ...]:
        names = tuple(known.name for known in target.lists)
        if names not in self._networks:
            self._networks[names] = tuple(target.networks)
        return self._networks[names]

    def _outside(self, target: TargetRobot) -> Outside:
        if self._policy.impostors.action != "refuse":
            return ""
        is_known = self._records.has_all_lists(target) and not self._records.stale(target)
        return "public" if is_known or target.robot.control else ""

    def _visitor(self, robot: KnownRobot | None, identity: Identity, name: str) -> Visitor:
        client = Client(identity, robot, robot.name if robot else "")
        named_only = identity == "undeclared" and self._policy.undeclared.rules == "named"
        found = self._rules.of(client, name, named_only=named_only)
        kind: Kind = "program" if identity == "undeclared" else "robot"
        rules = self._place(rule_list(found.rules.groups))
        if found.timing is None:
            return Visitor(kind, rules=rules)
        self.timings.setdefault(name or "robots without a record", found.timing)
        pace = _pace(found.timing) if self._paces else None
        return Visitor(kind, rules=rules, pace=pace, pace_name=found.rules.name.lower() if pace else "")

    def _place(self, rules: RuleList) -> int:
        return self._rule_lists.setdefault(rules, len(self._rule_lists)) if rules else NO_RULES

    def _add(self, visitor: Visitor) -> int:
        return self.visitors.setdefault(visitor, len(self.visitors))


def visitors_of(rules: SiteRules, policy: Policy, records: Records, *, paces: bool) -> SiteVisitors:
    """Returns the visitors of a site with this robots.txt. `paces`: whether robots differ in their paces too."""
    found = _Visitors(rules, policy, records, paces=paces)
    listed = [*_listed_robots(rules, policy, records)]
    unusable = [robot.name for robot in records.registry.robots if robot.patterns and matches_browsers(robot.patterns)]
    robots = [robot for robot in records.registry.robots if robot.patterns and robot.name not in unusable]
    entries = [
        *(_entry(_level(robot), found.of_robot(robot), robot.name, robot.patterns) for robot in robots),
        *(_entry("listed", found.of_robot(robot), robot.name, (robot.name,)) for robot in listed),
    ]
    for token in sorted(named_agents(rules.access) - {"", "*"}):
        recorded = records.registry.find(token)
        if recorded is not None and (recorded.recorded or recorded in listed):
            continue
        entries.append(Entry(_LEVEL["named"], found.of_token(token, "unverified"), (token,), (), (token,), True))
        if not names_a_robot(token):
            entries.append(Entry(_LEVEL["token"], found.of_token(token, "undeclared"), (token,), (), (token,)))
    looks = (
        Entry(_LEVEL["word"], found.of_token("", "unverified"), ("other robots",), regex=HAS_ROBOT_WORD),
        Entry(_LEVEL["feed"], found.of_token("", "undeclared"), ("other feed readers",), regex=FEED_READER),
        Entry(_LEVEL["look"], found.of_token("", "unverified"), ("other robots",), regex=HAS_CONTACT),
    )
    telephone = Entry(_LEVEL["telephone"], found.browser(), ("telephones",), regex=LOOKS_LIKE_A_TELEPHONE)
    browser = Entry(_LEVEL["browser"], found.browser(), ("browsers and apps",), regex=LOOKS_LIKE_A_BROWSER)
    other = found.of_token("", "undeclared")
    names = {robot.name for robot in (*records.registry.robots, *listed)}
    return SiteVisitors(
        tuple(found.visitors),
        tuple(_joined([*entries, telephone, *looks, browser])),
        found.rule_lists,
        other,
        tuple(found.timings.items()),
        tuple(unusable),
        tuple(name for name in policy.robots if name not in names),
    )


def _level(robot: KnownRobot) -> str:
    return "tool" if robot.purpose == "tool" else "imitated" if robot.imitated else "record"


def _entry(level: str, visitor: int, name: str, patterns: tuple[str, ...]) -> Entry:
    return Entry(_LEVEL[level], visitor, (name,), patterns)


def _listed_robots(rules: SiteRules, policy: Policy, records: Records) -> Iterator[KnownRobot]:
    """Yields the robots that only crawler-user-agents lists, as far as they differ from robots that nobody knows: a
    group or the policy names them, or they look like robots and are tools or feed readers."""
    named = named_agents(rules.access)
    recorded = {robot.name.lower() for robot in records.registry.robots}
    for name, robot in load_crawler_user_agents().by_name.items():
        looks = robot.purpose in ("tool", "feed") and names_a_robot(robot.example or robot.name)
        matters = looks or name in named or robot.name in policy.robots
        if matters and name not in recorded and has_words(robot.name) and not matches_browsers((robot.name,)):
            yield robot


def _pace(timing: Timing) -> Pace | None:
    """Returns the pace at any hour: the slowest rate without hours, or the Crawl-delay if that is longer."""
    rates = [rate for rate in timing.rates if rate.window is None]
    slowest = max(rates, key=lambda rate: rate.gap_s, default=None)
    if slowest is not None and slowest.gap_s >= (timing.delay_s or 0.0):
        return Pace(slowest.gap_s, min(slowest.documents, MOST_BURST))
    return Pace(timing.delay_s, 1) if timing.delay_s else None


def _joined(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Joins the entries of one level that are the same visitor."""
    joined: dict[tuple[int, int, bool], Entry] = {}
    for entry in entries:
        key = (entry.level, entry.visitor, entry.robots_only)
        known = joined.get(key)
        joined[key] = (
            entry
            if known is None
            else known._replace(
                names=(*known.names, *entry.names),
                patterns=(*known.patterns, *entry.patterns),
                tokens=(*known.tokens, *entry.tokens),
            )
        )
    return iter(sorted(joined.values(), key=lambda entry: (entry.level, entry.visitor)))
