"""Finds where a waiting URL stands among those of its host. The cost does not grow with the crawl."""

from typing import Final

from goodbot.report_values import MAX_COUNT, QueuePlace
from goodbot.store.merge.coding import LATER, READY, hash_of
from goodbot.store.reports.rows import Rows
from goodbot.url import Url

_PLACE: Final = """SELECT urls.host, rank, seq, state, urls.ready_at, due FROM urls JOIN hosts ON hosts.id = urls.host
  WHERE key = :key AND hash = :hash"""
_BEFORE: Final = """SELECT count(*) FROM (SELECT 1 FROM urls INDEXED BY urls_ready
  WHERE host = :host AND state = 0 AND (rank, seq) < (:rank, :seq) LIMIT :most) AS before"""


def queue_place(rows: Rows, url: Url) -> QueuePlace | None:
    """Returns the place of a URL; None if it does not wait."""
    row = rows.first(_PLACE, key=url.host_key, hash=hash_of(url.text))
    if row is None:
        return None
    host, rank, seq, state, ready_at, due = row
    if state == LATER:
        return QueuePlace(0, max(ready_at or 0.0, due or 0.0))
    if state != READY:
        return None
    (before,) = rows.first(_BEFORE, host=host, rank=rank, seq=seq, most=MAX_COUNT) or (0,)
    return QueuePlace(before, due)
