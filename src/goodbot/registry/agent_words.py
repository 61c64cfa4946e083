"""The words of a User-Agent, and robots found by them. Pure, one pass, whatever the text.

A pattern is one word or several that follow each other (`Googlebot-Image`, `Sogou web spider`), with `^` before it if
the User-Agent must begin with it. Words are runs of letters and digits, joined by dots and hyphens, compared without
regard to case, and a pattern matches whole words only: `bot` is not in `Cubot`, `Googlebot` not in `Googlebot-Image`.
What lies in URLs and mail addresses counts for nothing: they are where a robot is explained, not its name.
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
    """Each word in lower case, and where it begins."""
    return [(found[1].lower(), found.start()) for found in _PART.finditer(text) if found[1] is not None]


@dataclass(frozen=True, slots=True)
class _Name:
    """One pattern, from its second word on."""

    rest: Words
    first_only: bool
    robot: KnownRobot


class Names:
    """Finds robots by their patterns. The cost grows with the words of the text, not with the number of robots."""

    def __init__(self, robots: Iterable[KnownRobot]) -> None:
        self._names: dict[str, list[_Name]] = defaultdict(list)
        for robot in robots:
            for pattern in robot.patterns:
                first, *rest = (word for word, _ in words_of(pattern.removeprefix("^")))
                self._names[first].append(_Name(tuple(rest), pattern.startswith("^"), robot))
        for names in self._names.values():
            names.sort(key=lambda name: -len(name.rest))

    def find(self, text: str) -> KnownRobot | None:
        """The robot named first; but one whose name others use (`KnownRobot.imitated`) gives way to those, and a tool
        that a robot is made with gives way to the robot. A name after `like` or `following` is somebody else's."""
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
