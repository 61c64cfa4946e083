"""Reads and writes the tables of revisits: the last visit of each page, its original if it is a copy, and the time up
to which pages are revisited."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from sys import float_info
from typing import Any, Final

from goodbot.store.merge.limits import MAX_INDEXED_PAGES, MAX_LOOKED_AT
from goodbot.store.merge.link_rules import is_due_by
from goodbot.store.merge.outcome_rows import seen_of, seen_row
from goodbot.store.merge.outcome_rules import decides_copy
from goodbot.url import Url
from goodbot.values import LastVisit, Outcome

# `seen` has a row for every URL that was answered; it stays while the URL waits for its next visit and is revisited.
# `was` is the state from before a revisit, 0 if there is none: so a retry, or a kill, does not lose it.
# `copies` is apart from `visits`: few pages are copies, and one lookup finds those of a page. `said` is the value of
# `seen.text` of the other page when the two were compared; NULL for a copy that says so itself.
# `revisits` has one row: until when the crawl that writes here revisits; NULL: never. Readers use it too.
SEEN_TABLES: Final = """
CREATE TABLE seen (
  seq INTEGER PRIMARY KEY, was INTEGER NOT NULL, at REAL NOT NULL, due_at REAL NOT NULL, interval_s REAL NOT NULL,
  changed_at REAL NOT NULL, etag TEXT, modified TEXT, digest TEXT, file TEXT, offset INTEGER, title TEXT,
  gone INTEGER NOT NULL, available_until REAL, indexed INTEGER NOT NULL, text TEXT,
  rendered INTEGER NOT NULL DEFAULT 0, wishes TEXT NOT NULL DEFAULT '', whole_at REAL
);
CREATE TABLE copies (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, same_as TEXT NOT NULL, said TEXT, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE INDEX copies_same_as ON copies (same_as);
CREATE TABLE revisits (until REAL);
INSERT INTO revisits VALUES (NULL);
"""

SEEN_COLUMNS: Final = (
    "seen.at, due_at, seen.interval_s, changed_at, etag, modified, seen.digest, seen.file, seen.offset, seen.title,"
    " gone, available_until, indexed, text, rendered, wishes, whole_at"
)
"""The columns that `visit_of` reads."""

_LOAD: Final = f"SELECT {SEEN_COLUMNS} FROM seen WHERE seq = ?"  # noqa: S608 - names of ours
_SAVE: Final = "INSERT OR REPLACE INTO seen VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_COPIES: Final = """SELECT origin, path FROM copies INDEXED BY copies_same_as CROSS JOIN urls USING (host, hash)
  JOIN hosts ON hosts.id = urls.host WHERE same_as = ? ORDER BY seq LIMIT ?"""
_COPY: Final = "SELECT same_as, said FROM copies WHERE host = ? AND hash = ? AND said IS NOT NULL"
_TEXT: Final = "SELECT text FROM urls JOIN seen USING (seq) WHERE host = ? AND hash = ? AND indexed"
_INDEXED_PAGES: Final = """SELECT origin, path, digest, text FROM (
  SELECT host, seq, path, ready_at FROM urls INDEXED BY urls_again
  WHERE host = (SELECT id FROM hosts WHERE key = ?) AND state >= 8 ORDER BY ready_at DESC LIMIT ?) AS again
  JOIN hosts ON hosts.id = host JOIN seen USING (seq) WHERE indexed ORDER BY again.ready_at DESC LIMIT ?"""
_DROP_VALIDATORS: Final = "UPDATE seen SET etag = NULL, modified = NULL WHERE seq = ? AND at < ?"
_TIMES: Final = "SELECT at, due_at FROM seen WHERE seq = ?"


def until_of(revisit_until: float | None) -> float | None:
    """Returns the time to store. It is finite, so that a page whose due time is infinite is never due."""
    return None if revisit_until is None else min(revisit_until, float_info.max)


def visit_of(row: Sequence[Any]) -> LastVisit:
    """Builds a visit from SEEN_COLUMNS. Those of a B-tree page that was only half written read as NULL: damage."""
    try:
        return seen_of(row)
    except ValueError as error:
        raise sqlite3.DatabaseError(str(error)) from error


def load_seen(connection: sqlite3.Connection, seq: int) -> LastVisit:
    """Returns the last visit of a URL that has a row."""
    return visit_of(connection.execute(_LOAD, (seq,)).fetchone() or (None,) * 17)


def save_seen(connection: sqlite3.Connection, settled: Iterable[tuple[Outcome, int, int | None]]) -> None:
    """Saves the visits of outcomes, given with the numbers of their URLs and `was` (None: no row). A retry keeps the
    row; any other outcome replaces it, or deletes it if it leaves nothing for a next visit."""
    rows, over = [], []
    for outcome, seq, was in settled:
        if outcome.state == "ready":
            continue
        if outcome.seen is not None:
            rows.append((seq, *seen_row(outcome.seen)))
        elif was is not None:
            over.append((seq,))
    connection.executemany(_SAVE, rows)
    connection.executemany("DELETE FROM seen WHERE seq = ?", over)


def save_copies(
    connection: sqlite3.Connection,
    settled: Iterable[tuple[Outcome, tuple[int, int]]],
    text_of: Callable[[Url], str | None],
) -> None:
    """Saves which pages are copies of which. A retry changes nothing, nor does an unchanged page without a new
    original. `text_of`: see `text_of_indexed`."""
    final = [(outcome, key) for outcome, key in settled if decides_copy(outcome)]
    over = [key for outcome, key in final if outcome.same_as is None]
    copies = [
        (*key, outcome.same_as.text, text_of(outcome.same_as) if outcome.alike else None)
        for outcome, key in final
        if outcome.same_as is not None
    ]
    connection.executemany("DELETE FROM copies WHERE host = ? AND hash = ?", over)
    connection.executemany("INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?)", copies)


def copied(connection: sqlite3.Connection, key: tuple[int, int]) -> tuple[Url, str] | None:
    """Returns the page that this one was compared with and found to be a copy of, and the digest of its text then."""
    row = connection.execute(_COPY, key).fetchone()
    return None if row is None else (Url(row[0]), row[1])


def text_of_indexed(connection: sqlite3.Connection, key: tuple[int, int]) -> str | None:
    """Returns the digest of a page's text; None if it is not in the index."""
    row = connection.execute(_TEXT, key).fetchone()
    return None if row is None else row[0]


def indexed_pages_of(connection: sqlite3.Connection, host: str) -> list[tuple[str, str, str | None, str | None]]:
    """Returns origin, path and digests of pages of a host; see `LessonStore.load_indexed_pages`."""
    return connection.execute(_INDEXED_PAGES, (host, MAX_LOOKED_AT, MAX_INDEXED_PAGES)).fetchall()


def copies_of(connection: sqlite3.Connection, url: Url, most: int) -> list[tuple[str, str]]:
    """Returns origins and paths of the pages that are copies of `url`, in the order found."""
    return connection.execute(_COPIES, (url.text, most)).fetchall()


def bring_forward(connection: sqlite3.Connection, seq: int, modified_at: float, now: float) -> bool:
    """Makes a page due now if it was modified after its last visit; returns whether that is sooner than before."""
    row = connection.execute(_TIMES, (seq,)).fetchone()
    if row is None:
        return False
    seen_at, due_at = row
    if not is_due_by(modified_at, seen_at, due_at, now):
        return False
    connection.execute("UPDATE seen SET due_at = ? WHERE seq = ?", (now, seq))
    return True


def drop_validators(connection: sqlite3.Connection, seq: int, modified_at: float) -> None:
    """Makes the next visit of a page request the whole page, if its last visit was before `modified_at`."""
    connection.execute(_DROP_VALIDATORS, (seq, modified_at))
