"""Adds links to the frontier in PostgreSQL, in a few statements for each batch.

Two machines may find the same URLs at the same time. New hosts are added first, then new URLs, then known URLs are
locked, at last hosts, each in the order of keys: so no two transactions block each other for good.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.hosts import BLOCK, AddedUrls
from goodbot.cluster.postgres.rows import columns_of, write_rows
from goodbot.partitions import partition_of
from goodbot.store.merge.coding import UrlKey, hash_of
from goodbot.store.merge.link_batch import LinkBatch, ModifiedAt, StoredUrl
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.url import Url
from goodbot.values import Discovery

MAX_BATCH: Final = BLOCK
"""URLs in one batch: so their numbers are of one block."""

_HOSTS: Final = "SELECT key, id, origin FROM hosts WHERE key = ANY(%s::text[])"
# Numbered in the order found, which decides between hosts that have waited equally long.
_NEW_HOSTS: Final = """INSERT INTO hosts (id, key, origin, ready_at, partition)
  SELECT * FROM (SELECT nextval('host_numbers') AS id, new.*
    FROM unnest(%s::text[], %s::text[], %s::float8[], %s::smallint[]) AS new (key, origin, ready_at, partition)
    OFFSET 0) AS numbered
  ORDER BY key ON CONFLICT (key) DO NOTHING"""
_LOOK_UP: Final = """SELECT urls.host, urls.hash, seq, state, rank, refused IS NOT NULL, interval_s, public_only
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (host, hash) JOIN urls USING (host, hash)"""
_LOCK: Final = f"{_LOOK_UP} ORDER BY urls.host, urls.hash FOR UPDATE OF urls"
_NEW_URLS: Final = """INSERT INTO urls
  (host, hash, seq, state, rank, public_only, hops, refused, path, interval_s, lists)
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::smallint[],
    %s::smallint[], %s::text[], %s::text[], %s::float8[], %s::smallint[]) AS new (host, hash) ORDER BY 1, 2
  ON CONFLICT (host, hash) DO NOTHING RETURNING host, hash"""
_FOUND: Final = "INSERT INTO found SELECT * FROM unnest(%s::bigint[], %s::float8[], %s::text[])"
_BETTER: Final = """UPDATE urls SET rank = new.rank, public_only = new.public_only
  FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[]) AS new (rank, public_only, host, hash)
  WHERE urls.host = new.host AND urls.hash = new.hash"""
_READY_AGAIN: Final = """UPDATE urls SET state = 0, rank = new.rank, public_only = new.public_only, tries = 0,
  ready_at = NULL, refused = NULL
  FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[]) AS new (rank, public_only, host, hash)
  WHERE urls.host = new.host AND urls.hash = new.hash"""
_INTERVALS: Final = """UPDATE urls SET interval_s = new.interval_s
  FROM unnest(%s::float8[], %s::bigint[], %s::bigint[]) AS new (interval_s, host, hash)
  WHERE urls.host = new.host AND urls.hash = new.hash"""
_REPORTED: Final = """UPDATE seen SET etag = NULL, modified = NULL
  FROM (SELECT seq, max(modified_at) AS modified_at FROM unnest(%s::bigint[], %s::float8[]) AS all_ (seq, modified_at)
    GROUP BY seq) AS new
  WHERE seen.seq = new.seq AND seen.at < new.modified_at"""
# The same rule as `is_due_by`, of the earliest time at which a list was read.
_DUE: Final = """WITH sooner AS (UPDATE seen SET due_at = new.at FROM (
    SELECT DISTINCT ON (all_.seq) all_.*
    FROM unnest(%s::bigint[], %s::float8[], %s::float8[], %s::bigint[], %s::bigint[])
      AS all_ (seq, modified_at, at, host, hash)
    JOIN seen ON seen.seq = all_.seq
    WHERE seen.at < modified_at AND seen.due_at > all_.at ORDER BY all_.seq, all_.at) AS new
  WHERE seen.seq = new.seq RETURNING new.at, new.host, new.hash)
  UPDATE urls SET ready_at = sooner.at FROM sooner WHERE urls.host = sooner.host AND urls.hash = sooner.hash
  RETURNING urls.host"""


class FoundUrl(NamedTuple):
    """A link, with when it was found, the key of its URL, and the text that is stored of it."""

    link: Discovery
    at: float
    key: UrlKey
    path: str


class LinkStep:
    """The part of a transaction that adds URLs. It counts states in `counts`, adds to `touched` the hosts that have
    more to fetch now, and notes in `added` what it inserted."""

    def __init__(
        self,
        connection: PostgresConnection,
        recent: RecentLinks,
        counts: Counter[str],
        touched: set[int],
        added: AddedUrls,
    ) -> None:
        self._db = connection
        self._recent = recent
        self._counts = counts
        self._touched = touched
        self._added = added

    def add(self, found: Iterable[FoundUrl], locked: Iterable[UrlKey] = ()) -> int:
        """Adds URLs, and returns how many are new. Locks the known URLs of `locked`, too."""
        new, items, also = 0, iter(found), set(locked)
        while (batch := list(islice(items, MAX_BATCH))) or also:
            new += self._add_batch(batch, also)
            also = set()
        return new

    def _add_batch(self, batch: list[FoundUrl], locked: set[UrlKey]) -> int:
        keys = {found.key for found in batch}
        known = self._read(_LOOK_UP, keys) if keys else {}
        first = self._merged(batch, known, self._next_block() if len(known) < len(keys) else 0)
        changing = {*first.changed, *first.intervals, *(item.key for item in (*first.reported, *first.due))}
        inserted = self._insert(first)
        added_by_others = first.new.keys() - inserted
        if to_lock := changing | locked | added_by_others:
            known |= self._read(_LOCK, to_lock)
        merged = self._merged(batch, known, first.next_seq) if changing or added_by_others else first
        self._count(merged)
        self._write_changes(merged)
        return len(inserted)

    def _merged(self, batch: Iterable[FoundUrl], known: dict[UrlKey, tuple[Any, ...]], next_seq: int) -> LinkBatch:
        stored = {key: StoredUrl(*values) for key, values in known.items()}
        links = LinkBatch(stored, next_seq, Counter(), set())
        for link, at, key, path in batch:
            links.take(link, at, key, path)
        links.count_new()
        return links

    def _read(self, query: str, keys: Iterable[UrlKey]) -> dict[UrlKey, tuple[Any, ...]]:
        hosts, hashes = columns_of(sorted(keys))
        return {(row[0], row[1]): row[2:] for row in self._db.execute(query, (hosts, hashes))}

    def _next_block(self) -> int:
        (first,) = self._db.execute("SELECT nextval('url_numbers')").fetchone() or (0,)
        return int(first)

    def _insert(self, links: LinkBatch) -> set[UrlKey]:
        """Inserts new URLs; returns the keys of those that no other machine has added meanwhile."""
        if not links.new:
            return set()
        rows = [[*row[:5], int(row[5]), *row[6:]] for row in links.new.values()]
        inserted = set(self._db.execute(_NEW_URLS, columns_of(rows)).fetchall())
        self._added.hosts.update(host for host, _ in inserted)
        self._added.blocks.append((links.next_seq - 1) // BLOCK)
        write_rows(self._db, _FOUND, links.sources)
        return {(host, hash_) for host, hash_ in inserted}

    def _count(self, links: LinkBatch) -> None:
        self._counts.update(links.counts)
        self._touched |= links.touched

    def _write_changes(self, links: LinkBatch) -> None:
        rows = {True: [], False: []}  # type: dict[bool, list[tuple[int, ...]]]
        for key, entry in links.changed.items():
            rows[entry.revived].append((entry.rank, int(entry.public_only), *key))
        write_rows(self._db, _READY_AGAIN, rows[True])
        write_rows(self._db, _BETTER, rows[False])
        write_rows(self._db, _INTERVALS, [(interval_s, *key) for key, interval_s in links.intervals.items()])
        write_rows(self._db, _REPORTED, [(item.seq, item.modified_at) for item in links.reported])
        if links.due:
            moved = self._db.execute(_DUE, columns_of([_due_row(item) for item in links.due]))
            self._touched.update(host for (host,) in moved.fetchall())


def _due_row(item: ModifiedAt) -> tuple[float, ...]:
    return item.seq, item.modified_at, item.at, *item.key


class HostPlaces:
    """Finds the numbers of hosts, and adds unknown ones. What it remembers is in `recent`."""

    def __init__(self, connection: PostgresConnection, recent: RecentLinks) -> None:
        self._db = connection
        self._recent = recent

    def place(self, found: Sequence[tuple[Discovery, float]], waiting_since: float | None) -> list[FoundUrl]:
        """Returns the links with their keys. New hosts are added; they have been waiting since `waiting_since` (None:
        since they were found)."""
        unknown: dict[str, tuple[str, str, float]] = {}
        places: dict[str, tuple[int, str]] = {}
        origins = [item.url.origin for item, _ in found]
        for origin, (item, at) in zip(origins, found, strict=True):
            if origin in places or origin in unknown:
                continue
            if (known := self._recent.origins.get(origin)) is not None:
                places[origin] = known
            else:
                unknown[origin] = item.url.host_key, origin, at if waiting_since is None else waiting_since
        if unknown:
            places |= self._load(unknown)
        return [_placed(item, at, origin, *places[origin]) for origin, (item, at) in zip(origins, found, strict=True)]

    def known_keys(self, urls: Iterable[Url]) -> list[UrlKey]:
        """Returns the keys of URLs, in order, without those whose host is unknown."""
        return sorted({key for key in self.keys_of(list(urls)) if key is not None})

    def hosts_of(self, keys: Sequence[str]) -> list[int | None]:
        """Returns the numbers of hosts (`Url.host_key`); None for an unknown one."""
        known = self._known(set(keys)) if keys else {}
        return [known[key][0] if key in known else None for key in keys]

    def keys_of(self, urls: Sequence[Url]) -> list[UrlKey | None]:
        """Returns the keys of URLs; None for one whose host is unknown."""
        unknown = {url.host_key for url in urls if url.origin not in self._recent.origins}
        loaded = {key: id_ for key, id_, _ in self._db.execute(_HOSTS, (sorted(unknown),))} if unknown else {}
        hosts = (
            self._recent.origins[url.origin][0] if url.host_key not in unknown else loaded.get(url.host_key)
            for url in urls
        )
        return [None if host is None else (host, hash_of(url.text)) for host, url in zip(hosts, urls, strict=True)]

    def _load(self, unknown: dict[str, tuple[str, str, float]]) -> dict[str, tuple[int, str]]:
        by_key: dict[str, tuple[str, str, float]] = {}
        for values in unknown.values():
            by_key.setdefault(values[0], values)
        known = self._known(by_key)
        if new := [values for key, values in by_key.items() if key not in known]:
            write_rows(self._db, _NEW_HOSTS, [(*values, partition_of(values[0])) for values in new])
            known |= self._known([values[0] for values in new])
        places = {origin: known[values[0]] for origin, values in unknown.items()}
        remembered = self._recent.origins
        if len(remembered) + len(places) > RecentLinks.ORIGINS:
            remembered.clear()
        remembered.update(islice(places.items(), RecentLinks.ORIGINS))
        return places

    def _known(self, keys: Iterable[str]) -> dict[str, tuple[int, str]]:
        return {key: (id_, origin) for key, id_, origin in self._db.execute(_HOSTS, (list(keys),))}


def _placed(item: Discovery, at: float, origin: str, host: int, stored_origin: str) -> FoundUrl:
    text = item.url.text
    return FoundUrl(item, at, (host, hash_of(text)), text[len(origin) :] if stored_origin == origin else text)
