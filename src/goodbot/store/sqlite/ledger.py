"""Reads a frontier's file for reports: the reading half of the SQLite frontier."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path
from typing import Any, Final

from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.live import Courtesy
from goodbot.search_values import IndexMark
from goodbot.store.merge.coding import hash_of
from goodbot.store.merge.limits import found_events
from goodbot.store.merge.rank import depth_of
from goodbot.store.reports.rows import Rows, url_of
from goodbot.store.reports.store_reports import StoreReports
from goodbot.store.reports.url_records import record_of, reference_of
from goodbot.store.sqlite import forgetting
from goodbot.store.sqlite.courtesy_table import load_courtesies
from goodbot.store.sqlite.index_table import lacks_documents, load_mark
from goodbot.store.sqlite.lesson_table import all_lessons, count_lessons, load_lessons
from goodbot.store.sqlite.robots_table import load_access
from goodbot.store.sqlite.schema import connect, damaged, translated
from goodbot.store.sqlite.seen_table import copies_of, indexed_pages_of, visit_of
from goodbot.url import Url, authority_of, host_of
from goodbot.values import STATES, Event, RecordRef, Status, UrlRecord

_DUE_AGAIN_AT: Final = """SELECT min((SELECT min(ready_at) FROM urls INDEXED BY urls_again
  WHERE host = hosts.id AND state >= 8)) FROM hosts"""
_UNFINISHED: Final = """SELECT EXISTS (SELECT 1 FROM hosts WHERE due IS NOT NULL)
  OR EXISTS (SELECT 1 FROM hosts WHERE leased = 1)"""
MAX_LOOKED_AT: Final = 100_000
_LAST_RECORDS: Final = """WITH RECURSIVE some (seq) AS (SELECT :last UNION ALL
  SELECT seq - :step FROM some WHERE seq > :step)
  SELECT file, max(offset) FROM some CROSS JOIN visits USING (seq)
  WHERE file IS NOT NULL AND offset IS NOT NULL GROUP BY file"""
_BARRED: Final = """SELECT id, leased FROM forgotten JOIN hosts ON hosts.id = forgotten.host
  WHERE EXISTS (SELECT 1 FROM urls WHERE host = forgotten.host)"""
_READY_ON: Final = """SELECT (SELECT count(*) FROM urls INDEXED BY urls_ready WHERE host = ? AND state = 0)
  + (SELECT count(*) FROM urls INDEXED BY urls_later WHERE host = ? AND state = 2)"""
_SIMILAR: Final = """SELECT key FROM hosts WHERE (key = :bare OR key >= :first AND key < :behind) AND key != :host
  AND id NOT IN (SELECT host FROM forgotten) ORDER BY key LIMIT :most"""
"""`;` follows `:` in ASCII."""


class SqliteRows:
    """Runs the queries of reports."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def all(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Returns all rows."""
        return self._db.execute(query, values).fetchall()

    def first(self, query: str, **values: object) -> tuple[Any, ...] | None:
        """Returns the first row; None if there is none."""
        row: tuple[Any, ...] | None = self._db.execute(query, values).fetchone()
        return row


class SqliteLedger(StoreReports):
    """Implements CrawlReader. For one thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._db = connection
        self._report_rows = SqliteRows(connection)
        self._barred: dict[tuple[int, int], int] = {}

    def close(self) -> None:
        """Closes the connection; no method may be called after it."""
        self._db.close()

    def next_ready_at(self) -> float | None:
        """See `Frontier.next_ready_at`."""
        with translated(self._path):
            return _optional_float(self._value("SELECT min(due) FROM hosts WHERE due IS NOT NULL"))

    def is_finished(self) -> bool:
        """See `Frontier.is_finished`."""
        with translated(self._path):
            return not self._value(_UNFINISHED)

    def status(self) -> Status:
        """See `Ledger.status`. The cost does not grow with the crawl.

        `bytes` counts every settled outcome. `next_ready_at` includes leased hosts with more ready URLs, as if they
        were released now.
        """
        with self._snapshot():
            totals: dict[str, int] = dict(self._db.execute("SELECT name, value FROM totals"))
            free = self._value("SELECT min(due) FROM hosts WHERE due IS NOT NULL")
            leased = self._value("SELECT min(due) FROM due_hosts WHERE leased = 1")
        return Status(
            states={state: totals.get(state, 0) for state in STATES},
            pages=totals.get("visited", 0),
            bytes=totals.get("bytes", 0),
            hosts=totals.get("hosts", 0),
            next_ready_at=min((float(at) for at in (free, leased) if at is not None), default=None),
        )

    def due_again_at(self) -> float | None:
        """See `Ledger.due_again_at`. Takes one lookup per host."""
        with translated(self._path):
            at = _optional_float(self._value(_DUE_AGAIN_AT))
        return at if at is not None and at < inf else None

    def to_fetch(self) -> int:
        """Counts URLs ready or leased, without those of forgotten hosts, which `status` counts until they are removed.

        Cheaper than `status`, which computes when leased hosts can go on. Counts the URLs of a newly forgotten host,
        and once more when its lease ends: 0.1 s for a million."""
        with translated(self._path):
            known = int(self._value("SELECT sum(value) FROM totals WHERE name IN ('ready', 'leased')") or 0)
            for host in (barred := set(self._db.execute(_BARRED))) - self._barred.keys():
                self._barred[host] = int(self._value(_READY_ON, (host[0], host[0])))
            self._barred = {host: self._barred[host] for host in barred}
            return max(known - sum(self._barred.values()), 0)

    def record(self, url: Url) -> UrlRecord | None:
        """See `Ledger.record`: the events of how it was found, then those of its last outcome."""
        with self._snapshot():
            row = self._db.execute(
                "SELECT * FROM records WHERE host = (SELECT id FROM hosts WHERE key = ?) AND hash = ?",
                (url.host_key, hash_of(url.text)),
            ).fetchone()
            if row is None or url_of(row[3], row[4]) != url:
                return None
            seq, depth, refused = row[2], depth_of(row[6]), row[7]
            at, source = self._db.execute(
                "SELECT at, source FROM found WHERE seq <= ? ORDER BY seq DESC LIMIT 1", (seq,)
            ).fetchone() or (0.0, None)
            public_only = bool(self._value("SELECT public_only FROM urls WHERE host = ? AND hash = ?", row[:2]))
            found = found_events(at, source, depth, refused, public_only=public_only)
            events = self._value("SELECT events FROM visits WHERE seq = ?", (seq,))
            return _record(row, (*found, *self._events(events)))

    def knows_host(self, host: str) -> bool:
        """Returns whether anything is known of a host (`Url.host_key`), even if only that it got requests or is
        forgotten."""
        query = "SELECT 1 FROM hosts WHERE key = ? UNION SELECT 1 FROM courtesies WHERE host = ?"
        with translated(self._path):
            return bool(self._value(query, (host, host)))

    def similar_hosts(self, host: str, most: int = 5) -> tuple[str, ...]:
        """Returns known hosts, not forgotten, with the same name or address and another port, by name; one lookup."""
        bare = host_of(host)
        first = f"{authority_of(bare)}:"
        values = {"bare": bare, "first": first, "behind": f"{first[:-1]};", "host": host, "most": most}
        with translated(self._path):
            return tuple(key for (key,) in self._db.execute(_SIMILAR, values))

    def forgotten_hosts(self) -> frozenset[str]:
        """Returns the hosts that neither links nor seeds bring back."""
        with translated(self._path):
            rows = self._db.execute("SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host")
            return frozenset(key for (key,) in rows)

    def records(self) -> Iterator[UrlRecord]:
        """See `Ledger.records`: in the order found, in bounded memory; later changes are not seen."""
        with (
            translated(self._path, read_only=True),
            closing(connect(self._path, read_only=True)) as connection,
        ):
            for row in connection.execute("SELECT * FROM records ORDER BY seq"):
                yield _record(row, ())

    def hosts_to_remove(self) -> list[str]:
        """Returns the barred hosts that still have stored URLs."""
        with translated(self._path):
            return forgetting.unfinished(self._db)

    def visited_on(self, host: str) -> Iterator[list[Url]]:
        """Yields the requested URLs of a host in parts, whatever their outcomes; the file may be written in between."""
        with translated(self._path):
            yield from forgetting.visited(self._db, host)

    def last_records(self) -> dict[str, int]:
        """Returns the files of the archive, and the last offset in each at which there should be a record. Of more than
        100,000 URLs it reads so many, evenly chosen, so the cost does not grow with the crawl."""
        with translated(self._path):
            last = self._value("SELECT max(seq) FROM visits") or 0
            return dict(self._db.execute(_LAST_RECORDS, {"step": max(last // MAX_LOOKED_AT, 1), "last": last}))

    def pending(self, most: int | None = None) -> list[tuple[Url, RecordRef | None]]:
        """See `IndexQueue.pending`; all of them in the order found."""
        order, bound = ("ORDER BY seq", ()) if most is None else ("LIMIT ?", (most,))
        with translated(self._path):
            rows = self._db.execute(
                "SELECT origin, path, file, offset FROM to_index CROSS JOIN urls USING (host, hash)"  # noqa: S608 - ours
                f" JOIN hosts ON hosts.id = urls.host {order}",
                bound,
            )
            return [(url_of(origin, path), reference_of(file, offset)) for origin, path, file, offset in rows]

    def pending_count(self) -> int:
        """Returns how many pages are pending."""
        with translated(self._path):
            return int(self._value("SELECT count(*) FROM to_index"))

    def leaving_count(self) -> int:
        """Returns how many pages must leave the index, if it has them."""
        with translated(self._path):
            return int(self._value("SELECT count(*) FROM leaving"))

    def index_mark(self) -> IndexMark | None:
        """Returns the index of the crawl, and how far it was written at least; None: it never had one."""
        with translated(self._path):
            return load_mark(self._db)

    def lacks_documents(self, documents: int) -> bool:
        """Returns whether an index of so many documents cannot hold all that was indexed. The cost grows with the
        crawl."""
        with translated(self._path):
            return lacks_documents(self._db, documents)

    def leaving(self) -> list[Url]:
        """See `IndexQueue.leaving`; in the order found."""
        with translated(self._path):
            rows = self._db.execute(
                "SELECT origin, path FROM leaving CROSS JOIN urls USING (host, hash)"
                " JOIN hosts ON hosts.id = urls.host ORDER BY seq"
            )
            return [url_of(origin, path) for origin, path in rows]

    def copies_of(self, url: Url, most: int = 100) -> list[Url]:
        """Returns URLs whose pages are copies of `url` (`Outcome.same_as`), in the order found; one lookup."""
        with translated(self._path):
            return [url_of(origin, path) for origin, path in copies_of(self._db, url, most)]

    def lessons(self, host: str | None = None) -> list[Lesson]:
        """Returns what was learned about a host (`Url.host_key`), or about all, including lapsed lessons: host by host,
        the oldest first."""
        with translated(self._path):
            return all_lessons(self._db, host)

    def lesson_counts(self) -> tuple[int, int]:
        """Returns how many lessons are in force, and how many have lapsed."""
        with translated(self._path):
            return count_lessons(self._db)

    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]:
        """See `LessonStore.load_lessons`: host by host, the oldest first."""
        with translated(self._path):
            return load_lessons(self._db, hosts)

    def load_indexed_pages(self, hosts: Iterable[str]) -> list[IndexedPage]:
        """See `LessonStore.load_indexed_pages`."""
        with translated(self._path):
            rows = [row for host in dict.fromkeys(hosts) for row in indexed_pages_of(self._db, host)]
            return [IndexedPage(url_of(origin, path), digest, text) for origin, path, digest, text in rows]

    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]:
        """See `CourtesyStore.load_courtesies`."""
        with translated(self._path):
            return load_courtesies(self._db, hosts)

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        with translated(self._path):
            return load_access(self._db, origin)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        found = ((origin, self.load_robots(origin)) for origin in dict.fromkeys(origins))
        return {origin: access for origin, access in found if access is not None}

    def _value(self, query: str, values: tuple[object, ...] = ()) -> Any:
        row = self._db.execute(query, values).fetchone()
        return row and row[0]

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Runs several queries on one state of the file."""
        with translated(self._path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("ROLLBACK")

    @contextmanager
    def _reading(self) -> Iterator[Rows]:
        with self._snapshot():
            yield self._report_rows

    def _events(self, text: str | None) -> tuple[Event, ...]:
        try:
            return tuple(Event(*item) for item in json.loads(text or "[]"))
        except (TypeError, ValueError) as error:
            raise damaged(self._path, error) from error


def _record(row: tuple[Any, ...], events: tuple[Event, ...]) -> UrlRecord:
    return record_of(row, events, None if row[16] is None else visit_of(row[17:]))


def _optional_float(value: float | None) -> float | None:
    return None if value is None else float(value)
