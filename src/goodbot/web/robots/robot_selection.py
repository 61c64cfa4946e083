"""Selects robots of the directory by a search and by filters. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Final

from goodbot.errors import InputError
from goodbot.registry import KnownRobot, Registry
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS, WAY_WORDS, ways_of

MAX_CHARS: Final = 500
"""How many characters of each parameter count."""

ROBOTS_PER_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Selection:
    """The robots that a visitor wants to see: with all words of `q` in their names, operator or patterns, or named by
    `q`, a User-Agent; and with the values of the other fields. An empty field selects all."""

    q: str = ""
    purpose: str = ""
    operator: str = ""
    verify: str = ""
    obeys: str = ""

    @property
    def state(self) -> dict[str, str]:
        """The parameters of the URL of the first page."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a filter: its name for people, and how many robots have it."""

    value: str
    name: str
    count: int


_FIELDS: Final = tuple(field.name for field in fields(Selection))
_CHOICES: Final[Mapping[str, Collection[str]]] = {"purpose": PURPOSE_WORDS, "verify": WAY_WORDS, "obeys": OBEYS_WORDS}


def read_selection(parameters: Mapping[str, str]) -> Selection:
    """Reads the parameters. Raises InputError for an unknown purpose, way or degree of obedience. An unknown operator
    has no robots."""
    given = {name: parameters.get(name, "")[:MAX_CHARS] for name in _FIELDS}
    given.update({name: given[name].strip() for name in ("q", "operator")})
    for name, choices in _CHOICES.items():
        if given[name] and given[name] not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}")
    return Selection(**given)


def selected(registry: Registry, wanted: Selection) -> list[KnownRobot]:
    """Returns the robots, sorted by name. Of a search, first the one that `q` names, then those whose name begins
    with it."""
    typed = wanted.q.lower()
    words, named = typed.split(), registry.find(wanted.q) if typed else None
    found = [
        robot for robot in registry.robots if (robot is named or _has_words(robot, words)) and all(_fits(robot, wanted))
    ]
    return sorted(found, key=lambda robot: (robot is not named, not _begins(robot, typed), robot.name.lower()))


def _has_words(robot: KnownRobot, words: Iterable[str]) -> bool:
    names = (robot.name, robot.operator or "", robot.token or "", *robot.aliases, *robot.patterns)
    text = "\n".join(names).lower()
    return all(word in text for word in words)


def _fits(robot: KnownRobot, wanted: Selection) -> Iterable[bool]:
    yield wanted.purpose in ("", robot.purpose)
    yield wanted.operator.lower() in ("", (robot.operator or "").lower())
    yield not wanted.verify or wanted.verify in ways_of(robot)
    yield wanted.obeys in ("", robot.obeys)


def _begins(robot: KnownRobot, typed: str) -> bool:
    return any(name.lower().startswith(typed) for name in (robot.name, robot.token) if name)


# ---- what the form offers -------------------------------------------------------------------------------------------


def choices_of(robots: Collection[KnownRobot]) -> dict[str, list[Choice]]:
    """Returns the values of each filter that some robots have: operators by name, the others in their usual order."""
    purposes = Counter(robot.purpose for robot in robots)
    operators = Counter(robot.operator for robot in robots if robot.operator)
    ways = Counter(way for robot in robots for way in ways_of(robot))
    obeys = Counter(robot.obeys for robot in robots)
    return {
        "purpose": [Choice(key, words.name, purposes[key]) for key, words in PURPOSE_WORDS.items() if purposes[key]],
        "operator": [Choice(name, name, operators[name]) for name in sorted(operators, key=str.lower)],
        "verify": [Choice(way, name, ways[way]) for way, name in WAY_WORDS.items() if ways[way]],
        "obeys": [Choice(key, name, obeys[key]) for key, name in OBEYS_WORDS.items() if obeys[key]],
    }


def page_of(text: str, robots: int) -> int:
    """Returns the number of the page that a parameter names, from 1 to the last page; anything else is the first."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 1
    return max(1, min(number, pages_for(robots)))


def pages_for(robots: int) -> int:
    """Returns how many pages show so many robots."""
    return max(1, -(-robots // ROBOTS_PER_PAGE))
