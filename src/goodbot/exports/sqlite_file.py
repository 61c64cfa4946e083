"""Writes SQLite databases."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.exports.tables import SCHEMA_VERSION, NamedRow, Table

APPLICATION_ID: Final = 0x676F6F64
"""`PRAGMA application_id` of the files: `good` in ASCII. `PRAGMA user_version` is `SCHEMA_VERSION`."""
_COPIED_AT_ONCE: Final = 1024**2
_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "time": "REAL"}
_SET_UP: Final = f"""
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -65536;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""
"""Nobody else reads the file until it is whole, and after a crash it is of no use."""


def create_statements(table: Table) -> tuple[str, list[str]]:
    """Returns the statement that creates a table, and those that create its indexes, to run after it is filled. A table
    without a key numbers its rows: `id`."""
    lines = [] if table.key else ["id INTEGER PRIMARY KEY"]
    for column in table.columns:
        key = " PRIMARY KEY" if column.name == table.key else ""
        lines.append(f"{column.name} {_TYPES[column.kind]}{'' if column.optional else ' NOT NULL'}{key}")
    indexes = [
        f"CREATE INDEX {table.name}_by_{column.name} ON {table.name} ({column.name})"
        for column in table.columns
        if column.indexed
    ]
    return f"CREATE TABLE {table.name} ({', '.join(lines)}) STRICT", indexes


def open_journal(file: Path) -> Path | None:
    """Returns the file beside a database in which SQLite keeps what it has not yet written there; None if there is
    none. It belongs to the old content: SQLite would write it into a new database of the same name."""
    journals = (file.with_name(f"{file.name}{suffix}") for suffix in ("-wal", "-journal"))
    return next((journal for journal in journals if journal.exists()), None)


def write_sqlite(file: BinaryIO, folder: Path | None, tables: Sequence[Table], rows: Iterable[NamedRow]) -> None:
    """Writes a database with some tables to an open file. `rows` are pairs of the name of a table and a row.

    SQLite writes to a temporary file in `folder` first (None: where the system keeps such files), which is then copied.
    Raises OSError if a file cannot be written.
    """
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".goodbot-", suffix=".part") as made:
        try:
            with closing(sqlite3.connect(made.name, isolation_level=None)) as connection:
                _fill(connection, tables, rows)
        except sqlite3.OperationalError as error:
            raise OSError(None, str(error)) from error
        shutil.copyfileobj(made, file, _COPIED_AT_ONCE)


def _fill(connection: sqlite3.Connection, tables: Sequence[Table], rows: Iterable[NamedRow]) -> None:
    connection.executescript(_SET_UP)
    connection.execute("BEGIN")
    inserts = {}
    for table in tables:
        connection.execute(create_statements(table)[0])
        marks = ", ".join("?" * len(table.columns))
        inserts[table.name] = f"INSERT INTO {table.name} ({', '.join(table.names)}) VALUES ({marks})"  # noqa: S608
    for name, row in rows:
        connection.execute(inserts[name], row)
    for table in tables:
        for statement in create_statements(table)[1]:
            connection.execute(statement)
    connection.execute("COMMIT")
