"""Which group speaks to a robot: groups → a function of the robot's name."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from goodbot.exclusion.verdict import Group

ALL: str = "*"


class Choice(NamedTuple):
    """The groups that speak to a robot, together; `name` is what they call it (`*`: all robots)."""

    groups: Sequence[Group]
    name: str


NOBODY = Choice((), "")

Chooser = Callable[[str], Choice]
"""From the robot's name, as the dialect compares it, to its groups."""

Names = Callable[[str], Iterable[str]]
"""The value of a User-agent line → the names in it as compared. `*` is all robots; an empty name is nobody's."""


def all_of_a_token(names: Names) -> Callable[[Sequence[Group]], Chooser]:
    """RFC 9309 §2.2.1: all groups of the token together, else all of `*`, else none. One look-up."""

    def chooser(groups: Sequence[Group]) -> Chooser:
        by_token: dict[str, list[Group]] = {}
        for group in groups:
            for name in {name for value in group.agents for name in names(value) if name}:
                by_token.setdefault(name, []).append(group)

        def choose(robot: str) -> Choice:
            name = robot if robot in by_token else ALL
            return Choice(by_token[name], name) if name in by_token else NOBODY

        return choose

    return chooser


def first_record(names: Names, names_robot: Callable[[str, str], bool]) -> Callable[[Sequence[Group]], Chooser]:
    """The first record with a name that `names_robot(name, robot)`, wherever `*` stands; else the first of `*`.

    A walk over all names, and only their text is compared.
    """

    def chooser(groups: Sequence[Group]) -> Chooser:
        named = [(name, group) for group in groups for value in group.agents for name in names(value) if name]
        for_all = next((Choice((group,), ALL) for name, group in named if name == ALL), NOBODY)

        def choose(robot: str) -> Choice:
            for name, group in named:
                if name != ALL and names_robot(name, robot):
                    return Choice((group,), name)
            return for_all

        return choose

    return chooser
