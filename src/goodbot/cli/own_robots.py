"""Loads the records of robots for commands: ours, and before them the user's own.

The user's are `robots/*.toml` in the configuration folder, and the tables `[[robot]]` of goodbot.toml.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from goodbot.cli.options import config_folder, settings_file
from goodbot.errors import InputError
from goodbot.registry import AddressBook, Records, Registry, bundled_registry, parse_records, parse_tables
from goodbot.registry.own_records import MAX_BYTES
from goodbot.settings_file import ROBOTS, load_table, load_toml

MAX_FILES: Final = 1000


def load_registry() -> Registry:
    """Returns the robots and lists on record. The tables of goodbot.toml come before the files of the folder, which are
    read in the order of their names. Raises InputError for a record that cannot be used."""
    own = [*_of_settings(), *_of_folder()]
    return Registry(*own) if own else bundled_registry()


def address_book(registry: Registry) -> AddressBook:
    """Returns the address lists of these robots: those that the user has fetched, else those that are bundled."""
    return AddressBook(data_folder(), registry.lists)


def data_folder() -> Path:
    """Returns the folder of the fetched address lists, which may not exist."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "goodbot" / "addresses"


def robots_folder() -> Path:
    """Returns the folder of the user's own records, which may not exist."""
    return config_folder() / "robots"


def robots_of_settings(file: Path) -> Records:
    """Reads the tables `[[robot]]` of a settings file. Raises InputError."""
    return Records(parse_tables(load_toml(file).get(ROBOTS, []), str(file), _year_of(file)), {})


def _of_settings() -> Iterator[Records]:
    file = settings_file()
    if file is not None:
        load_table(file, "check")  # an unknown key may be a misspelt `robot`
        records = robots_of_settings(file)
        if records.robots:
            yield records


def _of_folder() -> Iterator[Records]:
    folder = robots_folder()
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from error
    if len(names) > MAX_FILES:
        raise InputError(f"{folder} has more than {MAX_FILES:,} files of records")
    for path in names:
        if path.exists() and not path.is_file():  # a FIFO would be waited for
            raise InputError(f"cannot read {path}: it is not a file")
        try:
            with path.open("rb") as file:
                body = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        yield parse_records(body, str(path), _year_of(path))


def _year_of(file: Path) -> int:
    """Returns the year in which a file was last written: records that name no year were looked up then."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).year
