"""Reads settings from goodbot.toml and the environment, and writes them to a file."""

import json
import re
import tomllib
from collections.abc import Collection, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from goodbot.config import FILES, Settings
from goodbot.database_address import without_password
from goodbot.errors import InputError, SettingError, quoted
from goodbot.files import write_whole
from goodbot.places.place_address import shown_address
from goodbot.serve_settings import ServeSettings

FILE_NAME = "goodbot.toml"
TABLES: Mapping[str, tuple[str, ...]] = {
    "check": ("ignore", "fail_on"),
    "serve": tuple(item.name for item in fields(ServeSettings)),
}
"""Tables of that file, each with the settings of one command other than `crawl`: name → names of its settings."""

ROBOTS: Final = "robot"
"""The tables `[[robot]]` of that file are the user's own records of robots; `goodbot.registry` reads them."""

_NO_SETTINGS: Final = frozenset((*TABLES, ROBOTS))

_S = TypeVar("_S", Settings, ServeSettings)
_PREFIX = "GOODBOT_"
_TABLE: Final = re.compile(r"\s*\[")
_OF_TABLES = frozenset(f"{_PREFIX}{table}_{name}".upper() for table, names in TABLES.items() for name in names)
_OF_SERVICES = re.compile(r"GOODBOT_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?")
"""Matches what Kubernetes sets in the environment for a service called goodbot, goodbot-web and the like."""
_VALUE_OF_SERVICE = re.compile(r"(?:tcp|udp|sctp)://.*")
"""Matches the value of GOODBOT_SERVE_PORT that Kubernetes sets for a service called goodbot-serve."""


def load_settings(file: Path, base: Settings, omit: Container[str] = ()) -> Settings:
    """Returns `base` with the values of the file, except tables (of other commands) and the settings named in `omit`. A
    path is relative to the folder of the file. Raises InputError for a file that is not TOML, an unknown key or a
    wrong type."""
    values = {name: value for name, value in _load_values(file).items() if name not in omit}
    try:
        return with_values(base, values)
    except SettingError as error:
        raise invalid_setting(file, error) from error


def invalid_setting(file: Path, error: SettingError) -> InputError:
    """Returns an error that names the place of the setting in the file, and what to do."""
    return InputError(f"{place_of(file, error.name)}: {error.naming(error.name)}; change or remove it there")


def load_usable(file: Path) -> Settings:
    """Returns the settings of the file; invalid values are ignored. Raises InputError for a file that is not TOML."""
    settings = Settings()
    for name, value in _load_values(file).items():
        with suppress(SettingError):
            settings = with_values(settings, {name: value})
    return settings


def _load_values(file: Path) -> dict[str, Any]:
    values = {name: value for name, value in load_toml(file).items() if name not in _NO_SETTINGS}
    for name in FILES:
        if isinstance(path := values.get(name), str) and path:
            values[name] = str(file.absolute().parent / path)
    return values


def place_of(file: Path, name: str) -> str:
    """Returns the place at which a settings file sets `name`: `crawl/goodbot.toml, line 3`; the file alone if no line
    is found."""
    line = line_of(file, name)
    return str(file) if line is None else f"{file}, line {line}"


def line_of(file: Path, name: str) -> int | None:
    """Returns the number of the line at which a settings file sets `name` or begins a table of that name; None if no
    line is found."""
    escaped = re.escape(name)
    sets = re.compile(rf"""\s*(?:["']?{escaped}["']?\s*=|\[\s*["']?{escaped}["']?\s*\])""")
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except OSError:  # removed since it was read
        return None
    return next((number for number, line in enumerate(lines, start=1) if sets.match(line)), None)


def load_toml(file: Path) -> dict[str, Any]:
    """Reads a settings file. Raises InputError if it cannot be read, or is not TOML."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8, as TOML must be: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file} is not TOML: {error}") from error


def load_table(file: Path, table: str) -> dict[str, Any]:
    """Reads one of the `TABLES` of a file; an empty one if the file lacks it. Raises InputError for a file that is not
    TOML, and for an unknown key or table, which may be a misspelling of this one."""
    values = load_toml(file)
    if unknown := sorted(values.keys() - _NO_SETTINGS - {item.name for item in fields(Settings)}):
        raise invalid_setting(file, _unknown(unknown[0]))
    found = values.get(table, {})
    if not isinstance(found, dict):
        raise InputError(f"{place_of(file, table)}: [{table}] must be a table")
    if unknown := sorted(found.keys() - set(TABLES[table])):
        hint = _hint(unknown[0], TABLES[table])
        raise InputError(f"{place_of(file, unknown[0])}: unknown setting {unknown[0]!r} of [{table}]{hint}")
    return found


def load_serve_settings(file: Path, base: ServeSettings) -> ServeSettings:
    """Returns `base` with the values of the table [serve] of a file. Raises InputError as `load_table` does, and for an
    invalid value."""
    try:
        return with_values(base, load_table(file, "serve"))
    except SettingError as error:
        raise invalid_setting(file, error) from error


def save_settings(file: Path, settings: Settings) -> None:
    """Writes the settings that differ from the defaults, so that better defaults reach old crawls. Tables that the user
    added to the file are kept. The file is written whole or not at all. Raises RunError."""
    first = "# Settings of this crawl. `goodbot crawl --into` this folder resumes it.\n"
    write_whole(file, (first + settings_text(settings) + _tables_text(file)).encode())


def settings_text(settings: Settings, *, of_machine: bool = True) -> str:
    """Returns the settings that differ from the defaults as TOML. `of_machine`: with those that each machine of a crawl
    may have for itself. Addresses are written without their passwords."""
    lines = []
    for item in fields(Settings):
        value = shown_value(item.name, getattr(settings, item.name))
        is_wanted = of_machine or not item.metadata["of_machine"]
        if is_wanted and value != item.default and not item.metadata["secret"]:
            lines.append(f"{item.name} = {_toml(list(value) if isinstance(value, tuple) else value)}\n")
    return "".join(lines)


def shown_value(name: str, value: Any) -> Any:
    """Returns the value of a setting without the password that an address may have."""
    if name == "frontier" and value is not None:
        return without_password(value)
    return shown_address(value) if name == "archive_to" and value is not None else value


def crawl_values(text: str) -> dict[str, Any]:
    """Returns the values that `settings_text` wrote, and the defaults of the settings that it left out, by name: all
    settings that the machines of a crawl share. Raises InputError for text that an older or newer goodbot wrote, if it
    cannot be read."""
    try:
        written = with_values(Settings(), tomllib.loads(text))
    except (tomllib.TOMLDecodeError, SettingError) as error:
        raise InputError(f"the settings of the crawl in the database are damaged: {error}") from error
    return {item.name: getattr(written, item.name) for item in fields(Settings) if not item.metadata["of_machine"]}


def _tables_text(file: Path) -> str:
    """Returns the tables of a file as they are written there, with the comment before the first. Tables that the user
    wrote otherwise (`serve.port = 80`) get the usual form. An empty text if there is none, or no valid file."""
    try:
        text = file.read_text(encoding="utf-8")
        tables = {name: value for name, value in tomllib.loads(text).items() if _is_table(value)}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return ""
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        if tables and _TABLE.match(line) and _is_toml_of("".join(lines[start:]), tables):
            return "\n" + "".join(lines[_comment_before(lines, start) :])
    rewritten = "".join(_table_text(name, values) for name, values in tables.items())
    return rewritten if _is_toml_of(rewritten, tables) else ""  # values that no setting can have


def _is_table(value: object) -> bool:
    """Whether a value is a table, or several with one name (`[[robot]]`)."""
    several = value if isinstance(value, list) and value else [value]
    return all(isinstance(each, dict) for each in several)


def _table_text(name: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    if not isinstance(values, Mapping):
        return "".join(_table_text(f"[{name}]", each) for each in values)
    return f"\n[{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _is_toml_of(text: str, values: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == values
    except tomllib.TOMLDecodeError:  # the line was inside a text of several lines
        return False


def _comment_before(lines: Sequence[str], at: int) -> int:
    """Returns where the comment directly before line `at` begins; `at` if there is none."""
    while at > 1 and lines[at - 1].startswith("#"):
        at -= 1
    return at


def _toml(value: object) -> str:
    """Writes a value as TOML: texts, numbers and lists look as in JSON, except for DEL. A date becomes text."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


def from_environment(base: Settings, environment: Mapping[str, str]) -> Settings:
    """Returns `base` with the values of `GOODBOT_SCOPE=…` and the like; for several values of one setting see
    `items_of`. Raises InputError for an unknown `GOODBOT_…`, except those of tables and of a service called goodbot."""
    own = {variable_of(item.name) for item in fields(Settings)}
    for variable in environment:
        if variable.startswith(_PREFIX) and not (
            variable in own or variable in _OF_TABLES or _OF_SERVICES.fullmatch(variable)
        ):
            known = [name.removeprefix(_PREFIX) for name in (*own, *_OF_TABLES)]
            near = get_close_matches(variable.removeprefix(_PREFIX), known, 1)
            hint = f"; did you mean {_PREFIX}{near[0]}?" if near else ""
            raise InputError(f"environment: unknown setting {variable}{hint}")
    return _with_variables(base, environment, "")


def serve_from_environment(base: ServeSettings, environment: Mapping[str, str]) -> ServeSettings:
    """Returns `base` with the values of `GOODBOT_SERVE_PORT=…` and the like. Raises InputError."""
    return _with_variables(base, serve_variables(environment), "serve")


def serve_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the environment that set something for `goodbot serve`. Kubernetes gives one of them a
    value of its own if a service is called goodbot-serve."""
    names = {variable_of(name, "serve") for name in TABLES["serve"]}
    return {
        name: text
        for name, text in environment.items()
        if name in names and not (_OF_SERVICES.fullmatch(name) and _VALUE_OF_SERVICE.fullmatch(text))
    }


def variable_of(name: str, table: str = "") -> str:
    """Returns the name of the variable that sets a setting, or one of a table: `GOODBOT_SERVE_PORT`."""
    return f"{_PREFIX}{table}_{name}".upper() if table else f"{_PREFIX}{name}".upper()


def _with_variables(base: _S, environment: Mapping[str, str], table: str) -> _S:
    variables = {variable_of(item.name, table): item for item in fields(base)}
    try:
        values = {
            item.name: _from_text(item, environment[variable], variable)
            for variable, item in variables.items()
            if variable in environment
        }
        return with_values(base, values)
    except SettingError as error:
        raise invalid_variable(error, table) from error


def invalid_variable(error: SettingError, table: str = "") -> InputError:
    """Returns an error that names the variable of the environment."""
    return InputError(f"environment: {error.naming(variable_of(error.name, table))}")


def with_values(base: _S, values: Mapping[str, Any]) -> _S:
    """Returns `base` with `values` by setting name. Raises SettingError."""
    known = {item.name: item.type for item in fields(base)}
    clean: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise _unknown(name)
        clean[name] = _checked(known[name], value, name)
    return replace(base, **clean)


def _unknown(name: str) -> SettingError:
    known = [*TABLES, ROBOTS, *(item.name for item in fields(Settings))]
    return SettingError(name, f"unknown setting {name!r}{_hint(name, known)}")


def _hint(name: str, known: Collection[str]) -> str:
    """Returns ` (did you mean depth?)`, or nothing if no known name is similar."""
    near = get_close_matches(name, known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def items_of(text: str, *, may_have_commas: bool = False) -> list[str]:
    """Returns the items of a list in a variable of the environment: spaces or commas separate them, only spaces if the
    items may have commas."""
    return (text if may_have_commas else text.replace(",", " ")).split()


def _from_text(item: Field[Any], text: str, variable: str) -> Any:
    options = get_args(item.type) if isinstance(item.type, UnionType) else (item.type,)
    if get_origin(item.type) is tuple:
        return items_of(text, may_have_commas=item.metadata["may_have_commas"])
    if bool in options:
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise InputError(f"{variable} must be true or false: {quoted(text)}")
        return text.lower() in ("1", "true", "yes")
    for kind in (int, float):
        if kind in options:
            try:
                return kind(text)
            except ValueError:
                raise InputError(f"{variable} must be {_KINDS[kind]}: {quoted(text)}") from None
    return text


def _checked(type_: Any, value: Any, name: str) -> Any:
    """Returns `value` in the type of the setting. Raises SettingError."""
    options = get_args(type_) if isinstance(type_, UnionType) else (type_,)
    if get_origin(type_) is tuple and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if get_origin(type_) is Literal:
        if value in get_args(type_):
            return value
        raise SettingError(name, f"{name} must be one of {', '.join(get_args(type_))}: {quoted(value)}")
    if float in options and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if any(isinstance(option, type) and type(value) is option for option in options):
        return value
    raise SettingError(name, f"{name} must be {_kind_of(options)}, not {_given(value)}")


_KINDS: Final = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}
_GIVEN: Final[Mapping[type, str]] = {str: "text", list: "a list", dict: "a table"}


def _kind_of(options: tuple[Any, ...]) -> str:
    return next((kind for option, kind in _KINDS.items() if option in options), "a list of strings")


def _given(value: Any) -> str:
    """Names a value of TOML: a number, date or boolean as it is written, a list with the first item that is no string,
    anything else by its type."""
    if isinstance(value, list):
        wrong = next((item for item in value if not isinstance(item, str)), None)
        return "a list" if wrong is None else f"a list with {_given(wrong)}"
    return _GIVEN.get(type(value)) or str(value).lower()
