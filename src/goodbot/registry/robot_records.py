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

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, Final

from goodbot.registry.robot import KnownRobot
from goodbot.url import parse_url

SHARED: Final = ("operator", "looked_up", "source")
"""Fields that a file may set once for all its robots."""

ROBOT_FIELDS: Final = frozenset(field.name for field in fields(KnownRobot)) - {"recorded", "own_file"}
"""Fields that a record may have."""

_MAILBOX: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,9}")


@dataclass(frozen=True, slots=True)
class ListName:
    """A list of addresses that an operator publishes."""

    name: str
    url: str
    operator: str


@dataclass(frozen=True, slots=True)
class Records:
    """The records of some robots, by operator, and of the address lists, by name."""

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
    """Reads the robots of one file. Raises KeyError, TypeError or ValueError for a malformed record. Only the names of
    the fields and the contact are checked here; `own_records.parse_records` checks everything."""
    shared = {key: document[key] for key in SHARED}
    robots = []
    for entry in document["robot"]:
        if unknown := set(entry) - ROBOT_FIELDS:
            raise ValueError(f"{entry['name']}: unknown fields {sorted(unknown)}")
        if "contact" in entry and not is_contact(entry["contact"]):
            raise ValueError(f"{entry['name']}: contact must be a mail address or an http(s) URL")
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        robots.append(KnownRobot(**{**shared, **values}))
    return robots


def is_contact(value: object) -> bool:
    """Whether a value is a mail address, or the http(s) URL of a page."""
    return isinstance(value, str) and (_MAILBOX.fullmatch(value) is not None or is_web_url(value))


def is_web_url(value: object) -> bool:
    """Whether a value is a whole http(s) URL in printable ASCII, of at most 500 characters."""
    if not isinstance(value, str) or len(value) > 500 or not value.isascii() or not value.isprintable():
        return False
    return " " not in value and value.lower().startswith(("http://", "https://")) and parse_url(value) is not None
