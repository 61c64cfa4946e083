"""Adds links to the frontier: a few thousand at a time, each batch looked up, judged in the order found, and
written."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from goodbot.partitions import partition_of
from goodbot.store.merge.coding import UrlKey, hash_of
from goodbot.store.merge.link_batch import LinkBatch, StoredUrl
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.sqlite.seen_table import bring_forward, drop_validators
from goodbot.url import Url
from goodbot.values import Discovery

FoundAt = tuple[Discovery, float]
"""A URL, and when it was found."""

_BATCH: Final = 8192
"""Bounds the memory for a million seeds; the links of a hundred pages fit in."""

_NEW_URL = """INSERT INTO urls (host, hash, seq, state, rank, public_only, hops, refused, path, interval_s, lists)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_BETTER = "UPDATE urls SET rank = ?, public_only = ? WHERE host = ? AND hash = ?"
_STATED_INTERVAL = "UPDATE urls SET interval_s = ? WHERE host = ? AND hash = ?"
_DUE_AT = "UPDATE urls SET ready_at = ? WHERE host = ? AND hash = ?"
_READY_AGAIN = """UPDATE urls SET state = 0, rank = ?, public_only = ?, tries = 0, ready_at = NULL, refused = NULL
  WHERE host = ? AND hash = ?"""

# In several sizes, so that few distinct statements are prepared: 2.6 µs a key in the large ones, 5.5 in a single one.
_LOOK_UP = """WITH wanted (host, hash) AS (VALUES {})
  SELECT urls.host, urls.hash, seq, state, rank, refused IS NOT NULL, interval_s, public_only
  FROM wanted CROSS JOIN urls USING (host, hash)"""
_LOOK_UPS = tuple((size, _LOOK_UP.format(", ".join(["(?, ?)"] * size))) for size in (256, 16, 1))


class LinkWriter:
    """The part of a transaction that adds URLs.

    It counts states in `counts`, and adds to `touched` the hosts that have more to fetch now.
    """

    def __init__(
        self, connection: sqlite3.Connection, recent: RecentLinks, counts: Counter[str], touched: set[int]
    ) -> None:
        self._db = connection
        self._recent = recent
        self._counts = counts
        self._touched = touched
        self._forgotten = frozenset(host for (host,) in connection.execute("SELECT host FROM forgotten"))
        (known,) = connection.execute("SELECT max(value) FROM totals WHERE name = 'urls'").fetchone()
        if known is None:
            raise sqlite3.DatabaseError("the number of URLs is missing")
        self._next: int = known

    def discover(self, pages: Iterable[tuple[Iterable[Discovery], float]], waiting_since: float | None) -> int:
        """Adds URLs, those of each page with its time; returns how many are new.

        A new host has been waiting since `waiting_since`; None: since the time of the page.
        """
        before = self._next
        found = ((item, at) for links, at in pages for item in self._recent.unknown(links))
        while batch := list(islice(found, _BATCH)):
            self._take(batch, waiting_since)
        return self._next - before

    def _take(self, batch: list[FoundAt], waiting_since: float | None) -> None:
        placed = [self._place(item, at if waiting_since is None else waiting_since) for item, at in batch]
        if self._forgotten:
            kept = [(found, place) for found, place in zip(batch, placed, strict=True) if not self._is_forgotten(place)]
            batch, placed = [found for found, _ in kept], [place for _, place in kept]
        known = self._look_up(sorted({key for key, _ in placed}))
        links = LinkBatch(known, self._next, self._counts, self._touched)
        for (item, at), (key, path) in zip(batch, placed, strict=True):
            links.take(item, at, key, path)
        links.count_new()
        self._write(links)

    def _is_forgotten(self, place: tuple[UrlKey, str]) -> bool:
        return place[0][0] in self._forgotten

    def _look_up(self, keys: list[UrlKey]) -> dict[UrlKey, StoredUrl]:
        found: dict[UrlKey, StoredUrl] = {}
        at = 0
        for size, statement in _LOOK_UPS:
            while len(keys) - at >= size:
                numbers = [number for key in keys[at : at + size] for number in key]
                at += size
                for host, hash_, *values in self._db.execute(statement, numbers):
                    found[host, hash_] = StoredUrl(*values)
        return found

    def _write(self, links: LinkBatch) -> None:
        """Writes new rows in key order, so that neighbours share B-tree pages; then what has changed."""
        self._db.executemany(_NEW_URL, sorted(links.new.values()))
        self._db.executemany("INSERT INTO found VALUES (?, ?, ?)", links.sources)
        self._next = links.next_seq
        revived = [(entry.rank, entry.public_only, *key) for key, entry in links.changed.items() if entry.revived]
        better = [(entry.rank, entry.public_only, *key) for key, entry in links.changed.items() if not entry.revived]
        self._db.executemany(_READY_AGAIN, revived)
        self._db.executemany(_BETTER, better)
        self._db.executemany(_STATED_INTERVAL, [(interval_s, *key) for key, interval_s in links.intervals.items()])
        for report in links.reported:
            drop_validators(self._db, report.seq, report.modified_at)
        for key, seq, modified_at, at in links.due:
            if bring_forward(self._db, seq, modified_at, at):
                self._db.execute(_DUE_AT, (at, *key))
                self._touched.add(key[0])

    # ---- hosts --------------------------------------------------------------------------------------------

    def _place(self, item: Discovery, waiting_since: float) -> tuple[UrlKey, str]:
        """Returns the URL's key, and its text as stored. Adds an unknown host."""
        text = item.url.text
        origin = text[: text.index("/", 8)]
        host, stored_origin = (
            self._recent.origins.get(origin)
            or self._load_host(item.url, origin)
            or self._make_host(item.url, origin, waiting_since)
        )
        return (host, hash_of(text)), text[len(origin) :] if stored_origin == origin else text

    def key_of(self, url: Url) -> UrlKey | None:
        """Returns the key of a URL; None if its host is unknown."""
        origin = url.origin
        known = self._recent.origins.get(origin) or self._load_host(url, origin)
        return known and (known[0], hash_of(url.text))

    def _load_host(self, url: Url, origin: str) -> tuple[int, str] | None:
        row = self._db.execute("SELECT id, origin FROM hosts WHERE key = ?", (url.host_key,)).fetchone()
        return row and self._keep_host(origin, row)

    def _make_host(self, url: Url, origin: str, waiting_since: float) -> tuple[int, str]:
        values = (url.host_key, origin, waiting_since, partition_of(url.host_key))
        made = self._db.execute("INSERT INTO hosts (key, origin, ready_at, partition) VALUES (?, ?, ?, ?)", values)
        return self._keep_host(origin, (int(made.lastrowid or 0), origin))

    def _keep_host(self, origin: str, host: tuple[int, str]) -> tuple[int, str]:
        origins = self._recent.origins
        if len(origins) >= RecentLinks.ORIGINS:
            origins.clear()
        origins[origin] = host
        return host
