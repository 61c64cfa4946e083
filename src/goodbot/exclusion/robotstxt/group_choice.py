"""Finds the groups that apply to a robot, by its name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from goodbot.exclusion.verdict import Group, Record

ALL: str = "*"
_SCANS = 3
"""The number of look-ups that scan the groups. Later ones use an index of all names."""


class Choice(NamedTuple):
    """The groups that apply to a robot. `name` is the name under which they apply to it (`*`: all robots).

    `names_robot` says whether the value of a User-agent line names that robot.
    """

    groups: Sequence[Group]
    name: str
    names_robot: Callable[[str], bool]

    def records(self) -> Iterator[Record]:
        """Yields the records that apply to the robot, in order: all rules of these groups, and the other records
        directly below its own names."""
        for group in self.groups:
            yield from group.records_for(self.names_robot)

    def other_records(self) -> Iterator[Record]:
        """Yields the records that are not rules, and perhaps some rules. Reads fewer lines than `records`."""
        for group in self.groups:
            yield from group.records_for(self.names_robot, others=True)


NO_GROUPS = Choice((), "", lambda value: False)

Chooser = Callable[[str], Choice]
"""Returns the groups that apply to a robot, given its name as the dialect compares it."""

Names = Callable[[str], Iterable[str]]
"""Returns the names in the value of a User-agent line, as they are compared. `*` means all robots, an empty name no
robot."""


def all_of_a_token(names: Names) -> Callable[[Sequence[Group]], Chooser]:
    """Chooses as RFC 9309 §2.2.1 says: all groups that name the token, else all groups of `*`, else none. The first few
    robots cost a scan each, later ones a look-up."""

    def chooser(groups: Sequence[Group]) -> Chooser:
        scans = 0
        by_token: dict[str, list[Group]] | None = None

        def choose(robot: str) -> Choice:
            nonlocal scans, by_token
            if scans < _SCANS:
                scans += 1
                return _of_token(groups, names, robot) or _of_token(groups, names, ALL) or NO_GROUPS
            if by_token is None:
                by_token = _by_token(groups, names)
            name = robot if robot in by_token else ALL
            return _choice(by_token[name], name, names) if name in by_token else NO_GROUPS

        return choose

    return chooser


def _choice(groups: Sequence[Group], name: str, names: Names) -> Choice:
    return Choice(groups, name, lambda value: name in names(value))


def _by_token(groups: Sequence[Group], names: Names) -> dict[str, list[Group]]:
    by_token: dict[str, list[Group]] = {}
    for group in groups:
        for name in {name for value in group.agents for name in names(value) if name}:
            by_token.setdefault(name, []).append(group)
    return by_token


def _of_token(groups: Sequence[Group], names: Names, robot: str) -> Choice | None:
    """Scans the groups, and reads only the User-agent lines that contain the token."""
    found: list[Group] = []
    for group in groups if robot else ():
        for value in group.agents:
            if robot in value.lower() and robot in names(value):
                found.append(group)
                break
    return _choice(found, robot, names) if found else None


def first_record(names: Names, names_robot: Callable[[str, str], bool]) -> Callable[[Sequence[Group]], Chooser]:
    """Chooses the first group for whose name `names_robot(name, robot)` holds, even if a group of `*` comes first; else
    the first group of `*`.

    A scan over all names, which only compares their text.
    """

    def chooser(groups: Sequence[Group]) -> Chooser:
        named = [(name, group) for group in groups for value in group.agents for name in names(value) if name]
        for_all = next((_choice((group,), ALL, names) for name, group in named if name == ALL), NO_GROUPS)

        def choose(robot: str) -> Choice:
            def is_named(value: str) -> bool:
                return any(name and name != ALL and names_robot(name, robot) for name in names(value))

            for name, group in named:
                if name != ALL and names_robot(name, robot):
                    return Choice((group,), name, is_named)
            return for_all

        return choose

    return chooser
