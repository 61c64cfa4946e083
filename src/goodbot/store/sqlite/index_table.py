"""Reads and writes the tables of the search index: pages not in it yet, pages that leave it, and which index it is."""

import sqlite3
from typing import Final

from goodbot.search_values import IndexMark
from goodbot.values import NOT_INDEXED

# `search_index` has at most one row: the index that is known to hold every page that `seen` marks as indexed, except
# those in `to_index`. An index that is missing, is another one, or is an older copy does not hold them all.
INDEX_TABLES: Final = """
CREATE TABLE to_index (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, file TEXT, offset INTEGER, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE TABLE leaving (host INTEGER NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (host, hash)) WITHOUT ROWID;
CREATE TABLE search_index (identity TEXT NOT NULL, written INTEGER NOT NULL);
"""

_PLACES: Final = """SELECT urls.host, urls.hash, iif(rendered, NULL, seen.file), iif(rendered, NULL, seen.offset)
  FROM urls JOIN seen USING (seq)"""
_NOT_FORGOTTEN: Final = "urls.host NOT IN (SELECT host FROM forgotten)"
_QUEUE_INDEXED: Final = f"INSERT OR REPLACE INTO to_index {_PLACES} WHERE indexed AND {_NOT_FORGOTTEN}"
_QUEUE_SKIPPED: Final = f"""INSERT OR REPLACE INTO to_index {_PLACES} JOIN visits USING (seq)
  WHERE NOT indexed AND instr(events, ?) AND {_NOT_FORGOTTEN}
  AND NOT EXISTS (SELECT 1 FROM copies WHERE copies.host = urls.host AND copies.hash = urls.hash)"""  # noqa: S608 - ours
_QUEUED_ARE_INDEXED: Final = """UPDATE seen SET indexed = 1
  WHERE NOT indexed AND seq IN (SELECT seq FROM to_index CROSS JOIN urls USING (host, hash))"""
_QUEUED_STAY: Final = "DELETE FROM leaving WHERE (host, hash) IN (SELECT host, hash FROM to_index)"
_SKIPPED: Final = f',"index","no","{NOT_INDEXED}",'
"""The event as it is stored in `visits.events`."""


def load_mark(connection: sqlite3.Connection) -> IndexMark | None:
    """Returns the index that the crawl writes, and how far it was written at its last commit; None: it never had
    one."""
    row = connection.execute("SELECT identity, written FROM search_index").fetchone()
    return None if row is None else IndexMark(*row)


def save_mark(connection: sqlite3.Connection, mark: IndexMark) -> None:
    connection.execute("DELETE FROM search_index")
    connection.execute("INSERT INTO search_index VALUES (?, ?)", mark)


def lacks_documents(connection: sqlite3.Connection, documents: int) -> bool:
    """Returns whether an index of so many documents cannot hold all that was indexed. Reads all of `seen`."""
    (missing,) = connection.execute(
        "SELECT (SELECT count(*) FROM seen WHERE indexed) - (SELECT count(*) FROM to_index) - ?", (documents,)
    ).fetchone()
    return bool(missing > 0)


def queue_skipped(connection: sqlite3.Connection) -> int:
    """Makes pages pending that were fetched while the crawl kept no index; returns how many are pending. One pass over
    all URLs."""
    connection.execute(_QUEUE_SKIPPED, (_SKIPPED,))
    connection.execute(_QUEUED_ARE_INDEXED)
    connection.execute(_QUEUED_STAY)
    (pending,) = connection.execute("SELECT count(*) FROM to_index").fetchone()
    return int(pending)


def queue_all(connection: sqlite3.Connection) -> int:
    """Makes every page pending that was indexed, or skipped; returns how many. One pass over all URLs."""
    connection.execute(_QUEUE_INDEXED)
    return queue_skipped(connection)
