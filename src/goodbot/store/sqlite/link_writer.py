"""Adds links to the frontier: a few thousand at a time, each batch looked up, judged in the order found, and
written."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from goodbot.partitions import partition_of
from goodbot.store.merge.link_rules import KnownUrl, change_by_link, rank_of_link
from goodbot.store.sqlite.recent_links import RecentLinks
from goodbot.store.sqlite.schema import AGAIN, CODED, CODES, LATER, OUT_OF_SCOPE, READY, hash_of
from goodbot.store.sqlite.seen_table import bring_forward, drop_validators
from goodbot.store.sqlite.storable_text import storable
from goodbot.url import Url
from goodbot.values import Discovery

UrlKey = tuple[int, int]
"""The host's number and the URL's hash."""

FoundAt = tuple[Discovery, float]
"""A URL, and when it was found."""

_BATCH: Final = 8192
"""Bounds the memory for a million seeds; the links of a hundred pages fit in."""

_FAILED: Final = CODES["failed"]
_CLOSED: Final = (CODES["gone"], CODES["disallowed"])
"""Those with a next visit have other codes."""

_NEW_URL = """INSERT INTO urls (host, hash, seq, state, rank, public_only, hops, refused, path, interval_s, lists)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_STATE, _RANK, _PUBLIC_ONLY, _REFUSED, _INTERVAL = 3, 4, 5, 7, 9
"""Positions in a row of `_NEW_URL`."""

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


@dataclass(slots=True)
class _KnownUrl:
    """A URL known before, in its state after this batch. `left_out`: the scope refused it before it was ever
    fetched."""

    seq: int
    state: int
    rank: int
    left_out: bool
    interval_s: float | None
    public_only: int
    revived: bool = False


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
        self._last_source: tuple[Url | None, float] | None = None
        self._sources: list[tuple[int, float, str | None]] = []

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
        new: dict[UrlKey, list[Any]] = {}
        changed: dict[UrlKey, _KnownUrl] = {}
        for (item, at), (key, path) in zip(batch, placed, strict=True):
            if (entry := known.get(key)) is not None:
                if item.refused is None:
                    if self._change(entry, item, key[0]):
                        changed[key] = entry
                    self._take_hints(entry, item, at, key)
            elif (row := new.get(key)) is None:
                new[key] = self._new_row(item, at, key, path)
            elif item.refused is None:
                _change_row(row, item)
        self._write_new(sorted(new.values()))
        self._write_changed(changed)

    def _is_forgotten(self, place: tuple[UrlKey, str]) -> bool:
        return place[0][0] in self._forgotten

    def _new_row(self, item: Discovery, at: float, key: UrlKey, path: str) -> list[Any]:
        seq = self._next
        self._next += 1
        if (item.source, at) != self._last_source:
            self._last_source = (item.source, at)
            self._sources.append((seq, at, None if item.source is None else item.source.text))
        rank = rank_of_link(item)
        if item.refused is None:
            return [*key, seq, READY, rank, item.public_only, item.hops, None, path, item.interval_s, item.lists]
        refused = storable(item.refused)
        return [*key, seq, OUT_OF_SCOPE, rank, item.public_only, item.hops, refused, path, item.interval_s, item.lists]

    def _change(self, entry: _KnownUrl, item: Discovery, host: int) -> bool:
        """Changes the entry by a link; returns whether anything changed. See `change_by_link`."""
        waits, given_up = entry.state in (READY, LATER), entry.state in (OUT_OF_SCOPE, _FAILED)
        closed = entry.state in _CLOSED
        known = KnownUrl(entry.rank, bool(entry.public_only), waits, entry.left_out, given_up, closed)
        change = change_by_link(known, item)
        if change is None:
            return False
        if change.ready:
            self._counts[CODED[entry.state]] -= 1
            self._counts["ready"] += 1
            self._touched.add(host)
            entry.state, entry.left_out, entry.revived = READY, False, True
        entry.rank, entry.public_only = change.rank, change.public_only
        return True

    def _take_hints(self, entry: _KnownUrl, item: Discovery, at: float, key: UrlKey) -> None:
        """Applies what a sitemap read at `at`, or a report, says about a known URL."""
        if item.interval_s is not None and item.interval_s != entry.interval_s:
            entry.interval_s = item.interval_s
            self._db.execute(_STATED_INTERVAL, (item.interval_s, *key))
        if item.is_report and item.modified_at is not None:
            drop_validators(self._db, entry.seq, item.modified_at)
        modified_at = item.modified_at if entry.state >= AGAIN else None
        if modified_at is not None and bring_forward(self._db, entry.seq, modified_at, at):
            self._db.execute(_DUE_AT, (at, *key))
            self._touched.add(key[0])

    def _look_up(self, keys: list[UrlKey]) -> dict[UrlKey, _KnownUrl]:
        found: dict[UrlKey, _KnownUrl] = {}
        at = 0
        for size, statement in _LOOK_UPS:
            while len(keys) - at >= size:
                numbers = [number for key in keys[at : at + size] for number in key]
                at += size
                for host, hash_, *values in self._db.execute(statement, numbers):
                    found[host, hash_] = _KnownUrl(*values)
        return found

    def _write_new(self, rows: list[list[Any]]) -> None:
        """Writes rows in key order, so that neighbours share B-tree pages."""
        self._db.executemany(_NEW_URL, rows)
        self._db.executemany("INSERT INTO found VALUES (?, ?, ?)", self._sources)
        self._sources.clear()
        ready = [row[0] for row in rows if row[_STATE] == READY]
        self._touched.update(ready)
        self._counts["ready"] += len(ready)
        self._counts["out-of-scope"] += len(rows) - len(ready)
        self._counts["urls"] += len(rows)

    def _write_changed(self, changed: dict[UrlKey, _KnownUrl]) -> None:
        revived = [(entry.rank, entry.public_only, *key) for key, entry in changed.items() if entry.revived]
        better = [(entry.rank, entry.public_only, *key) for key, entry in changed.items() if not entry.revived]
        self._db.executemany(_READY_AGAIN, revived)
        self._db.executemany(_BETTER, better)

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


def _change_row(row: list[Any], item: Discovery) -> None:
    """Changes a row that is not written yet by a further link in scope."""
    is_ready = row[_STATE] == READY
    known = KnownUrl(row[_RANK], row[_PUBLIC_ONLY], is_ready, left_out=not is_ready, given_up=False)
    if change := change_by_link(known, item):
        row[_STATE], row[_REFUSED], row[_RANK], row[_PUBLIC_ONLY] = READY, None, change.rank, change.public_only
    row[_INTERVAL] = row[_INTERVAL] if item.interval_s is None else item.interval_s
