"""Reads the records of robots that a user wrote, in the form of `robot_records`, and checks every field.

A user's record needs only a `name` and a `purpose`. Without `patterns` its token, or else its name, identifies it. With
`signatures` the patterns may be empty: then only its signatures identify it.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.registry.agent_words import NamePatterns, words_of
from goodbot.registry.robot import OBEYS, PURPOSES, KnownRobot
from goodbot.registry.robot_records import ROBOT_FIELDS, SHARED, ListName, Records, is_contact, is_web_url
from goodbot.url import public_suffixes

MAX_BYTES: Final = 1024 * 1024
"""The longest file of records that is read; the longest of ours has 15 kB."""

MAX_TEXT: Final = 500
MAX_EXAMPLE: Final = 2048
MAX_ITEMS: Final = 100

BROWSERS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/18.6 Mobile/15E148 Safari/604",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
)
"""User-Agents that no pattern of a robot may match: it would make robots of people."""

_LIST_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DOMAIN: Final = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,9}")


def parse_records(body: bytes, file: str, year: int) -> Records:
    """Reads a user's file of records. `year`: when the facts were looked up, if the file does not say it.

    Raises InputError, naming the file, the robot and the field, for anything that is not a record. Bytes that are not
    TOML are refused too, and files over `MAX_BYTES`.
    """
    document = _load(body, file)
    if unknown := sorted(document.keys() - {*SHARED, "robot", "list"}):
        raise InputError(f"{file}: unknown field {quoted(unknown[0])}; a file has {', '.join(SHARED)}, robot and list")
    shared: dict[str, Any] = {name: document[name] for name in SHARED if name in document}
    _check(shared, file)
    lists = [_list(entry, file, shared.get("operator")) for entry in _tables(document.get("list", []), "list", file)]
    names = [each.name for each in lists]
    _refuse_repeated(names, "list", file)
    return Records(parse_tables(document.get("robot", []), file, year, shared), dict(zip(names, lists, strict=True)))


def parse_tables(
    value: object, file: str, year: int, shared: Mapping[str, Any] | None = None
) -> tuple[KnownRobot, ...]:
    """Reads the tables `[[robot]]` of a file, such as goodbot.toml. `shared`: checked fields of the whole file. Raises
    InputError as `parse_records` does."""
    defaults = {"operator": None, "looked_up": year, "source": file, **(shared or {})}
    robots = tuple(_robot(entry, file, defaults) for entry in _tables(value, "robot", file))
    _refuse_repeated([robot.name.lower() for robot in robots], "robot", file)
    return robots


def _load(body: bytes, file: str) -> dict[str, Any]:
    if len(body) > MAX_BYTES:
        raise InputError(f"{file} has more than {MAX_BYTES:,} bytes, which is too long for records of robots")
    try:
        return tomllib.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # tomllib also raises plain ValueErrors, such as for long numbers
        raise InputError(f"{file} is not TOML: {shown(str(error)) or 'it is nested too deeply'}") from error


def _tables(value: object, name: str, file: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise InputError(f"{file}: {name} must be tables, each headed [[{name}]]")
    return value


def _robot(entry: dict[str, Any], file: str, defaults: Mapping[str, Any]) -> KnownRobot:
    place = _place(entry, "robot", file)
    if unknown := sorted(entry.keys() - ROBOT_FIELDS):
        raise InputError(f"{place}: unknown field {quoted(unknown[0])}")
    for needed in ("name", "purpose"):
        if needed not in entry:
            raise InputError(f"{place}: {needed} is missing")
    _check(entry, place)
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    robot = KnownRobot(**{**defaults, **given}, own_file=file)
    only_signs = robot.signatures and "patterns" in entry
    if not (robot.patterns or robot.control or only_signs):
        robot = KnownRobot(**{**defaults, **given, "patterns": (robot.token or robot.name,)}, own_file=file)
    if not all(map(_is_pattern, robot.patterns)):
        raise InputError(f"{place}: its name has no word to look for in a User-Agent; give it patterns")
    if matches_browsers(robot.patterns):
        raise InputError(f"{place}: its patterns also match browsers; give it words that only the robot sends")
    return robot


def matches_browsers(patterns: Sequence[str]) -> bool:
    """Whether patterns, of which those without a word are passed over, also match the User-Agent of a browser."""
    words = tuple(filter(_is_pattern, patterns))
    robot = KnownRobot(name="", operator=None, purpose="other", patterns=words, looked_up=0, source="")
    return any(map(NamePatterns([robot]).find, BROWSERS))


def _list(entry: dict[str, Any], file: str, operator: str | None) -> ListName:
    place = _place(entry, "list", file)
    if set(entry) != {"name", "url"}:
        raise InputError(f"{place}: a list has a name and a url, and nothing else")
    name, url = entry["name"], entry["url"]
    if not isinstance(name, str) or len(name) > 64 or not _LIST_NAME.fullmatch(name):
        raise InputError(f"{place}: name must be lower-case letters, digits and single hyphens, not {quoted(name)}")
    if not is_web_url(url):
        raise InputError(f"{place}: url must be an http(s) URL, not {quoted(url)}")
    return ListName(name, url, operator or "an operator that is not recorded")


def _place(entry: dict[str, Any], kind: str, file: str) -> str:
    return f"{file}: {kind} {quoted(entry['name'])}" if "name" in entry else f"{file}: a {kind} without a name"


def _refuse_repeated(names: list[str], kind: str, file: str) -> None:
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(f"{file}: there are two records of the {kind} {quoted(repeated)}")


# ---- what each field must be ----------------------------------------------------------------------------------------


def _check(entry: Mapping[str, Any], place: str) -> None:
    for name, value in entry.items():
        is_valid, wanted = _FIELDS[name]
        if not is_valid(value):
            raise InputError(f"{place}: {name} must be {wanted}, not {quoted(value)}")


def _is_text(value: object, most: int = MAX_TEXT) -> bool:
    return isinstance(value, str) and 0 < len(value) <= most and value.isprintable() and value == value.strip()


def _is_pattern(value: object) -> bool:
    return isinstance(value, str) and _is_text(value) and bool(words_of(value.removeprefix("^")))


def _is_token(value: object) -> bool:
    return isinstance(value, str) and _is_text(value) and not {*"/:#*"} & {*value}


def _is_year(value: object) -> bool:
    return type(value) is int and 1990 <= value <= 9999


def _is_domain(value: object) -> bool:
    if not isinstance(value, str) or not _DOMAIN.fullmatch(value) or value.rpartition(".")[2].isdigit():
        return False
    return not public_suffixes().is_public(value)  # anybody can have a name under one


def _is_list_name(value: object) -> bool:
    return isinstance(value, str) and _LIST_NAME.fullmatch(value) is not None


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_one_of(choices: Mapping[Any, str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in choices


def _is_list_of(is_item: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and len(value) <= MAX_ITEMS and all(map(is_item, value))


_TEXT: Final = f"one line of text, at most {MAX_TEXT} characters"
_URL: Final = "an http(s) URL"
_FLAG: Final = "true or false"
_YEAR: Final = "a year, such as 2026"

_FIELDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "name": (_is_text, _TEXT),
    "operator": (_is_text, _TEXT),
    "purpose": (_is_one_of(PURPOSES), f"one of {', '.join(PURPOSES)}"),
    "token": (_is_token, f"{_TEXT}, without / : # *"),
    "aliases": (_is_list_of(_is_text), f"a list of texts, at most {MAX_ITEMS}"),
    "patterns": (_is_list_of(_is_pattern), f"a list of at most {MAX_ITEMS} texts, each with a letter or digit"),
    "example": (lambda value: _is_text(value, MAX_EXAMPLE), f"one line of text, at most {MAX_EXAMPLE} characters"),
    "documentation": (is_web_url, _URL),
    "contact": (is_contact, "a mail address or an http(s) URL"),
    "obeys": (_is_one_of(OBEYS), f"one of {', '.join(OBEYS)}"),
    "obeys_source": (is_web_url, _URL),
    "address_lists": (_is_list_of(_is_list_name), "a list of names of address lists"),
    "reverse_dns": (
        _is_list_of(_is_domain),
        "a list of domains in lower case, such as search.example.org, but not com or co.uk",
    ),
    "signatures": (is_web_url, _URL),
    "control": (_is_flag, _FLAG),
    "retired": (_is_flag, _FLAG),
    "retired_since": (_is_year, _YEAR),
    "imitated": (_is_flag, _FLAG),
    "looked_up": (_is_year, _YEAR),
    "source": (is_web_url, _URL),
}
