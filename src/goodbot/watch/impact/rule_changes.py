"""Compares what a robot may fetch by the old robots.txt and by the new one."""

from enum import Enum
from typing import Final, NamedTuple

from goodbot.exclusion import Access
from goodbot.exclusion.text.product_token import first_name
from goodbot.registry import KnownRobot
from goodbot.watch.counting.judged_target import ORIGIN, judged_target
from goodbot.watch.robot_reading import RobotReading, RulesForRobot, named_agents, reading_of, reading_of_agent
from goodbot.watch.wire_text import readable

MOST_OUTCOMES: Final = 50_000
"""Outcomes of request lines that are kept from one block of a log to the next, for all robots together."""

MOST_READINGS: Final = 2_000
"""Robots whose rules are kept."""

PATH_CHARS: Final = 500
"""Characters of a path that are kept. Longer paths that begin alike are one path in a report."""

_ROBOTS_TXT: Final = "/robots.txt"


class Unchanged(Enum):
    """The verdict of a request that does not change."""

    ALLOWED = 0
    DISALLOWED = 1
    NOT_JUDGED = 2
    """No verdict: the target is not a URL of the site (`OPTIONS *`, `CONNECT`, an invalid request)."""


class Change(NamedTuple):
    """A verdict that changes, with the rule that decides: of the new file if it closes the path, else the rule of the
    old file that closed it."""

    path: str
    """The path without its query."""
    closes: bool
    rule: str | None
    """None if no rule decides, because robots.txt is unreachable."""
    line: int | None


Outcome = Unchanged | Change


class RobotChange(dict[str, Outcome]):
    """The outcomes of request lines (wire text) for robots that read the same rules, each found when it is first
    needed. Only `RuleChanges` empties it."""

    def __init__(self, old: RulesForRobot, new: RulesForRobot, site: str | None = None) -> None:
        super().__init__()
        self._site = site
        self._old = old
        self._new = new

    def __missing__(self, request: str) -> Outcome:
        target = judged_target(request, self._site)
        found = self[request] = Unchanged.NOT_JUDGED if target is None else self.outcome(target)
        return found

    def outcome(self, url: str) -> Outcome:
        """Returns the outcome for a URL (absolute, or a path with its query), which is not kept. robots.txt itself is
        open to every robot, also in dialects that do not say so."""
        if _ROBOTS_TXT in url and path_of(url) == _ROBOTS_TXT:
            return Unchanged.ALLOWED
        before, after = self._old.disallows(url), self._new.disallows(url)
        if (before is None) == (after is None):
            return Unchanged.ALLOWED if after is None else Unchanged.DISALLOWED
        decided = after or before
        assert decided is not None  # noqa: S101  (one of both is not None)
        return Change(path_of(url), after is not None, decided.rule, decided.line)


class RuleChanges:
    """The change of a robots.txt, for any robot. Robots to which the same groups apply share their outcomes."""

    def __init__(self, old: Access, new: Access, *, site: str | None = None) -> None:
        """`site` is the host of the files, if that is known (`host_name`): URLs of other hosts are not judged."""
        self._site = site
        self._accesses = {"rfc9309": (old.in_dialect("rfc9309"), new.in_dialect("rfc9309"))}
        self._of_readings: dict[RobotReading, RobotChange] = {}
        self._shared: dict[tuple[object, ...], RobotChange] = {}
        agents = [agent for access in (old, new) for group in access.rules.groups for agent in group.agents]
        self._named = named_agents(old) | named_agents(new)
        self.names = tuple({name.lower(): name for name in map(first_name, agents) if name}.values())
        """The names of the robots in either file, as last written; `*` is one of them if a group has it."""

    def of_robot(self, robot: KnownRobot) -> RobotChange:
        """Returns the outcomes for a known robot."""
        return self._of_reading(reading_of(robot))

    def of_agent(self, user_agent: str) -> RobotChange:
        """Returns the outcomes for a User-Agent, or a product token, that is not that of a known robot."""
        return self._of_reading(reading_of_agent(user_agent, self._named))

    def trim(self) -> None:
        """Forgets outcomes and rules if they are many. Outcomes that are in use stay valid."""
        if sum(map(len, self._shared.values())) > MOST_OUTCOMES:
            for outcomes in self._shared.values():
                outcomes.clear()
        if len(self._of_readings) > MOST_READINGS:
            self._of_readings.clear()
            self._shared.clear()

    def _of_reading(self, reading: RobotReading) -> RobotChange:
        found = self._of_readings.get(reading)
        if found is None:
            found = self._of_readings[reading] = self._share(reading)
        return found

    def _share(self, reading: RobotReading) -> RobotChange:
        if reading.dialect not in self._accesses:
            old, new = self._accesses["rfc9309"]
            self._accesses[reading.dialect] = old.in_dialect(reading.dialect), new.in_dialect(reading.dialect)
        old_rules, new_rules = (RulesForRobot(access, reading) for access in self._accesses[reading.dialect])
        alone = reading if reading.named_only else None
        groups = (tuple(map(id, rules.groups)) for rules in (old_rules, new_rules))
        key = (reading.dialect, alone, *groups)
        return self._shared.setdefault(key, RobotChange(old_rules, new_rules, self._site))


def path_of(url: str) -> str:
    """Returns the path of a URL without query and fragment, cut to `PATH_CHARS`."""
    found = ORIGIN.match(url)
    path = url[found.end() if found else 0 :].partition("#")[0].partition("?")[0]
    path = readable(path)
    return (path if len(path) <= PATH_CHARS else f"{path[:PATH_CHARS]}…") or "/"
