"""The file of `--state`: which pages each service has accepted, and with which mark. A SQLite file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from goodbot.errors import BusyError, DamagedError, InputError, RunError

FORMAT: Final = 1
"""Raised with every change of the tables."""

APPLICATION_ID: Final = 0x600DB09
"""Marks the file as ours (SQLite file format, offset 68)."""

# The key has the URL itself, not a digest: pages are accepted in the order of their URLs, so they fall into few B-tree
# pages. With digests, each batch would change thousands of pages of a large file.
_TABLES: Final = (
    "CREATE TABLE state.services (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE)",
    """CREATE TABLE state.accepted (service INTEGER NOT NULL, url TEXT NOT NULL, mark TEXT NOT NULL,
  PRIMARY KEY (service, url)) WITHOUT ROWID""",
)

_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_ERROR)
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translates errors of SQLite into one clear line: InputError (another program's file), BusyError (in use),
    DamagedError, or RunError (a full disk, a missing permission)."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        code = (error.sqlite_errorcode or 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise foreign(path) from error
        if code in _BUSY:
            raise BusyError(f"another goodbot announce is using {path}; try again when it has ended") from error
        if code in _DAMAGED:
            raise DamagedError(f"{path} is damaged; remove it, and all pages are announced once more") from error
        kept = "" if is_new(path) else "; what was accepted before is kept"
        raise RunError(f"cannot use {path}: {error}{kept}") from error


def is_new(path: Path) -> bool:
    """Whether there is no state yet: no file, or an empty one."""
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


def foreign(path: Path) -> InputError:
    """Returns the error for a file that another program made."""
    return InputError(f"{path} is not a state file of goodbot announce; choose another name with --state")


def attach(db: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    """Attaches the file to a connection as `state`, and makes it if it does not exist. Nobody else can use it until the
    connection is closed. `read_only`: the file must exist, and stays as it is. Raises the errors of `translated`."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it with --state")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file that can keep the state; choose another name with --state")
    if not path.parent.is_dir():
        raise InputError(f"no such folder: {path.parent}")
    with translated(path):
        db.execute("ATTACH DATABASE ? AS state", (f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",))
        _check(db, path)
        if not read_only:
            _lock(db)


def _check(db: sqlite3.Connection, path: Path) -> None:
    ((application,),) = db.execute("PRAGMA state.application_id")
    ((tables,),) = db.execute("SELECT count(*) FROM state.sqlite_master")
    if tables and application != APPLICATION_ID:
        raise foreign(path)
    ((form,),) = db.execute("PRAGMA state.user_version")
    if form > FORMAT:
        raise InputError(f"{path} was made by a newer goodbot; use that one, or another file with --state")


def _lock(db: sqlite3.Connection) -> None:
    """Takes the lock and keeps it; makes the tables of a new file."""
    db.execute("PRAGMA state.locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    ((tables,),) = db.execute("SELECT count(*) FROM state.sqlite_master")
    if not tables:
        for table in _TABLES:
            db.execute(table)
    db.execute(f"PRAGMA state.application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA state.user_version = {FORMAT}")
    db.execute("COMMIT")
