"""Keeps what `RobotRules` knows in one SQLite file, which outlives its process and may be shared by several."""

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Final

from goodbot.errors import InputError
from goodbot.exclusion import Access, Visits
from goodbot.store.sqlite.robots_table import ROBOTS_TABLE, load_access, save_access
from goodbot.store.sqlite.schema import check_format, translated

FORMAT: Final = 1
"""Raised when a change of the tables makes older files unreadable."""

APPLICATION_ID: Final = 0x600DB08
"""Marks the file as ours (SQLite file format, offset 68)."""

_TABLES = """
CREATE TABLE visits (
  token TEXT NOT NULL, host TEXT NOT NULL, total INTEGER NOT NULL, last_at REAL NOT NULL, PRIMARY KEY (token, host)
) WITHOUT ROWID;
"""

_ADD_VISIT = """
INSERT INTO visits VALUES (?, ?, 1, ?)
ON CONFLICT DO UPDATE SET total = total + 1, last_at = max(last_at, excluded.last_at)
"""

_WRITE_NOTHING = f"BEGIN IMMEDIATE; PRAGMA user_version = {FORMAT}; ROLLBACK;"
"""Makes opening fail if the file cannot be written; `BEGIN IMMEDIATE` alone would only read it."""


class SqliteRulesStore:
    """A RulesStore in a file. For one thread; any number of processes, each with a store of its own.

    Every call reads the file anew, so each process sees what the others wrote; visits are counted in the file, so none
    is lost. What a call wrote outlives the process; a power failure may lose the last seconds. Raises DamagedError for
    a file with wrong content, RunError if disk or file system fail or another process locks the file for ten seconds.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._db = connection

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "SqliteRulesStore":
        """Opens the store in file `path`, and makes it if there is none. Raises InputError if `path` is a folder."""
        path = Path(path)
        with translated(path):
            if path.is_dir():
                raise InputError(f"{path} is a folder: name a file in it")
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _create(path)
            return cls(path, _connect(path))

    def close(self) -> None:
        """Closes the connection; no method may be called after it. May be called twice."""
        self._db.close()

    def __enter__(self) -> "SqliteRulesStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def load_robots(self, origin: str) -> Access | None:
        """Returns what any process saved last."""
        with translated(self._path):
            return load_access(self._db, origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """Saves completely or not at all."""
        with translated(self._path):
            save_access(self._db, origin, access)

    def load_visits(self, token: str, host: str) -> Visits:
        """Returns the visits of all processes."""
        query = "SELECT total, last_at FROM visits WHERE token = ? AND host = ?"
        with translated(self._path):
            row = self._db.execute(query, (token, host)).fetchone()
        return Visits(0, None) if row is None else Visits(*row)

    def add_visit(self, token: str, host: str, at: float) -> None:
        """Counts a visit in one statement, so that none is lost when two processes do so at once."""
        with translated(self._path):
            self._db.execute(_ADD_VISIT, (token, host, at))


def _create(path: Path) -> None:
    """Makes an empty store, completely or not at all; if several processes try, one does."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if path.exists():
            return
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            head = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
            connection.executescript(f"PRAGMA journal_mode = WAL; {head} {ROBOTS_TABLE} {_TABLES}")
        draft.replace(path)
        os.fsync(folder)
    finally:
        os.close(folder)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    try:
        check_format(connection, path, APPLICATION_ID, FORMAT, "a store of robot rules", "remove it")
        connection.executescript(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL;"
        )
        connection.executescript(_WRITE_NOTHING)
    except BaseException:
        connection.close()
        raise
    return connection
