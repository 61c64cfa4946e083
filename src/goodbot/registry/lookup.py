"""Robots by what they send, and by their names in robots.txt."""

from functools import cache, lru_cache
from typing import Final

from goodbot.registry.agent_words import Names
from goodbot.registry.base import load_base
from goodbot.registry.robot import KnownRobot, Purpose
from goodbot.registry.robot_records import load_records

READ_MOST: Final = 2048
"""Characters of a User-Agent that are read: a name that stands later was not meant to be read."""

REMEMBERED: Final = 16_384
"""User-Agents whose answer is kept: 34 MB at most, 4 MB for those of real logs."""

TOKEN_MOST: Final = 64


def robots() -> tuple[KnownRobot, ...]:
    """Every robot recorded here, by operator; not those that only crawler-user-agents knows."""
    return load_records().robots


def find(user_agent: str) -> KnownRobot | None:
    """The robot whose name stands in a User-Agent, by our own records, else by crawler-user-agents; None for browsers
    and what nobody knows. Never raises. Answers are remembered: 0.2 µs; a new one takes 30.
    """
    return _find(user_agent.strip()[:READ_MOST])


@lru_cache(maxsize=REMEMBERED)
def _find(text: str) -> KnownRobot | None:
    return _names().find(text) or _tokens().get(text.lower()) or load_base().find(text)


@cache
def _names() -> Names:
    return Names(robots())


def find_token(token: str) -> KnownRobot | None:
    """The robot that goes by this product token in robots.txt, whatever the case; a name that only crawler-user-agents
    knows counts as well (`KnownRobot.recorded` is False then)."""
    return _tokens().get(token.strip().lower()) or load_base().by_name.get(token.strip().lower())


@cache
def _tokens() -> dict[str, KnownRobot]:
    aliases = {alias.lower(): robot for robot in robots() for alias in robot.aliases}
    return aliases | {robot.token.lower(): robot for robot in reversed(robots()) if robot.token}


def tokens_for(*purposes: Purpose) -> list[str]:
    """The product tokens of robots for these purposes, control tokens among them, retired ones not: what a robots.txt
    names to speak to all of them."""
    return [robot.token for robot in robots() if robot.purpose in purposes and robot.token and not robot.retired]


def similar_tokens(token: str, most: int = 3) -> list[str]:
    """Recorded product tokens that may have been meant, nearest first: at most two letters added, left out, changed or
    swapped, one in names of fewer than six; if there are none, those that begin so (`bing`). None of a token that is
    recorded, and none that is retired. Takes 2 ms."""
    wanted = token.strip().lower()
    if not wanted or len(wanted) > TOKEN_MOST or wanted in _tokens():
        return []
    limit = 1 if len(wanted) < 6 else 2
    known = {name: robot.token or name for name, robot in _tokens().items() if not robot.retired}
    near = sorted((distance, token) for name, token in known.items() if (distance := _steps(wanted, name)) <= limit)
    begun = [token for name, token in known.items() if len(wanted) >= 4 and name.startswith(wanted)]
    return ([token for _, token in near] or sorted(begun, key=lambda token: (len(token), token)))[:most]


def _steps(one: str, other: str) -> int:
    """Letters added, left out, changed, or swapped with their neighbour (optimal string alignment)."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row, before, last = [i], row, before
        for j, against in enumerate(other, 1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
