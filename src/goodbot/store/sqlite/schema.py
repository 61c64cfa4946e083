"""Defines the frontier's file: its tables, how it is created, opened and locked, and what its errors mean."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.human import in_shell
from goodbot.store.reports.rows import UnreadableError
from goodbot.store.sqlite.courtesy_table import COURTESY_TABLES
from goodbot.store.sqlite.index_table import INDEX_TABLES
from goodbot.store.sqlite.lesson_table import LESSON_TABLE
from goodbot.store.sqlite.robots_table import ROBOTS_TABLE
from goodbot.store.sqlite.seen_table import SEEN_TABLES
from goodbot.values import STATES

FORMAT = 11
"""Raised with every change of the tables; `migrations.py` has the step that leads to it."""

APPLICATION_ID = 0x600DB07
"""Marks the file as ours (SQLite file format, offset 68)."""

# `urls` is clustered by (host, hash): the links of a page fall into few B-tree pages, and the key is stored
# once (89 bytes per URL against 110 with the hash alone as key, measured at 3.5 million URLs).
# `path` is the URL without `hosts.origin`, or the whole URL if it does not begin with that.
# `leased` has the leased URLs; in `urls` these stay ready, so that a lease changes neither the URL nor its place in the
# order. A host has at most one lease, so no URL can be leased twice.
# `found` has a row where the URLs from `seq` on have another time or source than those before: one per page.
# `hosts.due` is the time from which the host can be leased; NULL while it is leased or has nothing ready.
# `hosts.token`, `hosts.partition`: see `Lease`.
# `hosts.pages` counts URLs that were visited, including those that are being revisited.
# `hosts.turn`: 1 if the next lease begins with a list, else with a page. `hosts.lists` counts the lists settled since
# `hosts.lists_from` that were not visited before. `hosts.next_urls`: see `Release`. `urls.lists`: see `Discovery`.
# `leased.was` is that of `seen`, NULL for a URL that has no row there.
# `urls.interval_s` is how often it changes, according to a sitemap.
# `visits` is a rowid table: its rows hold the audit and are long; WITHOUT ROWID suits only short ones.
TABLES: Final = """
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,
  ready_at REAL NOT NULL, backoff REAL NOT NULL DEFAULT 0, due REAL,
  leased INTEGER NOT NULL DEFAULT 0, cut_at REAL, in_scope INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0,
  turn INTEGER NOT NULL DEFAULT 0, lists INTEGER NOT NULL DEFAULT 0, lists_from REAL NOT NULL DEFAULT 0,
  next_urls INTEGER, token INTEGER NOT NULL DEFAULT 0, partition INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX hosts_due ON hosts (due) WHERE due IS NOT NULL;
CREATE INDEX hosts_lists ON hosts (id) WHERE lists > 0;
CREATE INDEX hosts_leased ON hosts (id) WHERE leased = 1;
CREATE TABLE urls (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  rank INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, public_only INTEGER NOT NULL, hops INTEGER NOT NULL,
  ready_at REAL, refused TEXT, path TEXT NOT NULL, interval_s REAL,
  lists INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE INDEX urls_ready ON urls (host, rank, seq) WHERE state = 0;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE INDEX urls_again ON urls (host, ready_at) WHERE state >= 8;
CREATE TABLE leased (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, was INTEGER,
  expects_list INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE TABLE found (seq INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT);
CREATE TABLE visits (
  seq INTEGER PRIMARY KEY, at REAL NOT NULL, status INTEGER, digest TEXT, title TEXT, why TEXT NOT NULL,
  file TEXT, offset INTEGER, events TEXT NOT NULL
);
CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
"""

# `due_hosts`: when a host could be leased if it were not, by a few lookups; without INDEXED BY, SQLite reads all URLs.
VIEWS: Final = """
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0
    AND NOT EXISTS (SELECT 1 FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)) THEN ready_at
  ELSE (SELECT min(at) FROM (
    SELECT min(urls.ready_at) AS at FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2
    UNION ALL SELECT min(urls.ready_at) FROM urls INDEXED BY urls_again
      WHERE host = hosts.id AND state >= 8 AND urls.ready_at <= (SELECT until FROM revisits))) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, visits.at AS at, status, visits.digest AS digest,
  visits.title AS title, why, visits.file AS file, visits.offset AS offset, same_as, seen.seq AS seen,
  seen.at AS seen_at, due_at, seen.interval_s AS interval_s, changed_at, etag, modified, seen.digest AS seen_digest,
  seen.file AS seen_file, seen.offset AS seen_offset, seen.title AS seen_title, gone, available_until, indexed,
  text, rendered, wishes, whole_at
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash
  LEFT JOIN seen ON seen.seq = urls.seq
  LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash;
"""

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, None})
"""SQLITE_ERROR: our SQL is fixed, so a missing table is a damaged file. None: text that is not UTF-8."""


def create(path: Path) -> None:
    """Makes an empty frontier, completely or not at all: so a file of zero bytes is always a damaged one."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
            f"{TABLES} {SEEN_TABLES} {INDEX_TABLES} {VIEWS} {ROBOTS_TABLE} {COURTESY_TABLES} {LESSON_TABLE}"
        )
        names = (*STATES, "urls", "hosts", "bytes")
        connection.executemany("INSERT INTO totals (name) VALUES (?)", [(name,) for name in names])
    finally:
        connection.close()
    put_in_place(draft, path)


def put_in_place(draft: Path, path: Path) -> None:
    """Renames a finished draft to `path`; when this returns, that is on disk."""
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


_REMEDY = "resume the crawl, which brings it up to date, or crawl again"


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Opens a frontier. Raises InputError if there is none, else as `translated` says."""
    if not path.exists():
        raise InputError(
            f"no crawl in {path.parent}: start one with `goodbot crawl SEED --into {in_shell(path.parent)}`"
        )
    with translated(path):
        connection = _reader(path) if read_only else sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            check_format(connection, path, APPLICATION_ID, FORMAT, "a frontier of goodbot", _REMEDY)
            connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")
            if not read_only:
                connection.executescript(_TUNING)
        except BaseException:
            connection.close()
            raise
    return connection


# New URLs fall on random pages, and a longer journal collects writes to the same page: 300,000 URLs cost 1.2 GB of
# writes with a checkpoint each 64 MiB, 1.9 GB with SQLite's 4 MiB. `secure_delete`, on in some builds, writes more.
_TUNING = """
PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 16384; PRAGMA journal_size_limit = 67108864;
PRAGMA cache_size = -8192; PRAGMA secure_delete = OFF;
"""


def _reader(path: Path) -> sqlite3.Connection:
    """Opens a frontier for reading, even while a crawl is running; in a folder without write permission only if none is
    running.

    SQLite may leave an empty `-wal` and a `-shm` beside the file.
    """
    address = path.absolute().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=10, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        journal = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or (journal.exists() and journal.stat().st_size):
            raise
        return sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True, isolation_level=None)
    except BaseException:
        connection.close()
        raise
    return connection


def check_format(
    connection: sqlite3.Connection, path: Path, application_id: int, format_: int, what: str, remedy: str
) -> None:
    """Raises RunError for a file of another format, DamagedError for one that is not `what`.

    `remedy`: what to do about an older one.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == application_id and version > format_:
        raise RunError(
            f"{path} was written by a newer goodbot (format {version}; this one reads {format_}): upgrade it"
        )
    if application == application_id and 0 < version < format_:
        raise RunError(f"{path} is of an older goodbot (format {version}; this one reads {format_}): {remedy}")
    if (application, version) != (application_id, format_):
        raise damaged(path, f"not {what}")


@contextmanager
def translated(path: Path, *, read_only: bool = False) -> Iterator[None]:
    """Translates errors of SQLite and the file system into one clear line: DamagedError, or RunError (a full disk…).
    With `read_only` only the temporary files in which SQLite sorts can be too large for their disk."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if (code if code is None else code & 0xFF) in _DAMAGED:
            raise damaged(path, error) from error
        if read_only and code == sqlite3.SQLITE_FULL:
            raise RunError(f"cannot sort what {path} has: {error}; is there room in TMPDIR?") from error
        raise RunError(f"cannot use {path}: {error}; what was done before is kept") from error
    except (UnreadableError, UnicodeDecodeError) as error:  # SQLite quotes the octets of a damaged schema
        raise damaged(path, error) from error
    except OSError as error:
        raise RunError(f"cannot use {path}: {error.strerror or error}") from error


def damaged(path: Path, detail: object) -> DamagedError:
    """Builds the error for a file with wrong content."""
    return DamagedError(f"{path} is damaged ({detail}): restore it, or move it away and start again")
