"""Finds robots by the words of a User-Agent. Pure, in one pass, for any text.

A pattern is one word or several consecutive words (`Googlebot-Image`, `Sogou web spider`), with `^` in front if the
User-Agent must begin with it. Words are letters and digits, joined by dots and hyphens; case does not matter. A pattern
matches whole words only: `bot` does not match `Cubot`, `Googlebot` does not match `Googlebot-Image`. Words inside URLs
and mail addresses are skipped: these point to a robot's documentation and do not name it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from goodbot.registry.robot import KnownRobot

_PART: Final = re.compile(r"(?i:https?)://[^\s;,()<>\"']*+|([^\W_]++(?:[.\-]++[^\W_]++)*+)(?!@)")

_COMPARED: Final = frozenset({"like", "following"})

Words = tuple[str, ...]


def words_of(text: str) -> list[tuple[str, int]]:
    """Returns each word in lower case with the place where it begins."""
    return [(found[1].lower(), found.start()) for found in _PART.finditer(text) if found[1] is not None]


@dataclass(frozen=True, slots=True)
class _Name:
    """A pattern without its first word."""

    rest: Words
    first_only: bool
    robot: KnownRobot


class NamePatterns:
    """Finds robots by their patterns. The time grows with the length of the text, not with the number of robots."""

    def __init__(self, robots: Iterable[KnownRobot]) -> None:
        self._names: dict[str, list[_Name]] = defaultdict(list)
        for robot in robots:
            for pattern in robot.patterns:
                first, *rest = (word for word, _ in words_of(pattern.removeprefix("^")))
                self._names[first].append(_Name(tuple(rest), pattern.startswith("^"), robot))
        for names in self._names.values():
            names.sort(key=lambda name: -len(name.rest))

    def find(self, text: str) -> KnownRobot | None:
        """Returns the robot that is named first, or None.

        Robots whose names others use too (`KnownRobot.imitated`) count only if no other robot is named, and tools
        (libraries that robots are made with) only if no robot at all is named. A name after `like` or `following` does
        not count: it is that of another robot, to which the sender compares itself.
        """
        placed = words_of(text)
        words = tuple(word for word, _ in placed)
        best: KnownRobot | None = None
        for number, (word, start) in enumerate(placed):
            if number and words[number - 1] in _COMPARED:
                continue
            for name in self._names.get(word, ()):
                after = words[number + 1 : number + 1 + len(name.rest)]
                if after == name.rest and (start == 0 or not name.first_only):
                    if best is None or _rank(name.robot) < _rank(best):
                        best = name.robot
                    break
        return best


def _rank(robot: KnownRobot) -> int:
    return 2 if robot.purpose == "tool" else int(robot.imitated)
