"""Writes the queue of pages that wait to be indexed, and puts URLs back into the frontier."""

from collections.abc import Sequence
from typing import Any, Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.hosts import HostStep
from goodbot.cluster.postgres.rows import columns_of
from goodbot.search_values import IndexMark
from goodbot.store.merge.coding import CODED, LATER, OUT_OF_SCOPE, READY, VISITED_AGAIN, UrlKey
from goodbot.values import NOT_INDEXED

_KEYS: Final = "unnest(%s::bigint[], %s::bigint[]) AS these (host, hash)"
_INDEXED: Final = f"""DELETE FROM to_index USING {_KEYS}
  WHERE to_index.host = these.host AND to_index.hash = these.hash AND writer = %s"""
_LEFT: Final = f"""DELETE FROM leaving USING {_KEYS}
  WHERE leaving.host = these.host AND leaving.hash = these.hash AND writer = %s"""
_NOT_PENDING: Final = f"""DELETE FROM to_index USING {_KEYS}
  WHERE to_index.host = these.host AND to_index.hash = these.hash"""
_INDEX_LACKS: Final = f"""UPDATE seen SET indexed = 0, writer = NULL, etag = NULL, modified = NULL
  WHERE seq IN (SELECT seq FROM {_KEYS} JOIN urls USING (host, hash))"""
_LOCK: Final = f"""SELECT urls.host, urls.hash, state, seq FROM {_KEYS} JOIN urls USING (host, hash)
  ORDER BY urls.host, urls.hash FOR UPDATE OF urls"""
_FORGET_VISITS: Final = "DELETE FROM seen WHERE seq = ANY(%s::bigint[]) RETURNING seq, was"
_NO_VISIT: Final = f"""UPDATE leased SET was = NULL FROM {_KEYS}
  WHERE leased.host = these.host AND leased.hash = these.hash"""
_READY: Final = f"""UPDATE urls SET state = 0, tries = 0, ready_at = NULL, refused = NULL FROM {_KEYS}
  WHERE urls.host = these.host AND urls.hash = these.hash"""
_NO_RECORD: Final = 'UPDATE visits SET file = NULL, "offset" = NULL WHERE seq = ANY(%s::bigint[])'
_SEEN: Final = "SELECT seq FROM seen WHERE seq = ANY(%s::bigint[])"
_MARK: Final = """INSERT INTO search_index (writer, identity, written) VALUES (%s, %s, %s)
  ON CONFLICT (writer) DO UPDATE SET identity = excluded.identity, written = excluded.written"""

_PLACES: Final = """SELECT urls.host, urls.hash, %s, CASE WHEN rendered = 1 THEN NULL ELSE seen.file END,
  CASE WHEN rendered = 1 THEN NULL ELSE seen."offset" END FROM urls JOIN seen ON seen.seq = urls.seq"""
_NOT_FORGOTTEN: Final = "urls.host NOT IN (SELECT host FROM forgotten)"
_AGAIN: Final = """ON CONFLICT (host, hash) DO UPDATE
  SET writer = excluded.writer, file = excluded.file, "offset" = excluded."offset" """
_QUEUE_INDEXED: Final = f"""INSERT INTO to_index (host, hash, writer, file, "offset") {_PLACES}
  WHERE indexed = 1 AND writer = %s AND {_NOT_FORGOTTEN} {_AGAIN}"""
_QUEUE_SKIPPED: Final = f"""INSERT INTO to_index (host, hash, writer, file, "offset") {_PLACES}
  JOIN visits ON visits.seq = urls.seq WHERE indexed = 0 AND strpos(events, %s) > 0 AND {_NOT_FORGOTTEN}
  AND NOT EXISTS (SELECT FROM copies WHERE copies.host = urls.host AND copies.hash = urls.hash) {_AGAIN}"""
_QUEUED_ARE_INDEXED: Final = """UPDATE seen SET indexed = 1, writer = %s WHERE indexed = 0 AND seq IN (
  SELECT urls.seq FROM to_index JOIN urls USING (host, hash) WHERE to_index.writer = %s)"""
_QUEUED_STAY: Final = """DELETE FROM leaving USING to_index WHERE leaving.host = to_index.host
  AND leaving.hash = to_index.hash AND leaving.writer = to_index.writer AND to_index.writer = %s"""
_SKIPPED: Final = f',"index","no","{NOT_INDEXED}",'
"""The event as it is stored in `visits.events`."""


class QueueStep:
    """The part of a transaction that changes the index queue of one writer."""

    def __init__(self, connection: PostgresConnection, hosts: HostStep, writer: str) -> None:
        self._db = connection
        self._hosts = hosts
        self._writer = writer

    def indexed(self, keys: Sequence[UrlKey]) -> None:
        """Removes URLs from the queue, whether they were to enter or to leave the index of this writer."""
        if keys:
            columns = columns_of(keys)
            self._db.execute(_INDEXED, (*columns, self._writer))
            self._db.execute(_LEFT, (*columns, self._writer))

    def save_mark(self, mark: IndexMark) -> None:
        """Stores how far the index of this writer was written."""
        self._db.execute(_MARK, (self._writer, *mark))

    def queue_indexed(self) -> None:
        """Makes every page pending that the index of this writer had. One pass over all URLs."""
        self._db.execute(_QUEUE_INDEXED, (self._writer, self._writer))

    def queue_skipped(self) -> int:
        """Makes pages pending that were fetched while no index was kept; returns how many are pending for this writer.
        One pass over all URLs."""
        self._db.execute(_QUEUE_SKIPPED, (self._writer, _SKIPPED))
        self._db.execute(_QUEUED_ARE_INDEXED, (self._writer, self._writer))
        self._db.execute(_QUEUED_STAY, (self._writer,))
        row = self._db.execute("SELECT count(*) FROM to_index WHERE writer = %s", (self._writer,)).fetchone()
        return int(row[0]) if row else 0

    def passed_over(self, keys: Sequence[UrlKey]) -> None:
        """Removes URLs from the queue that are in no index. Their next visits request the whole pages, which may permit
        indexing again."""
        if keys:
            columns = columns_of(keys)
            self._db.execute(_NOT_PENDING, columns)
            self._db.execute(_INDEX_LACKS, columns)

    def requeue(self, keys: Sequence[UrlKey]) -> None:
        """Removes URLs from the queue and makes them ready, unless they are queued or out of scope. They no longer
        count as pages, and their last visits are dropped, so that the whole pages are requested."""
        rows = self._db.execute(_LOCK, columns_of(keys)).fetchall() if keys else []
        if not rows:
            return
        columns = columns_of([row[:2] for row in rows])
        self._db.execute(_NOT_PENDING, columns)
        was: dict[int, int] = dict(self._db.execute(_FORGET_VISITS, ([row[3] for row in rows],)).fetchall())
        self._db.execute(_NO_VISIT, columns)
        for host, _, state, seq in rows:
            if CODED[state] == "visited" or was.get(seq) == VISITED_AGAIN:
                self._hosts.add_pages(host, -1)
        self._revive([row for row in rows if row[2] not in (READY, LATER, OUT_OF_SCOPE)])

    def make_ready(self, keys: Sequence[UrlKey], state: int) -> int:
        """Puts URLs in this state back into the queue, as if never tried; returns how many."""
        rows = self._db.execute(_LOCK, columns_of(sorted(keys))).fetchall() if keys else []
        return self._revive([row for row in rows if row[2] == state])

    def lose_records(self, keys: Sequence[UrlKey]) -> None:
        """Removes the references to the lost records of URLs; pages become ready again."""
        rows = self._db.execute(_LOCK, columns_of(keys)).fetchall() if keys else []
        numbers = [row[3] for row in rows]
        self._db.execute(_NO_RECORD, (numbers,))
        seen = {seq for (seq,) in self._db.execute(_SEEN, (numbers,))}
        self.requeue([row[:2] for row in rows if row[3] in seen or CODED[row[2]] == "visited"])

    def _revive(self, rows: Sequence[tuple[Any, ...]]) -> int:
        if rows:
            self._db.execute(_READY, columns_of([row[:2] for row in rows]))
        for host, _, state, _ in rows:
            self._hosts.counts[CODED[state]] -= 1
            self._hosts.counts["ready"] += 1
            self._hosts.touched.add(host)
        return len(rows)
