"""Reads and writes the tables of courtesy: a row per host, the last versions of each robots.txt, forgotten hosts."""

import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from goodbot.exclusion import Access
from goodbot.live import Courtesy
from goodbot.store.merge.limits import MAX_VERSIONS

# `courtesies` has the fields of `Courtesy` as columns, in their order.
COURTESY_TABLES: Final = """
CREATE TABLE courtesies (
  host TEXT PRIMARY KEY, requests INTEGER NOT NULL, robots_txt INTEGER NOT NULL, status_429 INTEGER NOT NULL,
  status_503 INTEGER NOT NULL, unanswered INTEGER NOT NULL, retry_afters INTEGER NOT NULL,
  longest_retry_after_s REAL NOT NULL, sooner INTEGER NOT NULL, inside INTEGER NOT NULL, waited_s REAL NOT NULL,
  least_gap_s REAL, least_gap_at REAL, asked_gap_s REAL, first_at REAL, last_at REAL, busy_from REAL NOT NULL,
  busy_until REAL NOT NULL, held_from REAL NOT NULL, held_until REAL NOT NULL, last_status INTEGER, agent TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE robots_versions (
  origin TEXT NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL, fetches INTEGER NOT NULL, result TEXT NOT NULL,
  status INTEGER, failure TEXT, digest TEXT, bytes INTEGER, PRIMARY KEY (origin, first_at)
) WITHOUT ROWID;
CREATE TABLE forgotten (host INTEGER PRIMARY KEY, at REAL NOT NULL);
"""

_SAVE: Final = """INSERT OR REPLACE INTO courtesies
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_LAST: Final = """SELECT first_at, result, status, failure, digest FROM robots_versions
  WHERE origin = ? ORDER BY first_at DESC LIMIT 1"""
_SAME: Final = "UPDATE robots_versions SET last_at = ?, fetches = fetches + 1 WHERE origin = ? AND first_at = ?"
_NEW: Final = "INSERT OR REPLACE INTO robots_versions VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)"
_OLD: Final = """DELETE FROM robots_versions WHERE origin = :origin AND first_at < (SELECT min(first_at) FROM
  (SELECT first_at FROM robots_versions WHERE origin = :origin ORDER BY first_at DESC LIMIT :most))"""


def load_courtesies(connection: sqlite3.Connection, hosts: Iterable[str]) -> dict[str, Courtesy]:
    """Returns the records of these hosts, without hosts that received no requests."""
    found: dict[str, Courtesy] = {}
    for host in hosts:
        row = connection.execute("SELECT * FROM courtesies WHERE host = ?", (host,)).fetchone()
        if row is not None:
            found[host] = Courtesy(*row)
    return found


def save_courtesies(connection: sqlite3.Connection, courtesies: Iterable[Courtesy]) -> None:
    """Replaces what was known of their hosts."""
    connection.executemany(_SAVE, courtesies)


def save_version(connection: sqlite3.Connection, origin: str, access: Access) -> None:
    """Counts one more fetch of the last known version, or adds a new version."""
    read = access.result == "successful"
    digest = sha256(access.body).hexdigest() if read else None
    found = (access.result, access.status, access.failure, digest)
    last = connection.execute(_LAST, (origin,)).fetchone()
    if last is not None and last[1:] == found:
        connection.execute(_SAME, (access.fetched_at, origin, last[0]))
        return
    size = len(access.body) + access.cut_bytes if read else None
    connection.execute(_NEW, (origin, access.fetched_at, access.fetched_at, *found, size))
    connection.execute(_OLD, {"origin": origin, "most": MAX_VERSIONS})
