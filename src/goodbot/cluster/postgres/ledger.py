"""Reads a crawl in PostgreSQL for reports: the reading half of the frontier."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, Final

from psycopg.pq import TransactionStatus

from goodbot.cluster.postgres import forgetting
from goodbot.cluster.postgres.connection import PostgresConnection, connect, translated
from goodbot.cluster.postgres.host_tables import HostTables
from goodbot.cluster.postgres.machines import NOW
from goodbot.cluster.postgres.report_rows import PostgresRows
from goodbot.cluster.postgres.seen import SEEN_COLUMNS
from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Courtesy
from goodbot.search_values import IndexMark
from goodbot.store.merge.coding import hash_of
from goodbot.store.merge.limits import MAX_INDEXED_PAGES, MAX_LOOKED_AT, found_events
from goodbot.store.merge.outcome_rows import seen_of
from goodbot.store.merge.rank import depth_of
from goodbot.store.reports.rows import Rows, url_of
from goodbot.store.reports.store_reports import StoreReports
from goodbot.store.reports.url_records import record_of, reference_of
from goodbot.url import Url, authority_of, host_of
from goodbot.values import STATES, Event, RecordRef, Status, UrlRecord

_NEXT: Final = """SELECT min(due) FROM unnest(%s::smallint[]) AS mine (number) CROSS JOIN LATERAL (
  SELECT due FROM hosts WHERE partition = mine.number AND due IS NOT NULL ORDER BY due LIMIT 1) AS first"""
_UNFINISHED: Final = """SELECT EXISTS (SELECT FROM hosts WHERE due IS NOT NULL)
  OR EXISTS (SELECT FROM hosts WHERE leased = 1)"""
_FREE: Final = """SELECT min(first.due) FROM partitions CROSS JOIN LATERAL (
  SELECT due FROM hosts WHERE partition = partitions.number AND due IS NOT NULL ORDER BY due LIMIT 1) AS first"""
# When leased hosts could be leased again if they were not.
_LEASED_DUE: Final = """SELECT min(greatest(hosts.ready_at, next.at)) FROM hosts CROSS JOIN LATERAL (SELECT CASE
  WHEN EXISTS (SELECT FROM urls WHERE host = hosts.id AND state = 0
    AND NOT EXISTS (SELECT FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)) THEN hosts.ready_at
  ELSE least(
    (SELECT ready_at FROM urls WHERE host = hosts.id AND state = 2 ORDER BY ready_at LIMIT 1),
    (SELECT ready_at FROM urls WHERE host = hosts.id AND state >= 8
      AND ready_at <= (SELECT revisit_until FROM crawl) ORDER BY ready_at LIMIT 1))
  END AS at) AS next WHERE hosts.leased = 1 AND next.at IS NOT NULL"""
_DUE_AGAIN: Final = """SELECT min(first.ready_at) FROM hosts CROSS JOIN LATERAL (
  SELECT ready_at FROM urls WHERE host = hosts.id AND state >= 8 ORDER BY ready_at LIMIT 1) AS first"""
_RECORDS: Final = f"""SELECT urls.host, urls.hash, urls.seq, origin, path,
    CASE WHEN leased.seq IS NULL THEN state ELSE 1 END, rank, refused, visits.at, status, visits.digest, visits.title,
    why, visits.file, visits."offset", same_as, seen.seq, {SEEN_COLUMNS}
  FROM urls JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
    LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash LEFT JOIN seen ON seen.seq = urls.seq
    LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash"""
_RECORD: Final = f"{_RECORDS} WHERE urls.host = (SELECT id FROM hosts WHERE key = %s) AND urls.hash = %s"
_FOUND: Final = "SELECT at, source FROM found WHERE seq <= %s ORDER BY seq DESC LIMIT 1"
_MORE: Final = """SELECT public_only, events FROM urls LEFT JOIN visits ON visits.seq = urls.seq
  WHERE urls.host = %s AND urls.hash = %s"""
_PENDING: Final = """SELECT origin, path, file, "offset" FROM to_index JOIN urls USING (host, hash)
  JOIN hosts ON hosts.id = urls.host WHERE writer = %s"""
_LEAVING: Final = """SELECT origin, path FROM leaving JOIN urls USING (host, hash) JOIN hosts ON hosts.id = urls.host
  WHERE writer = %s ORDER BY seq"""
_COPIES: Final = """SELECT origin, path FROM copies JOIN urls USING (host, hash) JOIN hosts ON hosts.id = urls.host
  WHERE md5(same_as) = md5(%s) AND same_as = %s ORDER BY seq LIMIT %s"""
_INDEXED_PAGES: Final = """SELECT origin, path, digest, text FROM (
    SELECT host, seq, path, ready_at FROM urls WHERE host = (SELECT id FROM hosts WHERE key = %s) AND state >= 8
    ORDER BY ready_at DESC LIMIT %s) AS again
  JOIN hosts ON hosts.id = host JOIN seen USING (seq) WHERE indexed = 1 ORDER BY again.ready_at DESC LIMIT %s"""
_LACKING: Final = """SELECT (SELECT count(*) FROM seen WHERE indexed = 1 AND writer = %s)
  - (SELECT count(*) FROM to_index WHERE writer = %s)"""
_TO_FETCH: Final = """SELECT coalesce((SELECT sum(value) FROM totals WHERE name IN ('ready', 'leased')), 0),
  (SELECT count(*) FROM forgotten JOIN urls ON urls.host = forgotten.host WHERE state IN (0, 2))"""
_SIMILAR: Final = """SELECT key FROM hosts WHERE (key = %s OR key >= %s AND key < %s) AND key <> %s
  AND id NOT IN (SELECT host FROM forgotten) ORDER BY key LIMIT %s"""
MAX_RECORDS: Final = 100_000
_LAST_RECORDS: Final = """SELECT file, max("offset") FROM
  (SELECT file, "offset" FROM visits WHERE file IS NOT NULL ORDER BY seq DESC LIMIT %s) AS last GROUP BY file"""
_OTHERS: Final = f"""SELECT count(*) FROM machines JOIN heartbeats ON machine = id
  WHERE ended_at IS NULL AND crawls = 1 AND writer <> %s AND expires_at > {NOW}"""


class PostgresLedger(StoreReports):
    """Implements what CrawlReader reads, and the reading half of the other ports. For one thread. `writer`:
    whose index queue is read."""

    def __init__(self, dsn: str, connection: Callable[[], PostgresConnection], writer: str) -> None:
        self._dsn = dsn
        self._connection = connection
        self._writer = writer
        self._tables = HostTables(connection)

    def is_finished(self) -> bool:
        """See `Frontier.is_finished`."""
        return not self._value(_UNFINISHED)

    def next_ready_at(self) -> float | None:
        """See `Frontier.next_ready_at`; of all machines."""
        at = self._value(_FREE)
        return None if at is None else float(at)

    def _next_ready_at(self, partitions: Sequence[int]) -> float | None:
        at = self._value(_NEXT, (list(partitions),))
        return None if at is None else float(at)

    def status(self) -> Status:
        """See `Ledger.status`."""
        with self._snapshot() as connection:
            totals = {
                name: int(value)
                for name, value in connection.execute("SELECT name, sum(value) FROM totals GROUP BY name")
            }
            times = [self._value(query) for query in (_FREE, _LEASED_DUE)]
        return Status(
            states={state: totals.get(state, 0) for state in STATES},
            pages=totals.get("visited", 0),
            bytes=totals.get("bytes", 0),
            hosts=totals.get("hosts", 0),
            next_ready_at=min((float(at) for at in times if at is not None), default=None),
        )

    def due_again_at(self) -> float | None:
        """See `Ledger.due_again_at`. Takes one lookup per host."""
        at = self._value(_DUE_AGAIN)
        return at if at is not None and at < inf else None

    def record(self, url: Url) -> UrlRecord | None:
        """See `Ledger.record`: the events of how it was found, then those of its last outcome."""
        with self._snapshot() as connection:
            row = connection.execute(_RECORD, (url.host_key, hash_of(url.text))).fetchone()
            if row is None or url_of(row[3], row[4]) != url:
                return None
            at, source = connection.execute(_FOUND, (row[2],)).fetchone() or (0.0, None)
            public_only, events = connection.execute(_MORE, row[:2]).fetchone() or (0, None)
            found = found_events(at, source, depth_of(row[6]), row[7], public_only=bool(public_only))
            return _record(row, (*found, *_events(events)))

    def records(self) -> Iterator[UrlRecord]:
        """See `Ledger.records`: in the order of their numbers; each machine numbers the URLs it finds in blocks."""
        with (
            translated(self._dsn),
            connect(self._dsn, "goodbot records") as connection,
            connection.transaction(),
            connection.cursor(name="records") as cursor,
        ):
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # nobody waits for a reader
            cursor.itersize = 2000
            for row in cursor.execute(f"{_RECORDS} ORDER BY urls.seq"):
                yield _record(row, ())

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """See `IndexQueue.pending`; those of this writer, all of them in the order found."""
        rows = self._rows(f"{_PENDING} ORDER BY urls.seq LIMIT %s", (self._writer, most))
        return [(url_of(origin, path), reference_of(file, offset)) for origin, path, file, offset in rows]

    def leaving(self) -> list[Url]:
        """See `IndexQueue.leaving`; those of this writer, in the order found."""
        return [url_of(origin, path) for origin, path in self._rows(_LEAVING, (self._writer,))]

    def copies_of(self, url: Url, most: int = 100) -> list[Url]:
        """Returns URLs whose pages are copies of `url` (`Outcome.same_as`), in the order found; one lookup."""
        return [url_of(origin, path) for origin, path in self._rows(_COPIES, (url.text, url.text, most))]

    def index_mark(self) -> IndexMark | None:
        """Returns the index of this writer, and how far it was written at least; None: it never had one."""
        row = self._rows("SELECT identity, written FROM search_index WHERE writer = %s", (self._writer,))
        return IndexMark(*row[0]) if row else None

    def lacks_documents(self, documents: int) -> bool:
        """Returns whether an index of so many documents cannot hold all that this writer indexed. The cost grows with
        the crawl."""
        return bool(self._value(_LACKING, (self._writer, self._writer)) > documents)

    def pending_count(self) -> int:
        """Returns how many pages are pending for this writer."""
        return int(self._value("SELECT count(*) FROM to_index WHERE writer = %s", (self._writer,)))

    def leaving_count(self) -> int:
        """Returns how many pages must leave the index of this writer, if it has them."""
        return int(self._value("SELECT count(*) FROM leaving WHERE writer = %s", (self._writer,)))

    def to_fetch(self) -> int:
        """Counts URLs ready or leased, without those of forgotten hosts, which `status` counts until they are
        removed."""
        known, barred = self._rows(_TO_FETCH)[0]
        return max(int(known) - int(barred), 0)

    def knows_host(self, host: str) -> bool:
        """Returns whether anything is known of a host (`Url.host_key`), even if only that it got requests or is
        forgotten."""
        query = "SELECT 1 FROM hosts WHERE key = %s UNION SELECT 1 FROM courtesies WHERE host = %s"
        return bool(self._rows(query, (host, host)))

    def similar_hosts(self, host: str, most: int = 5) -> tuple[str, ...]:
        """Returns known hosts, not forgotten, with the same name or address and another port, by name; one lookup."""
        bare = host_of(host)
        first = f"{authority_of(bare)}:"
        return tuple(key for (key,) in self._rows(_SIMILAR, (bare, first, f"{first[:-1]};", host, most)))

    def forgotten_hosts(self) -> frozenset[str]:
        """Returns the hosts that neither links nor seeds bring back."""
        rows = self._rows("SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host")
        return frozenset(key for (key,) in rows)

    def hosts_to_remove(self) -> list[str]:
        """Returns the barred hosts of which the folder of this writer may still have something."""
        with translated(self._dsn):
            return forgetting.unfinished(self._connection(), self._writer)

    def visited_on(self, host: str) -> Iterator[list[Url]]:
        """Yields the requested URLs of a host in parts, whatever their outcomes."""
        with translated(self._dsn):
            yield from forgetting.visited(self._connection(), host)

    def last_records(self) -> dict[str, int]:
        """Returns the files of the archive of this writer, and the last offset in each at which there should be a
        record. Of more than 100,000 visits it reads so many of the latest."""
        ending = f"-{self._writer}.warc.gz"
        return {file: offset for file, offset in self._rows(_LAST_RECORDS, (MAX_RECORDS,)) if file.endswith(ending)}

    def lessons(self, host: str | None = None) -> list[Lesson]:
        """Returns what was learned about a host (`Url.host_key`), or about all, including lapsed lessons: host by host,
        the oldest first."""
        with translated(self._dsn):
            return self._tables.all_lessons(host)

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        return self.load_all_robots([origin]).get(origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        with translated(self._dsn):
            return self._tables.load_accesses(origins)

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """See `CourtesyStore.load_courtesies`."""
        with translated(self._dsn):
            return self._tables.load_courtesies(hosts)

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`: host by host, the oldest first."""
        with translated(self._dsn):
            return self._tables.load_lessons(hosts)

    def lesson_counts(self) -> tuple[int, int]:
        """See `Ledger.lesson_counts`."""
        with translated(self._dsn):
            return self._tables.lesson_counts()

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_indexed_pages`."""
        most = MAX_LOOKED_AT, MAX_INDEXED_PAGES
        rows = [row for host in dict.fromkeys(hosts) for row in self._rows(_INDEXED_PAGES, (host, *most))]
        return [IndexedPage(url_of(origin, path), digest, text) for origin, path, digest, text in rows]

    def _others(self) -> bool:
        """Returns whether other machines take part."""
        return bool(self._value(_OTHERS, (self._writer,)))

    @contextmanager
    def _reading(self) -> Iterator[Rows]:
        with self._snapshot() as connection:
            yield PostgresRows(connection)

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with translated(self._dsn):
            return self._connection().execute(query, values).fetchall()

    def _value(self, query: str, values: Sequence[object] = ()) -> Any:
        row = self._rows(query, values)
        return row[0][0] if row else None

    @contextmanager
    def _snapshot(self) -> Iterator[PostgresConnection]:
        """Runs several queries on one state of the database; within a transaction, on its own."""
        with translated(self._dsn):
            connection = self._connection()
            if connection.info.transaction_status != TransactionStatus.IDLE:
                yield connection
                return
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield connection


def _events(text: str | None) -> tuple[Event, ...]:
    try:
        return tuple(Event(*item) for item in json.loads(text or "[]"))
    except (TypeError, ValueError) as error:
        raise DamagedError(f"the events of a URL in the database cannot be read: {error}") from error


def _record(row: tuple[Any, ...], events: tuple[Event, ...]) -> UrlRecord:
    return record_of(row, events, None if row[16] is None else seen_of(row[17:]))
