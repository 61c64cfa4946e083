"""How a robot reads a robots.txt: by which names, in which dialect."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.exclusion.text.product_token import first_name, product_token
from goodbot.registry import KnownRobot

DIALECTS: Final = {"Google": "google"}
"""Operators whose robots are known to read another dialect than that of RFC 9309. Source: Google's documentation of
robots.txt, with its open parser."""


EVERY_ROBOT: Final = ""
"""The name of a robot that no group names."""

MAX_AGENT_CHARS: Final = 2048
"""Characters of a User-Agent in which a name is searched."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9_-]")
"""A word that may be a product token."""


@dataclass(frozen=True, slots=True)
class RobotReading:
    """What decides which rules apply to a robot."""

    names: tuple[str, ...]
    """Product tokens or a User-Agent, at least one: the first that a group names counts."""
    dialect: str = "rfc9309"
    named_only: bool = False
    """Whether it ignores groups for `*`."""


def reading_of(robot: KnownRobot) -> RobotReading:
    """Returns how a known robot reads robots.txt, according to its record."""
    dialect = DIALECTS.get(robot.operator or "", "rfc9309")
    return RobotReading((robot.token or robot.name, *robot.aliases), dialect, robot.obeys == "named")


def reading_of_agent(user_agent: str, named: frozenset[str]) -> RobotReading:
    """Returns how a robot without a record has to read robots.txt: as RFC 9309 says. `named` are the names of all
    groups (`named_agents`). If its product token is not among them, another word of its User-Agent counts that is:
    some robots put their name last."""
    token = product_token(user_agent).lower()
    if token in named:
        return RobotReading((token,))
    words = (word.lower() for word in _NAME.findall(user_agent[:MAX_AGENT_CHARS]))
    return RobotReading((next((word for word in words if word in named), EVERY_ROBOT),))


class RulesForRobot:
    """The rules of one robots.txt for one robot. No method raises for the text of a URL."""

    def __init__(self, access: Access, reading: RobotReading) -> None:
        self._access = access if access.dialect == reading.dialect else access.in_dialect(reading.dialect)
        named = named_agents(self._access) if len(reading.names) > 1 or reading.named_only else frozenset[str]()
        own = [name for name in reading.names if product_token(name).lower() in named]
        self.name: Final = own[0] if own else reading.names[0]
        """The name by which groups are chosen."""
        self._is_free = reading.named_only and not own
        matcher = self._access.rules.matcher(self.name)
        self._allows: Callable[[str], bool] = matcher.allows
        self._matcher = matcher if self._access.result == "successful" else None
        self.groups: Final = () if self._is_free else tuple(matcher.groups)
        """The groups that apply."""

    def disallows(self, url: str) -> Verdict | None:
        """Returns the verdict if the robot may not fetch a URL (absolute, or a path with its query); None if it may.
        Takes about 1 µs if it may, some 20 µs if not."""
        if self._is_free or self._allows(url):
            return None
        if self._matcher is not None:  # the access may have dropped it, and would compile the rules again
            verdict = self._matcher.verdict(url, self._access.result, self._access.valid_until)
        else:
            verdict = self._access.verdict(url, self.name)
        return None if verdict.allowed else verdict

    @property
    def timing(self) -> Timing:
        """When and how often the robot may come. Each access reads it anew."""
        return Timing() if self._is_free else self._access.rules.timing(self.name)


def named_agents(access: Access) -> frozenset[str]:
    """Returns the names of all groups in lower case, as the dialects read them."""
    agents = (agent for group in access.rules.groups for agent in group.agents)
    return frozenset(name(agent).lower() for agent in agents for name in (first_name, product_token))
