"""Options that several commands share, and how results are written."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from goodbot.cli.command_class import config_file
from goodbot.cli.file_types import NamedPath
from goodbot.config import Settings
from goodbot.errors import InputError, SettingError
from goodbot.serve_settings import ServeSettings
from goodbot.settings_file import (
    FILE_NAME,
    ROBOTS,
    from_environment,
    invalid_setting,
    invalid_variable,
    load_serve_settings,
    load_settings,
    load_table,
    load_toml,
    serve_from_environment,
)
from goodbot.url import Url, parse_url

MAX_INPUT_BYTES = 64 * 1024 * 1024

_HOST = re.compile(r"localhost\b|[^.]+\..*[^.]|\[", re.ASCII)
_FILE_ENDINGS = frozenset((".txt", ".htm", ".html", ".xhtml", ".toml", ".json", ".jsonl", ".log", ".gz", ".bak"))

_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([kKmMgG]?)[bB]?", re.ASCII)
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}

Command = TypeVar("Command", bound=Callable[..., Any])


class Bytes(click.ParamType[int]):
    """A size of one byte or more: `500000`, `500k`, `10M`, `1.5G`; decimal units, as disks and networks are sold."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        match = _SIZE.fullmatch(str(value))
        size = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
        if not 0 < size < 10**12:
            self.fail(f"{value!r} is not a size such as 500000, 500k or 10M", param, ctx)
        return size


def in_option(command: Command) -> Command:
    """`--in DIR`: the folder of a crawl."""
    return _in("Folder of the crawl.")(command)


def index_option(command: Command) -> Command:
    """`--in DIR`: the folder of an index."""
    return _in("Folder of a crawl or of imported documents.")(command)


def index_options(command: Command) -> Command:
    """`--in DIR`, repeatable: the folders of indexes that are searched as one."""
    return folders_option("Folder of a crawl or of imported documents. Repeatable.", required=True)(command)


def folders_option(about: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Returns `--in DIR`, repeatable, as the parameter `folders`; `about` is its help."""
    return click.option(
        "--in",
        "folders",
        required=required,
        multiple=True,
        metavar="DIR",
        type=NamedPath(path_type=Path),
        help=about,
    )


def _in(about: str) -> Callable[[Command], Command]:
    return click.option("--in", "folder", required=True, metavar="DIR", type=NamedPath(path_type=Path), help=about)


def read_input(name: str, *, or_site: bool = False) -> bytes:
    """Reads at most `MAX_INPUT_BYTES` of a file, or of standard input for `-`. Raises InputError. `or_site`: the
    command accepts the URL of a site too."""
    with opened_input(name, or_site=or_site) as file:
        return file.read(MAX_INPUT_BYTES)


@contextmanager
def opened_input(name: str, *, or_site: bool = False) -> Iterator[BinaryIO]:
    """Opens a file, or standard input for `-`. Raises InputError if it cannot be opened, or read within the block.
    `or_site` is that of `read_input`."""
    if not name:
        raise InputError("the name of a file is empty")
    try:
        if name == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed")
            yield sys.stdin.buffer
            return
        with Path(name).open("rb") as file:
            yield file
    except OSError as error:
        url = site_meant(name) if or_site and isinstance(error, FileNotFoundError) else None
        hint = f"; if you mean the site, give the whole URL: {url}" if url else ""
        raise InputError(f"cannot read {name}: {error.strerror}{hint}") from error


def site_meant(name: str) -> Url | None:
    """Returns the URL of a site if a file name looks like a host name; else None."""
    if name.startswith("/") or any(character.isspace() or character in "\\@" for character in name):
        return None
    url = parse_url(f"https://{name}")
    is_host = url is not None and _HOST.match(url.host) and Path(url.host).suffix.lower() not in _FILE_ENDINGS
    return url if is_host else None


def header_field(text: str) -> tuple[str, str]:
    """`Name: value`, as `--header` takes it. Raises InputError."""
    name, colon, value = text.partition(":")
    if not (colon and name.strip()):
        raise InputError(f"--header must be 'Name: value', not {text!r}")
    return name.strip(), value.strip()


def settings_file() -> Path | None:
    """Returns the settings file in force: the one named with `--config`, else the working folder's, else the user's;
    None if there is none. The one named need not exist. Raises InputError if one is there and cannot be a file."""
    places = (Path(FILE_NAME), config_folder() / FILE_NAME)
    return config_file() or next((place for place in places if _is_settings_file(place)), None)


def _is_settings_file(place: Path) -> bool:
    try:
        if place.is_file():
            return True
        is_there = os.path.lexists(place)
    except OSError as error:  # a folder on the way may not be entered
        raise InputError(f"cannot read {place.absolute()}: {error.strerror}") from error
    if is_there:
        raise InputError(f"{place.absolute()} is not a regular file: remove it, or name a settings file with --config")
    return False


def config_folder() -> Path:
    """Returns the user's configuration folder, which may not exist."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "goodbot"


def load_valid_settings(file: Path) -> Settings:
    """Reads a settings file and checks all of it, tables of other commands too. Raises InputError."""
    from goodbot.robot.crawl.settings_check import check_form  # noqa: PLC0415

    if file.is_fifo():
        raise InputError(f"{file} is a pipe, which can be read only once: give a file as --config")
    settings = load_settings(file, Settings())
    try:
        check_form(settings)
    except SettingError as error:
        raise invalid_setting(file, error) from error
    load_serve_settings(file, ServeSettings())
    if load_table(file, "check"):
        from goodbot.cli.check_options import table_settings  # noqa: PLC0415  (takes 46 ms and 3 MB)

        table_settings(file)
    if ROBOTS in load_toml(file):
        from goodbot.cli.own_robots import robots_of_settings  # noqa: PLC0415  (few files have records of robots)

        robots_of_settings(file)
    return settings


def base_settings() -> Settings:
    """Returns the defaults, overridden by goodbot.toml (see `settings_file`), overridden by the environment. Raises
    InputError, also for values of tables and variables of other commands."""
    from goodbot.robot.crawl.settings_check import check_form  # noqa: PLC0415

    file = settings_file()
    settings = from_environment(load_valid_settings(file) if file else Settings(), os.environ)
    try:
        check_form(settings)
    except SettingError as error:
        raise invalid_variable(error) from error
    serve_from_environment(ServeSettings(), os.environ)
    if any(name.startswith("GOODBOT_CHECK_") for name in os.environ):
        from goodbot.cli.check_options import variables  # noqa: PLC0415  (takes 46 ms and 3 MB)

        variables()
    return settings
