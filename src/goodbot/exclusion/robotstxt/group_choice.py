"""Which group applies to a robot: groups → a function of the robot's name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from goodbot.exclusion.verdict import Group, Record

ALL: str = "*"
_WALKS = 3
"""How many robots are looked for before all names are put in order."""


class Choice(NamedTuple):
    """The groups that apply to a robot, together; `name` is the name under which they apply to it (`*`: all robots).

    `names_robot` says whether the value of a User-agent line is a name of that robot.
    """

    groups: Sequence[Group]
    name: str
    names_robot: Callable[[str], bool]

    def records(self) -> Iterator[Record]:
        """The records of these groups that count for the robot, in order: all rules, and what stands directly below
        its own names."""
        for group in self.groups:
            yield from group.records_for(self.names_robot)


NOBODY = Choice((), "", lambda value: False)

Chooser = Callable[[str], Choice]
"""From the robot's name, as the dialect compares it, to its groups."""

Names = Callable[[str], Iterable[str]]
"""The value of a User-agent line → the names in it as compared. `*` is all robots; an empty name addresses no robot."""


def all_of_a_token(names: Names) -> Callable[[Sequence[Group]], Chooser]:
    """RFC 9309 §2.2.1: all groups of the token together, else all of `*`, else none. One look-up, after some walks."""

    def chooser(groups: Sequence[Group]) -> Chooser:
        asked = 0
        by_token: dict[str, list[Group]] | None = None

        def choose(robot: str) -> Choice:
            nonlocal asked, by_token
            if asked < _WALKS:
                asked += 1
                return _of_token(groups, names, robot) or _of_token(groups, names, ALL) or NOBODY
            if by_token is None:
                by_token = _by_token(groups, names)
            name = robot if robot in by_token else ALL
            return _choice(by_token[name], name, names) if name in by_token else NOBODY

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
    """A walk, in which only the lines are read that hold the token."""
    found = list[Group]()
    for group in groups if robot else ():
        for value in group.agents:
            if robot in value.lower() and robot in names(value):
                found.append(group)
                break
    return _choice(found, robot, names) if found else None


def first_record(names: Names, names_robot: Callable[[str, str], bool]) -> Callable[[Sequence[Group]], Chooser]:
    """The first record with a name that `names_robot(name, robot)`, wherever `*` stands; else the first of `*`.

    A walk over all names, and only their text is compared.
    """

    def chooser(groups: Sequence[Group]) -> Chooser:
        named = [(name, group) for group in groups for value in group.agents for name in names(value) if name]
        for_all = next((_choice((group,), ALL, names) for name, group in named if name == ALL), NOBODY)

        def choose(robot: str) -> Choice:
            def is_named(value: str) -> bool:
                return any(name and name != ALL and names_robot(name, robot) for name in names(value))

            for name, group in named:
                if name != ALL and names_robot(name, robot):
                    return Choice((group,), name, is_named)
            return for_all

        return choose

    return chooser
