"""Makes the frontier of a whole crawl from rows that do not depend on how a frontier stores them."""

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from goodbot.errors import DamagedError, InputError
from goodbot.files import lock_folder, make_folder
from goodbot.store.merge.coding import CODED, OUT_OF_SCOPE, hash_of
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.store.merge.outcome_rows import seen_row
from goodbot.store.sqlite.courtesy_table import save_courtesies
from goodbot.store.sqlite.crawl_dump import is_unknown
from goodbot.store.sqlite.lesson_table import save_lessons
from goodbot.store.sqlite.robots_table import save_access
from goodbot.store.sqlite.schema import create, put_in_place, translated
from goodbot.url import Url, authority_of

_LOG: Final = logging.getLogger(__name__)

_PLACED_HOSTS: Final = 65_536
"""How many hosts are remembered at a time as placed, so that few URLs need a query."""

# A draft that is not finished is deleted, so it needs no journal.
_TUNING: Final = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;
PRAGMA stage.journal_mode = OFF; PRAGMA stage.synchronous = OFF; PRAGMA stage.cache_size = -32768;
"""

# The rows as they came. A URL has one number in `urls`, `visits`, `seen` and `others`. `placed` has the URLs in the
# order found, `placed_hosts` the hosts in the order in which their first URLs were found: their new numbers are `seq`
# and `id`. `ever_in_scope`: a URL of the host was requested, or may be. `is_known`: see `is_unknown`.
_STAGE: Final = """
CREATE TABLE stage.hosts (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, partition, ready_at, backoff, cut_at, next_urls, pages, turn,
  lists, lists_from, forgotten_at, is_known, ever_in_scope DEFAULT 0
);
CREATE TABLE stage.urls (
  number INTEGER PRIMARY KEY, host INTEGER NOT NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, state, rank, found_at,
  source, place, tries, public_only, hops, lists, ready_at, refused, interval_s
);
CREATE TABLE stage.visits (number INTEGER PRIMARY KEY, at, status, digest, title, why, file, offset, events);
CREATE TABLE stage.seen (
  number INTEGER PRIMARY KEY, was, at, due_at, interval_s, changed_at, etag, modified, digest, file, offset, title,
  gone, available_until, indexed, text, rendered, wishes, whole_at
);
CREATE TABLE stage.others (number INTEGER PRIMARY KEY, same_as, said, pending, leaving);
CREATE TABLE stage.placed (seq INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE stage.placed_hosts (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, origin TEXT NOT NULL);
"""

_NEW_HOST: Final = """INSERT INTO stage.hosts (key, partition, ready_at, backoff, cut_at, next_urls, pages, turn, lists,
  lists_from, forgotten_at, is_known) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_NEW_VERSION: Final = "INSERT INTO robots_versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_URL: Final = "INSERT INTO stage.urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_VISIT: Final = "INSERT INTO stage.visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_SEEN: Final = "INSERT INTO stage.seen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NEW_OTHERS: Final = "INSERT INTO stage.others VALUES (?, ?, ?, ?, ?)"
_IN_SCOPE: Final = "UPDATE stage.hosts SET ever_in_scope = 1 WHERE number = ?"

_IN_ORDER: Final = "SELECT number, host, found_at, source, place FROM stage.urls ORDER BY found_at, place, number"
_NEW_SOURCE: Final = "INSERT INTO found VALUES (?, ?, ?)"
_PLACE_HOST: Final = """INSERT OR IGNORE INTO stage.placed_hosts (number, origin)
  SELECT host, origin_of(url) FROM stage.urls WHERE number = ?"""
_PLACE_OTHER_HOSTS: Final = """INSERT OR IGNORE INTO stage.placed_hosts (number, origin)
  SELECT number, bare_origin(key) FROM stage.hosts WHERE is_known ORDER BY key"""

_HOSTS: Final = "FROM stage.placed_hosts CROSS JOIN stage.hosts USING (number)"
_FILL_HOSTS: Final = f"""INSERT INTO main.hosts
  (id, key, origin, ready_at, backoff, cut_at, in_scope, pages, turn, lists, lists_from, next_urls, partition)
  SELECT id, key, origin, ready_at, backoff, cut_at, ever_in_scope, pages, turn, lists, lists_from, next_urls, partition
  {_HOSTS} ORDER BY id"""
_FILL_FORGOTTEN: Final = f"INSERT INTO forgotten SELECT id, forgotten_at {_HOSTS} WHERE forgotten_at IS NOT NULL"
_FILL_URLS: Final = """INSERT OR IGNORE INTO main.urls
  (host, hash, seq, state, rank, tries, public_only, hops, ready_at, refused, path, interval_s, lists)
  SELECT id, hash, seq, state, rank, tries, public_only, hops, ready_at, refused,
    iif(substr(url, 1, length(origin) + 1) = origin || '/', substr(url, length(origin) + 1), url), interval_s, lists
  FROM stage.placed CROSS JOIN stage.urls USING (number)
  CROSS JOIN stage.placed_hosts ON placed_hosts.number = urls.host ORDER BY id, hash, seq"""
_FILL_VISITS: Final = """INSERT INTO main.visits SELECT seq, at, status, digest, title, why, file, offset, events
  FROM stage.placed CROSS JOIN stage.visits USING (number) ORDER BY seq"""
_FILL_SEEN: Final = """INSERT INTO main.seen SELECT seq, was, at, due_at, interval_s, changed_at, etag, modified,
    digest, file, offset, title, gone, available_until, indexed, text, rendered, wishes, whole_at
  FROM stage.placed CROSS JOIN stage.seen USING (number) ORDER BY seq"""
_OTHERS: Final = """FROM stage.others CROSS JOIN stage.urls USING (number)
  CROSS JOIN stage.placed_hosts ON placed_hosts.number = urls.host"""
_FILL_COPIES: Final = f"""INSERT INTO main.copies SELECT id, hash, same_as, said {_OTHERS}
  WHERE same_as IS NOT NULL ORDER BY id, hash"""
_FILL_TO_INDEX: Final = f"""INSERT INTO main.to_index
  SELECT id, hash, iif(rendered, NULL, iif(seen.number IS NULL, visits.file, seen.file)),
    iif(rendered, NULL, iif(seen.number IS NULL, visits.offset, seen.offset)) {_OTHERS}
  LEFT JOIN stage.visits ON visits.number = urls.number LEFT JOIN stage.seen ON seen.number = urls.number
  WHERE pending ORDER BY id, hash"""
_FILL_LEAVING: Final = f"INSERT INTO main.leaving SELECT id, hash {_OTHERS} WHERE leaving ORDER BY id, hash"

_LEFT_OUT: Final = """CREATE TABLE stage.left_out AS SELECT placed.number FROM stage.placed
  CROSS JOIN stage.urls USING (number) CROSS JOIN stage.placed_hosts ON placed_hosts.number = urls.host
  CROSS JOIN main.urls AS kept ON kept.host = id AND kept.hash = urls.hash WHERE kept.seq != placed.seq"""
_DROPS: Final = tuple(
    f"DELETE FROM stage.{table} WHERE number IN (SELECT number FROM stage.left_out)"  # noqa: S608 - names of ours
    for table in ("visits", "seen", "others")
)

_INDEXES: Final = "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
_DUE: Final = """UPDATE hosts SET due = (SELECT due FROM due_hosts WHERE id = hosts.id)
  WHERE id NOT IN (SELECT host FROM forgotten)"""
_STATES: Final = "SELECT state, count(*) FROM main.urls GROUP BY state"
_HOSTS_IN_SCOPE: Final = "SELECT count(*) FROM main.hosts WHERE in_scope"


def write_crawl(path: Path, hosts: Iterable[HostRow], urls: Iterable[UrlRow], *, size_bytes: int) -> None:
    """Makes the frontier in file `path`, completely or not at all. A crawl can then be resumed there.

    Reads all `hosts`, then all `urls`, each once and in any order; the host of every URL must be among `hosts`. The new
    frontier has the URLs in the order of `found_at` and `place`, and hosts in the order of their first URLs. If two
    URLs of one host have the same `hash_of`, it has only the first. It names no search index, so the next crawl makes
    one from the archive. `size_bytes`: the bytes received by the crawl (`Status.bytes`). Needs bounded memory, in the
    folder about twice the space of the new file, and some of that again where SQLite has its temporary files.

    Raises InputError if there is a frontier, BusyError if another process writes to the folder, DamagedError if the row
    of a host is missing, RunError if the disk or the file system fails."""
    path = Path(path)
    make_folder(path.parent)
    with _locked(path), translated(path):
        journal = path.with_name(f"{path.name}-wal")
        if path.exists() or journal.exists():
            raise InputError(f"there is a crawl in {path.parent} already: choose another folder")
        draft, stage = path.with_name(f"{path.name}.draft"), path.with_name(f"{path.name}.stage")
        try:
            _remove(draft, stage)
            create(draft)
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                connection.execute("ATTACH ? AS stage", (str(stage),))
                connection.executescript(f"{_TUNING} {_STAGE} BEGIN;")
                _Filling(connection, path).fill(hosts, urls, size_bytes)
                connection.execute("COMMIT")
            _sync(draft)
            put_in_place(draft, path)
        finally:
            _remove(draft, stage)


class _Filling:
    """Fills a new frontier, and sorts its rows in tables of the attached file `stage`. `path` is for errors."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._last_host: tuple[str, int] = ("", 0)
        self._last_in_scope = 0
        self._next_seq = 0

    def fill(self, hosts: Iterable[HostRow], urls: Iterable[UrlRow], size_bytes: int) -> None:
        """Fills all tables. Their indexes are made afterwards, which takes less time."""
        self._db.create_function("origin_of", 1, _origin_of, deterministic=True)
        self._db.create_function("bare_origin", 1, _bare_origin, deterministic=True)
        indexes = self._db.execute(_INDEXES).fetchall()
        for name, _ in indexes:
            self._db.execute(f"DROP INDEX {name}")
        for host in hosts:
            self._stage_host(host)
        self._db.executemany(_NEW_URL, self._staged(urls))
        self._db.executemany("INSERT INTO stage.placed VALUES (?, ?)", self._placed())
        for statement in (_PLACE_OTHER_HOSTS, _FILL_HOSTS, _FILL_FORGOTTEN):
            self._db.execute(statement)
        self._fill_urls()
        for statement in (_FILL_VISITS, _FILL_SEEN, _FILL_COPIES, _FILL_TO_INDEX, _FILL_LEAVING):
            self._db.execute(statement)
        for _, statement in indexes:
            self._db.execute(statement)
        self._db.execute(_DUE)
        self._write_totals(size_bytes)

    def _stage_host(self, row: HostRow) -> None:
        self._db.execute(_NEW_HOST, (*row[:10], row.forgotten_at, not is_unknown(row)))
        for origin, access in row.robots:
            save_access(self._db, origin, access)
        self._db.executemany(_NEW_VERSION, row.versions)
        if row.lessons:
            save_lessons(self._db, row.lessons)
        if row.courtesy is not None:
            save_courtesies(self._db, [row.courtesy])

    def _staged(self, urls: Iterable[UrlRow]) -> Iterator[tuple[Any, ...]]:
        """Yields rows of `stage.urls`; writes the other rows about these URLs."""
        for number, row in enumerate(urls):
            host = self._last_host[1] if row.host == self._last_host[0] else self._find_host(row.host)
            if row.visit is not None:
                self._db.execute(_NEW_VISIT, (number, *row.visit))
            if row.seen is not None:
                self._db.execute(_NEW_SEEN, (number, row.was or 0, *seen_row(row.seen)))
            if row.pending or row.leaving or row.same_as is not None:
                others = (row.same_as, row.compared_text, row.pending, row.leaving)
                self._db.execute(_NEW_OTHERS, (number, *others))
            if host != self._last_in_scope and _was_in_scope(row):
                self._db.execute(_IN_SCOPE, (host,))
                self._last_in_scope = host
            yield (number, host, hash_of(row.url), *row[1:14])

    def _find_host(self, host: str) -> int:
        found = self._db.execute("SELECT number FROM stage.hosts WHERE key = ?", (host,)).fetchone()
        if found is None:
            raise DamagedError(f"cannot make {self._path}: there are URLs of {host}, but its own row is missing")
        self._last_host = (host, found[0])
        return self._last_host[1]

    def _placed(self) -> Iterator[tuple[int, int]]:
        """Yields `seq` and `number` of the URLs, by time and place; writes `found`, and places the hosts. Gaps between
        the places of one time are kept, so that a dump of the new file has the same places."""
        placed: set[int] = set()
        first, last_at, last_source = 0, None, None
        for number, host, found_at, source, place in self._db.execute(_IN_ORDER):
            if host not in placed:
                self._db.execute(_PLACE_HOST, (number,))
                if len(placed) >= _PLACED_HOSTS:
                    placed.clear()
                placed.add(host)
            is_later = found_at != last_at
            if is_later:
                first = self._next_seq
            seq = max(self._next_seq, first + place)
            if is_later or source != last_source:
                self._db.execute(_NEW_SOURCE, (first if is_later else seq, found_at, source))
            last_at, last_source, self._next_seq = found_at, source, seq + 1
            yield seq, number

    def _fill_urls(self) -> None:
        """Fills `urls` in the order of its key, and leaves out URLs that have the key of another."""
        kept = self._db.execute(_FILL_URLS).rowcount
        (given,) = self._db.execute("SELECT count(*) FROM stage.placed").fetchone()
        if kept != given:
            _LOG.warning("%d URLs are not in %s: they have the same hash as others", given - kept, self._path)
            for statement in (_LEFT_OUT, *_DROPS):
                self._db.execute(statement)

    def _write_totals(self, size_bytes: int) -> None:
        (hosts,) = self._db.execute(_HOSTS_IN_SCOPE).fetchone()
        values = [(count, CODED[state]) for state, count in self._db.execute(_STATES)]
        values += [(self._next_seq, "urls"), (size_bytes, "bytes"), (hosts, "hosts")]
        self._db.executemany("UPDATE totals SET value = value + ? WHERE name = ?", values)


def _was_in_scope(row: UrlRow) -> bool:
    return row.state != OUT_OF_SCOPE or row.refused is None or row.visit is not None


def _origin_of(url: str) -> str:
    return Url(url).origin


def _bare_origin(host: str) -> str:
    """Returns an origin for a host without URLs, where it has no effect."""
    return f"http://{authority_of(host)}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with translated(path):
        lock = lock_folder(path)
    try:
        yield
    finally:
        os.close(lock)


def _remove(*files: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _sync(file: Path) -> None:
    """Waits until the content is on disk."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
