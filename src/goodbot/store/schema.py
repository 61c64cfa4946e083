"""The frontier's file: its tables, how it is made and opened, what its errors mean."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.values import STATES, State

FORMAT = 1
"""Raised when a change of the tables makes older files unreadable."""

APPLICATION_ID = 0x600DB07
"""Marks the file as ours (SQLite file format, offset 68)."""

READY: Final = 0
LEASED: Final = 1
LATER: Final = 2
OUT_OF_SCOPE: Final = 5
CODED: tuple[State, ...] = (
    "ready",
    "leased",
    "ready",
    "visited",
    "disallowed",
    "out-of-scope",
    "failed",
    "gone",
)
"""States by the number they are stored as. LATER is `ready`, but not before a certain time."""

CODES: dict[State, int] = {state: CODED.index(state) for state in STATES}

# `urls` is clustered by (host, hash): the links of a page fall into few B-tree pages, and the key is stored
# once (89 bytes per URL against 110 with the hash alone as key, measured at 3.5 million URLs).
# `path` is the URL without `hosts.origin`, or the whole URL if it does not begin with that.
# `found` has a row where the URLs from `seq` on have another time or source than those before: one per page.
# `hosts.due` is the time from which the host can be leased; NULL while it is leased or has nothing ready.
# `due_hosts` computes it, leases left aside, by two look-ups; without INDEXED BY, SQLite walks the host.
# `robots` has the fields of `Access` in their order.
# `visits` is a rowid table: its rows hold the audit and are long; WITHOUT ROWID suits short ones only.
_TABLES = """
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,
  ready_at REAL NOT NULL, backoff REAL NOT NULL DEFAULT 0, due REAL,
  leased INTEGER NOT NULL DEFAULT 0, cut_at REAL, in_scope INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX hosts_due ON hosts (due) WHERE due IS NOT NULL;
CREATE INDEX hosts_leased ON hosts (id) WHERE leased = 1;
CREATE TABLE urls (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  depth INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, public_only INTEGER NOT NULL, hops INTEGER NOT NULL,
  ready_at REAL, refused TEXT, path TEXT NOT NULL,
  PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE INDEX urls_ready ON urls (host, depth, seq) WHERE state = 0;
CREATE INDEX urls_leased ON urls (host) WHERE state = 1;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE TABLE found (seq INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT);
CREATE TABLE visits (
  seq INTEGER PRIMARY KEY, at REAL NOT NULL, status INTEGER, digest TEXT, title TEXT, why TEXT NOT NULL,
  file TEXT, offset INTEGER, events TEXT NOT NULL
);
CREATE TABLE to_index (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, file TEXT, offset INTEGER, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE TABLE robots (
  origin TEXT PRIMARY KEY, result TEXT NOT NULL, dialect TEXT NOT NULL, fetched_at REAL NOT NULL,
  valid_until REAL NOT NULL, status INTEGER, reason TEXT NOT NULL, section TEXT NOT NULL, body BLOB NOT NULL,
  good_at REAL, tries INTEGER NOT NULL, cut_bytes INTEGER NOT NULL
);
CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0) THEN ready_at
  ELSE (SELECT min(urls.ready_at) FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT host, hash, urls.seq AS seq,
  origin, path, state, depth, refused, at, status, digest, title, why, file, offset
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq;
"""

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, None})
"""SQLITE_ERROR: our SQL is fixed, so a table it misses is the file's fault. None: text that is not UTF-8."""


def hash_of(text: str) -> int:
    """64 bits of BLAKE2b, signed as SQLite's integers are.

    Two URLs are confused only within one host: at 10 million URLs of it the odds are 1 in 370,000 that a
    single one is taken for known. A host that forges collisions hides its own pages.
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def create(path: Path) -> None:
    """Makes an empty frontier, whole or not at all: so a file of zero bytes is always a damaged one."""
    unborn = path.with_name(path.name + ".new")
    unborn.unlink(missing_ok=True)
    connection = sqlite3.connect(unborn, isolation_level=None)
    try:
        connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {_TABLES}")
        names = (*STATES, "urls", "hosts", "bytes")
        connection.executemany("INSERT INTO totals (name) VALUES (?)", [(name,) for name in names])
    finally:
        connection.close()
    unborn.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection to a frontier. Raises InputError if there is none, else as `translated` says."""
    if not path.exists():
        raise InputError(f"no crawl in {path.parent}: start one with `goodbot crawl SEED --into {path.parent}`")
    with translated(path):
        connection = _reader(path) if read_only else sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            _check_format(connection, path)
            connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")
            if not read_only:
                connection.executescript(_TUNING)
        except BaseException:
            connection.close()
            raise
    return connection


# New URLs fall on random pages, so a longer journal gathers writes to the same page: 300,000 URLs cost 1.2 GB of
# writes with a checkpoint each 64 MiB, 1.9 GB with SQLite's 4 MiB. `secure_delete`, on in some builds, writes more.
_TUNING = """
PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 16384; PRAGMA journal_size_limit = 67108864;
PRAGMA cache_size = -65536; PRAGMA secure_delete = OFF;
"""


def _reader(path: Path) -> sqlite3.Connection:
    """Reads beside a crawl that runs; in a folder that cannot be written, a crawl at rest.

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


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID and version > FORMAT:
        raise RunError(f"{path} was written by a newer goodbot (format {version}; this one reads {FORMAT}): upgrade it")
    if (application, version) != (APPLICATION_ID, FORMAT):
        raise damaged(path, "not a frontier of goodbot")


def lock(path: Path) -> int:
    """Takes the folder for one writer. Closing the descriptor frees it, as does the end of the process."""
    # Not on the file itself: closing a second descriptor of it drops the locks SQLite holds there (fcntl(2)).
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise RunError(f"another crawl is using {path.parent}: wait for its end or choose another folder") from error
    return descriptor


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What SQLite and the file system report, as one clear line: DamagedError, or RunError (a full disk…)."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if (code if code is None else code & 0xFF) in _DAMAGED:
            raise damaged(path, error) from error
        raise RunError(f"cannot use {path}: {error}; what was done before is kept") from error
    except OSError as error:
        raise RunError(f"cannot use {path}: {error.strerror or error}") from error


def damaged(path: Path, detail: object) -> DamagedError:
    """The error to raise for a file that does not hold what it should."""
    return DamagedError(f"{path} is damaged ({detail}): restore it, or move it away and crawl again")
