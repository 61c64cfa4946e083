"""Defines the file of a request store: its tables, how it is created, locked and opened."""

import os
import sqlite3
from pathlib import Path
from typing import Final

from goodbot.errors import InputError
from goodbot.store.sqlite.schema import check_format, damaged, put_in_place, translated

FORMAT: Final = 1
"""Raised with every change of the tables."""

FILE_NAME: Final = "requests.sqlite"
"""The name of the file in its folder."""

APPLICATION_ID: Final = 0x600DB0E
"""Marks the file as a request store of goodbot (SQLite file format, offset 68)."""

# `hosts.due`: 0 if requests to the host may be leased, `UNTIL_ANSWER` until one of those leased is done, else the time
# (Unix seconds) from which they may be leased. `hosts.turn` is the number of its last lease.
# `requests.data` is NULL for a request that only the running process has, because it cannot be encoded.
# Of a host's requests, the next one has the lowest (`rank`, `late`, `place`).
# `requests.leased`: 0 it waits, 1 it is leased, 2 it is set aside until the next run.
# `starts` counts how often a request was stored as a start request, and how often the run `run` has asked for it.
_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, waiting INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0
);
CREATE INDEX hosts_next ON hosts (leased, turn) WHERE waiting > 0 AND due = 0;
CREATE INDEX hosts_due ON hosts (due) WHERE waiting > 0 AND due > 0;
CREATE INDEX hosts_leased ON hosts (id) WHERE leased > 0;
CREATE TABLE requests (
  id INTEGER PRIMARY KEY, host INTEGER NOT NULL, rank INTEGER NOT NULL, late INTEGER NOT NULL, place INTEGER NOT NULL,
  leased INTEGER NOT NULL DEFAULT 0, data BLOB
);
CREATE INDEX requests_next ON requests (host, rank, late, place) WHERE leased = 0;
CREATE INDEX requests_leased ON requests (host) WHERE leased > 0;
CREATE INDEX requests_without_data ON requests (host) WHERE data IS NULL;
CREATE TABLE seen (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE starts (
  fingerprint BLOB PRIMARY KEY, stored INTEGER NOT NULL, run INTEGER NOT NULL, asked INTEGER NOT NULL
) WITHOUT ROWID;
"""

# As for the frontier (store/sqlite/schema.py): a longer journal collects writes to the same page.
_TUNING: Final = """
PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL;
PRAGMA wal_autocheckpoint = 16384; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192;
PRAGMA secure_delete = OFF; PRAGMA synchronous = NORMAL;
"""


def open_file(path: Path, owner: str) -> sqlite3.Connection:
    """Opens the store of `owner` at `path`, or creates it; only its owner can read a file that this creates. The caller
    has locked the folder.

    Raises InputError if another owner's requests are there, DamagedError, and RunError if the disk fails."""
    with translated(path):
        if not path.exists():
            _create(path, owner)
        connection = sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            check_format(connection, path, APPLICATION_ID, FORMAT, "a request store of goodbot", "use another folder")
            connection.executescript(_TUNING)
            _check_owner(connection, path, owner)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_owner(connection: sqlite3.Connection, path: Path, owner: str) -> None:
    row = connection.execute("SELECT value FROM about WHERE name = 'owner'").fetchone()
    if row is None or not isinstance(row[0], str):
        raise damaged(path, "it does not name its spider")
    if row[0] != owner:
        held = f"{path.parent} holds the requests of the spider {row[0]!r}"
        raise InputError(f"{held}: give {owner!r} a folder of its own")


def _create(path: Path, owner: str) -> None:
    """Creates an empty store, completely or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {_TABLES}")
        values = [("owner", owner), ("run", 0), ("turn", 0), ("done", 0), ("syncs", 0)]
        connection.executemany("INSERT INTO about VALUES (?, ?)", values)
    finally:
        connection.close()
    put_in_place(draft, path)
