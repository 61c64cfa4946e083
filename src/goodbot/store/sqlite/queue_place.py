"""Finds where a waiting URL stands among those of its host. The cost does not grow with the crawl."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from goodbot.report_values import MAX_COUNT, QueuePlace
from goodbot.store.merge.coding import LATER, READY, hash_of
from goodbot.store.sqlite.schema import connect, translated
from goodbot.url import Url

_PLACE: Final = """SELECT urls.host, rank, seq, state, urls.ready_at, due FROM urls JOIN hosts ON hosts.id = urls.host
  WHERE key = ? AND hash = ?"""
_BEFORE: Final = """SELECT count(*) FROM (SELECT 1 FROM urls INDEXED BY urls_ready
  WHERE host = ? AND state = 0 AND (rank, seq) < (?, ?) LIMIT ?)"""


def queue_place(frontier: Path, url: Url) -> QueuePlace | None:
    """Returns the place of a URL; None if it does not wait. The crawl may be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        row = connection.execute(_PLACE, (url.host_key, hash_of(url.text))).fetchone()
        return None if row is None else _place(connection, *row)


def _place(
    connection: sqlite3.Connection,
    host: int,
    rank: int,
    seq: int,
    state: int,
    ready_at: float | None,
    due: float | None,
) -> QueuePlace | None:
    if state == LATER:
        return QueuePlace(0, max(ready_at or 0.0, due or 0.0))
    if state != READY:
        return None
    (before,) = connection.execute(_BEFORE, (host, rank, seq, MAX_COUNT)).fetchone()
    return QueuePlace(before, due)
