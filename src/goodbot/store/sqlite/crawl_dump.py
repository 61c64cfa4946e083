"""Reads a whole crawl from its frontier, as rows that do not depend on how a frontier stores them."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from goodbot.files import lock_folder
from goodbot.partitions import partition_of
from goodbot.report_values import RobotsVersion
from goodbot.store.merge.coding import CODED, LEASED
from goodbot.store.merge.crawl_rows import HostRow, UrlRow, VisitRow
from goodbot.store.reports.rows import UnreadableError
from goodbot.store.sqlite.courtesy_table import load_courtesies
from goodbot.store.sqlite.lesson_table import load_lessons
from goodbot.store.sqlite.robots_table import load_access
from goodbot.store.sqlite.schema import connect, translated
from goodbot.store.sqlite.seen_table import SEEN_COLUMNS, visit_of
from goodbot.url import Url

_STATES: Final = frozenset(range(len(CODED))) - {LEASED}

# `origins` has the origins that robots.txt is known of, by host. `firsts` has the rows of `found` before which other
# rows have the same time: `first` is the `seq` of the first of these.
_HELPERS: Final = """
CREATE TEMP TABLE origins (host TEXT NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (host, origin)) WITHOUT ROWID;
INSERT INTO origins SELECT host_key(origin), origin FROM
  (SELECT origin FROM robots UNION SELECT origin FROM robots_versions);
CREATE TEMP TABLE firsts (seq INTEGER PRIMARY KEY, first INTEGER NOT NULL);
INSERT INTO firsts SELECT found.seq, first
  FROM (SELECT at, min(seq) AS first FROM found GROUP BY at HAVING count(*) > 1) AS several
  JOIN found ON found.at = several.at WHERE found.seq > first ORDER BY found.seq;
"""

_HOSTS: Final = """SELECT known.key, id, partition, ready_at, backoff, iif(leased, :now, cut_at), next_urls, pages,
  turn, lists, lists_from, forgotten.at FROM (SELECT key FROM hosts UNION SELECT host FROM courtesies
    UNION SELECT host FROM lessons UNION SELECT host FROM temp.origins) AS known
  LEFT JOIN hosts ON hosts.key = known.key LEFT JOIN forgotten ON forgotten.host = hosts.id ORDER BY known.key"""
_HAS_URLS: Final = "SELECT 1 FROM urls WHERE host = ? LIMIT 1"
_ORIGINS: Final = "SELECT origin FROM temp.origins WHERE host = ? ORDER BY origin"
_VERSIONS: Final = "SELECT * FROM robots_versions WHERE origin = ? ORDER BY first_at"

# The order of `hosts.key` comes from its index, so that only the URLs of one host at a time are sorted.
_URLS: Final = f"""SELECT hosts.key, iif(substr(path, 1, 1) = '/', origin || path, path) AS url, state, rank,
  coalesce(found.at, 0.0), source, urls.seq - coalesce(first, found.seq, 0), tries, public_only, hops, urls.lists,
  urls.ready_at, refused, urls.interval_s, nullif(was, 0), same_as, said, to_index.host, leaving.host, visits.seq,
  visits.at, status, visits.digest, visits.title, why, visits.file, visits.offset, events, seen.seq, {SEEN_COLUMNS}
  FROM hosts CROSS JOIN urls ON urls.host = hosts.id
  LEFT JOIN found ON found.seq = (SELECT seq FROM found WHERE seq <= urls.seq ORDER BY seq DESC LIMIT 1)
  LEFT JOIN temp.firsts ON firsts.seq = found.seq
  LEFT JOIN visits ON visits.seq = urls.seq LEFT JOIN seen ON seen.seq = urls.seq
  LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash
  LEFT JOIN to_index ON to_index.host = urls.host AND to_index.hash = urls.hash
  LEFT JOIN leaving ON leaving.host = urls.host AND leaving.hash = urls.hash
  ORDER BY hosts.key, url"""  # noqa: S608 - names of ours


class CrawlDump:
    """The rows of a crawl at one moment. For one thread; `hosts` and `urls` may be read at the same time.

    It changes nothing, keeps the folder locked until it is closed, and needs bounded memory; the URLs of a large host
    are sorted in a temporary file of SQLite. Calls raise DamagedError for a file with wrong content, RunError if the
    disk or the file system fails."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int, now: float) -> None:
        self._path = path
        self._db = connection
        self._lock: int | None = lock
        self._now = now

    @classmethod
    def open(cls, path: Path, *, now: Callable[[], float] = time.time) -> Self:
        """Opens the frontier in file `path`. `now`: see `SqliteFrontier.open`; a lease that a killed crawl left was cut
        off then.

        Raises InputError if there is no such file, BusyError if another process writes to it, RunError if its format is
        older."""
        path = Path(path)
        if not path.exists():
            connect(path, read_only=True)  # raises InputError
        with translated(path):
            lock = lock_folder(path)
        try:
            dump = cls(path, connect(path, read_only=True), lock, now())
        except BaseException:
            os.close(lock)
            raise
        try:
            dump._begin()
        except BaseException:
            dump.close()
            raise
        return dump

    def close(self) -> None:
        """Closes the file and unlocks the folder. May be called twice."""
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def size_bytes(self) -> int:
        """The bytes received by the crawl (`Status.bytes`)."""
        with translated(self._path):
            row = self._db.execute("SELECT value FROM totals WHERE name = 'bytes'").fetchone()
            return int(row[0]) if row else 0

    def hosts(self) -> Iterator[HostRow]:
        """Yields the hosts by name, also those of which only requests, a robots.txt or lessons are known. No host is
        leased: see `open`."""
        with translated(self._path):
            for key, number, *columns in self._db.execute(_HOSTS, {"now": self._now}):
                host = _host_row(key, None if number is None else columns)
                row = self._with_facts(host)
                if row != host or not is_unknown(host) or self._db.execute(_HAS_URLS, (number,)).fetchone():
                    yield row

    def urls(self) -> Iterator[UrlRow]:
        """Yields the URLs, by the names of their hosts and then by their texts. Leased URLs are ready."""
        with translated(self._path):
            for row in self._db.execute(_URLS):
                yield _url_row(row)

    def _begin(self) -> None:
        """Begins to read one state of the file, and makes the helper tables of the queries."""
        with translated(self._path):
            self._db.execute("PRAGMA cache_size = -32768")
            self._db.create_function("host_key", 1, _host_key, deterministic=True)
            self._db.execute("BEGIN")
            for statement in _HELPERS.split(";\n"):
                self._db.execute(statement)

    def _with_facts(self, host: HostRow) -> HostRow:
        origins = [origin for (origin,) in self._db.execute(_ORIGINS, (host.host,))]
        known = ((origin, load_access(self._db, origin)) for origin in origins)
        return host._replace(
            robots=tuple((origin, access) for origin, access in known if access is not None),
            versions=tuple(RobotsVersion(*row) for origin in origins for row in self._db.execute(_VERSIONS, (origin,))),
            lessons=tuple(load_lessons(self._db, (host.host,))),
            courtesy=load_courtesies(self._db, (host.host,)).get(host.host),
        )


def is_unknown(host: HostRow) -> bool:
    """Whether a frontier has no row of this host, unless it has URLs of it: it was neither found nor forgotten."""
    plain = host._replace(robots=(), versions=(), lessons=(), courtesy=None)
    return plain == HostRow(host.host, partition_of(host.host))


def _host_row(key: str | None, columns: list[Any] | None) -> HostRow:
    """Builds the row of a host. NULL comes from a B-tree page that was only half written."""
    if key is None or (columns is not None and None in (*columns[:3], *columns[5:9])):
        raise UnreadableError("a host is missing")
    if columns is None:
        return HostRow(key, partition_of(key))
    *values, forgotten_at = columns
    return HostRow(key, *values)._replace(forgotten_at=forgotten_at)


def _url_row(row: tuple[Any, ...]) -> UrlRow:
    url, state, rank, visit_seq, seen_seq = row[1], row[2], row[3], row[19], row[28]
    if not url or state not in _STATES or None in (rank, *row[6:11]):
        raise UnreadableError("a URL is missing")
    visit = None if visit_seq is None else VisitRow(*row[20:28])
    if visit is not None and None in (visit.at, visit.why, visit.events):
        raise UnreadableError("the visit of a URL is missing")
    seen = None if seen_seq is None else visit_of(row[29:])
    queued = (row[17] is not None, row[18] is not None)
    return UrlRow._make((*row[:8], bool(row[8]), *row[9:15], visit, seen, *row[15:17], *queued))


def _host_key(origin: str) -> str:
    return Url(f"{origin}/").host_key
