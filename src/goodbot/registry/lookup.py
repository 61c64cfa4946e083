"""Finds robots by their User-Agent and by their names in robots.txt."""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache
from typing import Final

from goodbot.errors import InputError, quoted
from goodbot.registry.agent_words import NamePatterns
from goodbot.registry.crawler_user_agents import load_crawler_user_agents
from goodbot.registry.robot import KnownRobot, Purpose
from goodbot.registry.robot_records import ListName, Records, load_records

MAX_READ: Final = 2048
"""How many characters of a User-Agent are searched for a name."""

MAX_CACHED: Final = 16_384
"""How many User-Agents are cached with their robots: at most 34 MB, 4 MB for those of real logs."""

MAX_TOKEN: Final = 64


class Registry:
    """Finds robots in the records: ours, and before them the user's own.

    Of several records with one name or one pattern, the first counts; so a user's record replaces ours. Raises
    InputError if a user's record names an address list that does not exist. Each registry has a cache of its own.
    """

    def __init__(self, *own: Records) -> None:
        self._own = own
        robots: dict[str, KnownRobot] = {}
        lists: dict[str, ListName] = {}
        for records in (*own, load_records()):
            for robot in records.robots:
                robots.setdefault(robot.name.lower(), robot)
            lists = {**records.lists, **lists}
        self.robots: Final = tuple(robots.values())
        """Every robot with a record; not those that only crawler-user-agents lists."""
        self.lists: Final = lists
        """The address lists by name."""
        _check_lists(self.robots, lists)
        self._find = lru_cache(maxsize=MAX_CACHED)(self._look_up)

    def __reduce__(self) -> tuple[type["Registry"], tuple[Records, ...]]:
        """A copy for another process begins with an empty cache."""
        return Registry, self._own

    def find(self, user_agent: str) -> KnownRobot | None:
        """Finds the robot that a User-Agent names, by the records, else by crawler-user-agents; None for browsers and
        unknown robots. Never raises. Takes 30 µs, or 0.2 µs for a User-Agent in the cache.
        """
        return self._find(user_agent.strip()[:MAX_READ])

    def _look_up(self, text: str) -> KnownRobot | None:
        robot = self._names.find(text) or self._tokens.get(text.lower())
        if robot is not None:
            return robot
        listed = load_crawler_user_agents().find(text)
        if listed is not None and listed.name.lower() in self._recorded:  # a longer word than the name: `GPTBotty`
            return None
        return listed

    def find_token(self, token: str) -> KnownRobot | None:
        """Finds the robot with this product token, in any case; else the robot of crawler-user-agents with this name
        (its `recorded` is False)."""
        name = token.strip().lower()
        return self._tokens.get(name) or load_crawler_user_agents().by_name.get(name)

    def find_named(self, name: str) -> KnownRobot | None:
        """Finds the robot whose record has this name, in any case; else the one with this product token."""
        wanted = name.strip().lower()
        named = next((robot for robot in self.robots if robot.name.lower() == wanted), None)
        return named or self.find_token(name)

    def similar_tokens(self, token: str, most: int = 3) -> list[str]:
        """Suggests recorded product tokens for one that is misspelt, nearest first.

        Suggested are tokens that differ by at most two letters (added, left out, changed or swapped; one in names of
        fewer than six letters), or, if there are none, tokens that begin with this one (`bing`). Retired tokens are
        never suggested, and a recorded token gets no suggestions. Takes 2 ms.
        """
        written = token.strip().lower()
        if not written or len(written) > MAX_TOKEN or written in self._tokens:
            return []
        is_short_bot = len(written) == 5 and written.endswith("bot")  # Cubot: another first letter is another name
        limit = 0 if is_short_bot else 1 if len(written) < 6 else 2
        known = {name: robot.token or name for name, robot in self._tokens.items() if not robot.retired}
        near = sorted(
            (distance, token) for name, token in known.items() if (distance := _edits(written, name)) <= limit
        )
        longer = [token for name, token in known.items() if len(written) >= 4 and name.startswith(written)]
        return ([token for _, token in near] or sorted(longer, key=lambda token: (len(token), token)))[:most]

    @cached_property
    def _names(self) -> NamePatterns:
        return NamePatterns(self.robots)

    @cached_property
    def _recorded(self) -> frozenset[str]:
        """The names and tokens of robots with a record, in lower case."""
        return frozenset({robot.name.lower() for robot in self.robots} | self._tokens.keys())

    @cached_property
    def _tokens(self) -> dict[str, KnownRobot]:
        aliases = {alias.lower(): robot for robot in reversed(self.robots) for alias in robot.aliases}
        return aliases | {robot.token.lower(): robot for robot in reversed(self.robots) if robot.token}


def _check_lists(robots: Iterable[KnownRobot], lists: Mapping[str, ListName]) -> None:
    for robot in robots:
        if missing := [name for name in robot.address_lists if name not in lists]:
            place = f"{robot.own_file}: robot {quoted(robot.name)}"
            raise InputError(f"{place}: address_lists names {quoted(missing[0])}, which is no list on record")


# ---- the records that come with goodbot -----------------------------------------------------------------------------


@cache
def bundled_registry() -> Registry:
    """Returns the registry of our records, without any of the user's."""
    return Registry()


def robots() -> tuple[KnownRobot, ...]:
    """Returns every robot with a record of our own, by operator; not those that only crawler-user-agents lists."""
    return bundled_registry().robots


def find(user_agent: str) -> KnownRobot | None:
    """Finds a robot by our own records; see `Registry.find`."""
    return bundled_registry().find(user_agent)


def find_token(token: str) -> KnownRobot | None:
    """Finds a robot by our own records; see `Registry.find_token`."""
    return bundled_registry().find_token(token)


def tokens_for(*purposes: Purpose) -> list[str]:
    """Returns the product tokens that a robots.txt must name to address all robots with these purposes; control tokens
    are included, retired ones are not."""
    return [robot.token for robot in robots() if robot.purpose in purposes and robot.token and not robot.retired]


def similar_tokens(token: str, most: int = 3) -> list[str]:
    """Suggests recorded product tokens for one that is misspelt; see `Registry.similar_tokens`."""
    return bundled_registry().similar_tokens(token, most)


def _edits(one: str, other: str) -> int:
    """Counts the letters added, left out, changed or swapped with the next one (optimal string alignment); 3 if the
    lengths differ by more than 2."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row, before, last = [i], row, before
        for j, other_letter in enumerate(other, 1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (letter != other_letter))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == other_letter:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
