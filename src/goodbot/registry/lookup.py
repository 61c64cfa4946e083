"""Finds robots by their User-Agent and by their names in robots.txt."""

from functools import cache, lru_cache
from typing import Final

from goodbot.registry.agent_words import NamePatterns
from goodbot.registry.crawler_user_agents import load_crawler_user_agents
from goodbot.registry.robot import KnownRobot, Purpose
from goodbot.registry.robot_records import load_records

MAX_READ: Final = 2048
"""How many characters of a User-Agent are searched for a name."""

MAX_CACHED: Final = 16_384
"""How many User-Agents are cached with their robots: at most 34 MB, 4 MB for those of real logs."""

MAX_TOKEN: Final = 64


def robots() -> tuple[KnownRobot, ...]:
    """Returns every robot with a record of our own, by operator; not those that only crawler-user-agents lists."""
    return load_records().robots


def find(user_agent: str) -> KnownRobot | None:
    """Finds the robot that a User-Agent names, by our own records, else by crawler-user-agents; None for browsers and
    unknown robots. Never raises. Takes 30 µs, or 0.2 µs for a User-Agent in the cache.
    """
    return _find(user_agent.strip()[:MAX_READ])


@lru_cache(maxsize=MAX_CACHED)
def _find(text: str) -> KnownRobot | None:
    return _names().find(text) or _tokens().get(text.lower()) or load_crawler_user_agents().find(text)


@cache
def _names() -> NamePatterns:
    return NamePatterns(robots())


def find_token(token: str) -> KnownRobot | None:
    """Finds the robot with this product token, in any case; else the robot of crawler-user-agents with this name (its
    `recorded` is False)."""
    return _tokens().get(token.strip().lower()) or load_crawler_user_agents().by_name.get(token.strip().lower())


@cache
def _tokens() -> dict[str, KnownRobot]:
    aliases = {alias.lower(): robot for robot in robots() for alias in robot.aliases}
    return aliases | {robot.token.lower(): robot for robot in reversed(robots()) if robot.token}


def tokens_for(*purposes: Purpose) -> list[str]:
    """Returns the product tokens that a robots.txt must name to address all robots with these purposes; control tokens
    are included, retired ones are not."""
    return [robot.token for robot in robots() if robot.purpose in purposes and robot.token and not robot.retired]


def similar_tokens(token: str, most: int = 3) -> list[str]:
    """Suggests recorded product tokens for one that is misspelt, nearest first.

    Suggested are tokens that differ by at most two letters (added, left out, changed or swapped; one in names of fewer
    than six letters), or, if there are none, tokens that begin with this one (`bing`). Retired tokens are never
    suggested, and a recorded token gets no suggestions. Takes 2 ms.
    """
    written = token.strip().lower()
    if not written or len(written) > MAX_TOKEN or written in _tokens():
        return []
    is_short_bot = len(written) == 5 and written.endswith("bot")  # Cubot: another first letter is another name
    limit = 0 if is_short_bot else 1 if len(written) < 6 else 2
    known = {name: robot.token or name for name, robot in _tokens().items() if not robot.retired}
    near = sorted((distance, token) for name, token in known.items() if (distance := _edits(written, name)) <= limit)
    longer = [token for name, token in known.items() if len(written) >= 4 and name.startswith(written)]
    return ([token for _, token in near] or sorted(longer, key=lambda token: (len(token), token)))[:most]


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
