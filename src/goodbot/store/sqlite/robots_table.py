"""Reads and writes the table of robots.txt files: the `Access` of each origin, its fields as columns in their order."""

import sqlite3
from dataclasses import fields
from typing import Final

from goodbot.exclusion import Access

# A rowid table: its rows hold whole files, and WITHOUT ROWID suits short rows only.
ROBOTS_TABLE: Final = """
CREATE TABLE robots (
  origin TEXT PRIMARY KEY, result TEXT NOT NULL, dialect TEXT NOT NULL, fetched_at REAL NOT NULL,
  valid_until REAL NOT NULL, status INTEGER, failure TEXT, body BLOB NOT NULL, good_at REAL,
  cut_bytes INTEGER NOT NULL, tries INTEGER NOT NULL, failing_since REAL, site_answers INTEGER NOT NULL
);
"""


def save_access(connection: sqlite3.Connection, origin: str, access: Access) -> None:
    """Replaces what was known of `origin`."""
    values = (origin, *(getattr(access, item.name) for item in fields(access)))
    connection.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def load_access(connection: sqlite3.Connection, origin: str) -> Access | None:
    """Returns what was saved last."""
    row = connection.execute("SELECT * FROM robots WHERE origin = ?", (origin,)).fetchone()
    if row is None:
        return None
    return Access(*[*row[1:-1], bool(row[-1])])  # SQLite has no booleans
