"""Loads the records of robots: one TOML file per operator, with its robots and the address lists that it publishes.

operator = "OpenAI"
looked_up = 2026                       # the year of every fact below
source = "https://…"                   # where they were found; a robot may have its own

[[list]]                               # address ranges
name = "openai-gptbot"                 # the file in ranges/, if the list is bundled
url = "https://openai.com/gptbot.json"

[[robot]]                              # the fields of `KnownRobot`
name = "GPTBot"
…
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from goodbot.registry.robot import KnownRobot

_SHARED = ("operator", "looked_up", "source")
_FIELDS = {field.name for field in fields(KnownRobot)} - {"recorded"}


@dataclass(frozen=True, slots=True)
class ListName:
    """A list of addresses that an operator publishes."""

    name: str
    url: str
    operator: str


@dataclass(frozen=True, slots=True)
class Records:
    """All records: the robots, by operator, and the address lists, by name."""

    robots: tuple[KnownRobot, ...]
    lists: dict[str, ListName]


@cache
def load_records() -> Records:
    """Loads all files of `records/`, in the order of their names. They are read once, which takes about 25 ms."""
    robots: list[KnownRobot] = []
    lists: dict[str, ListName] = {}
    for file in sorted(files(__package__).joinpath("records").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            document = tomllib.loads(file.read_text(encoding="utf-8"))
            robots += parse_robots(document)
            for entry in document.get("list", ()):
                lists[entry["name"]] = ListName(entry["name"], entry["url"], document["operator"])
    return Records(tuple(robots), lists)


def parse_robots(document: dict[str, Any]) -> list[KnownRobot]:
    """Reads the robots of one file. Raises KeyError, TypeError or ValueError for a malformed record; the tests check
    that there is none."""
    shared = {key: document[key] for key in _SHARED}
    robots = []
    for entry in document["robot"]:
        if unknown := set(entry) - _FIELDS:
            raise ValueError(f"{entry['name']}: unknown fields {sorted(unknown)}")
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        robots.append(KnownRobot(**{**shared, **values}))
    return robots
