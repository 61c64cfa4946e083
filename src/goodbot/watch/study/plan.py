"""Reads and checks the plan of a study, which says which robots.txt counts in which phase."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Any, Final

from goodbot.errors import InputError, quoted
from goodbot.exclusion import LIMIT_BYTES, Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, parse_url
from goodbot.watch.history.accesses import is_html
from goodbot.watch.study.overlay import Overlay, is_agent, is_path, laid_over

MAX_PHASES: Final = 50
MIN_DAYS: Final = 2
"""The first 24 hours of a phase do not count, since robots may use the robots.txt of the phase before as long."""
MAX_DAYS: Final = 366
MAX_NAME: Final = 60
MAX_ITEMS: Final = 100
MAX_DELAY_S: Final = 86_400
MAX_BYTES: Final = 1024 * 1024
"""The longest plan that is read."""

_KEYS: Final = ("start", "url", "base", "control", "repeat", "shuffle", "phase", "week")
_SHORT: Final = ("agents", "disallow", "crawl_delay")
_PHASE_KEYS: Final = ("name", "days", "robots", "robots_file", *_SHORT)

ReadFile = Callable[[str], bytes]
"""Reads a file that a plan names. Raises InputError if it cannot be used."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a study. `body` is its robots.txt as it is written."""

    name: str
    days: int
    body: bytes

    def access(self, at: float = 0.0) -> Access:
        """Returns what follows for a robot that fetches it at a time, Unix seconds."""
        return Access.from_response(200, (), self.body, at)


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A checked plan."""

    start: float
    """The time when the first phase begins, Unix seconds."""
    url: Url
    """The URL of the site's robots.txt."""
    phases: tuple[Phase, ...]
    control: int
    """The place of the phase with which the others are compared."""
    repeat: bool = False
    shuffle: int | None = None
    """The seed of the order of phases; None: the order of the plan."""
    base: bytes | None = None
    """The site's own robots.txt: rules of phases are added to it, and it is restored after the study."""


def parse_plan(text: bytes, file: str, read: ReadFile) -> StudyPlan:
    """Reads and checks a plan. `file` is its name, for messages; `read` gets the names of other files as they are
    written. Raises InputError with one line that names the key, for anything that is not a plan."""
    found = _load(text, file)
    _refuse_unknown(found, _KEYS, file)
    base = _base(found, file, read)
    tables = _tables(found, file)
    phases = tuple(_phase(table, f"{file}: phase {place}", base, read) for place, table in enumerate(tables, 1))
    names = [phase.name for phase in phases]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{file}: name {quoted(repeated)} is that of two phases; give each phase a name of its own")
    shuffle = found.get("shuffle")
    if shuffle is not None and type(shuffle) is not int:
        raise _wrong(file, "shuffle", "a whole number, the seed of the order", shuffle)
    return StudyPlan(
        _start(found, file),
        _url(found, file),
        phases,
        _control(found, names, file),
        _flag(found, "repeat", file),
        shuffle,
        None if base is None else base.encode(),
    )


def _load(text: bytes, file: str) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise InputError(f"{file} has more than {MAX_BYTES:,} bytes, which is too long for a plan")
    try:
        return tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # tomllib also raises plain ValueErrors, such as for long numbers
        raise InputError(f"{file} is not TOML: {shown(str(error)) or 'it is nested too deeply'}") from error


def _wrong(where: str, key: str, allowed: str, value: object) -> InputError:
    return InputError(f"{where}: {key} must be {allowed}, not {quoted(value)}")


def _refuse_unknown(found: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
    for key in found:
        if key not in keys:
            near = get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(keys)}"
            raise InputError(f"{where}: unknown key {quoted(key)}; {hint}")


def _needed(found: Mapping[str, Any], key: str, allowed: str, where: str) -> Any:
    if key not in found:
        raise InputError(f"{where}: {key} is missing; it must be {allowed}")
    return found[key]


# ---- the keys of the plan -------------------------------------------------------------------------------------------


def _start(found: Mapping[str, Any], file: str) -> float:
    allowed = "a date such as 2026-12-07, without quotes (UTC), from 1970 on"
    value = _needed(found, "start", allowed, file)
    if not isinstance(value, date):
        raise _wrong(file, "start", allowed, value)
    at = value if isinstance(value, datetime) else datetime.combine(value, time())
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if not 1970 <= at.year <= 9000 or at.timestamp() < 0:
        raise _wrong(file, "start", allowed, str(value))
    return at.timestamp()


def _url(found: Mapping[str, Any], file: str) -> Url:
    allowed = 'the URL of the site, such as "https://www.example.org"'
    value = _needed(found, "url", allowed, file)
    url = parse_url(value) if isinstance(value, str) else None
    if url is None:
        raise _wrong(file, "url", allowed, value)
    return url.robots_txt


def _flag(found: Mapping[str, Any], key: str, file: str) -> bool:
    value = found.get(key, False)
    if not isinstance(value, bool):
        raise _wrong(file, key, "true or false", value)
    return value


def _control(found: Mapping[str, Any], names: list[str], file: str) -> int:
    value = found.get("control", names[0])
    if not isinstance(value, str) or value not in names:
        raise _wrong(file, "control", f"the name of a phase: {', '.join(map(shown, names))}", value)
    return names.index(value)


def _base(found: Mapping[str, Any], file: str, read: ReadFile) -> str | None:
    if "base" not in found:
        return None
    return _file(found["base"], "base", file, read)


def _file(name: object, key: str, where: str, read: ReadFile) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise _wrong(where, key, "the name of a robots.txt file, relative to the plan", name)
    try:
        text = read(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: {key}: {shown(name)} is not UTF-8, which a robots.txt must be") from error
    return _no_web_page(text, f"{key}: {shown(name)}", where)


def _no_web_page(text: str, what: str, where: str) -> str:
    """Raises InputError for a Web page, which as a robots.txt would allow everything."""
    if is_html(text.encode()):
        raise InputError(f"{where}: {what} is an HTML page, not a robots.txt")
    return text


def _tables(found: Mapping[str, Any], file: str) -> list[dict[str, Any]]:
    if "phase" in found and "week" in found:
        raise InputError(f"{file}: a plan has [[phase]] or [[week]], not both; both mean the same")
    key = "week" if "week" in found else "phase"
    tables = found.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{file}: {key} must be tables, each headed [[{key}]]")
    if not 2 <= len(tables) <= MAX_PHASES:
        raise InputError(f"{file}: a plan has 2 to {MAX_PHASES} phases, each headed [[phase]], not {len(tables)}")
    return tables


# ---- a phase --------------------------------------------------------------------------------------------------------


def _phase(table: Mapping[str, Any], where: str, base: str | None, read: ReadFile) -> Phase:
    _refuse_unknown(table, _PHASE_KEYS, where)
    name_form = f"one line of text, at most {MAX_NAME} characters"
    name = _needed(table, "name", name_form, where)
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise _wrong(where, "name", name_form, name)
    days = table.get("days", 7)
    if type(days) is not int or not MIN_DAYS <= days <= MAX_DAYS:
        reason = "since the first 24 hours of a phase do not count"
        raise _wrong(where, "days", f"a whole number from {MIN_DAYS} to {MAX_DAYS}, {reason}", days)
    body = f"# goodbot study: {name.strip()}\n{_rules(table, where, base, read)}".encode()
    if len(body) > LIMIT_BYTES:
        raise InputError(f"{where}: its robots.txt must have at most {LIMIT_BYTES // 1024} KiB, which robots read")
    return Phase(name.strip(), days, body)


def _rules(table: Mapping[str, Any], where: str, base: str | None, read: ReadFile) -> str:
    given = [key for key in ("robots", "robots_file") if key in table] + [key for key in _SHORT if key in table][:1]
    if len(given) > 1:
        raise InputError(f"{where}: {given[0]} and {given[1]} cannot be combined; give the rules in one way")
    if "robots_file" in table:
        return _file(table["robots_file"], "robots_file", where, read)
    if "robots" in table:
        robots = table["robots"]
        if not isinstance(robots, str):
            raise _wrong(where, "robots", "the text of a robots.txt", robots)
        return _no_web_page(robots, "robots", where)
    return laid_over(base or "", _overlay(table, where))


def _overlay(table: Mapping[str, Any], where: str) -> Overlay:
    agents = _list(table, "agents", is_agent, "names of robots, or *", where)
    disallow = _list(table, "disallow", is_path, "paths that begin with / or *, without spaces and #", where)
    delay = table.get("crawl_delay")
    if delay is not None and (type(delay) not in (int, float) or not 0 < delay <= MAX_DELAY_S):
        raise _wrong(where, "crawl_delay", f"a number of seconds above 0, at most {MAX_DELAY_S:,}", delay)
    if "agents" in table and delay is None and not disallow:
        raise InputError(f"{where}: agents needs disallow or crawl_delay, which say what is asked of them")
    return Overlay(agents or ("*",), disallow, delay)


def _list(table: Mapping[str, Any], key: str, is_one: Callable[[str], bool], what: str, where: str) -> tuple[str, ...]:
    if key not in table:
        return ()
    value = table[key]
    is_list = isinstance(value, list) and 1 <= len(value) <= MAX_ITEMS
    if not is_list or not all(isinstance(each, str) and is_one(each) for each in value):
        raise _wrong(where, key, f"a list of {what}, at most {MAX_ITEMS}", value)
    return tuple(value)
