"""Starts leases in PostgreSQL: chooses hosts that are due, in the partitions of one machine, and their URLs.

It never waits for another machine: hosts and URLs that another transaction has locked are passed over.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.links import HostPlaces
from goodbot.cluster.postgres.rows import write_rows
from goodbot.cluster.postgres.seen import load_seen, texts_of
from goodbot.store.merge.coding import CODED, UrlKey
from goodbot.store.merge.limits import LISTS_S, MAX_DUE, by_turns, lease_limit, within
from goodbot.store.merge.outcome_rules import seen_by_next_visit
from goodbot.store.merge.rank import BEHIND, LISTS, depth_of
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl

_HOSTS: Final = """SELECT id, key, origin, backoff, cut_at, pages, turn, lists, lists_from, next_urls, token, partition
  FROM hosts WHERE leased = 0 AND due <= %(now)s AND id IN (
    SELECT first.id FROM unnest(%(partitions)s::smallint[]) AS mine (number)
    CROSS JOIN LATERAL (SELECT id, due FROM hosts WHERE partition = mine.number AND due IS NOT NULL AND due <= %(now)s
      ORDER BY due, id LIMIT %(most)s) AS first
    ORDER BY first.due, first.id LIMIT %(most)s)
  ORDER BY due, id FOR UPDATE SKIP LOCKED"""
_NOW_READY: Final = """UPDATE urls SET state = 0, ready_at = NULL FROM (
    SELECT host, hash FROM urls WHERE host = ANY(%s::bigint[]) AND state = 2 AND ready_at <= %s
    FOR UPDATE SKIP LOCKED) AS due
  WHERE urls.host = due.host AND urls.hash = due.hash"""
_AGAIN: Final = """SELECT again.* FROM unnest(%s::bigint[]) AS wanted (id) CROSS JOIN LATERAL (
    SELECT host, hash, seq, state FROM urls WHERE host = wanted.id AND state >= 8 AND ready_at <= %s
    ORDER BY ready_at LIMIT %s FOR UPDATE SKIP LOCKED) AS again"""
_AGAIN_READY: Final = """UPDATE urls SET state = 0, tries = 0, ready_at = NULL
  FROM unnest(%s::bigint[], %s::bigint[]) AS new (host, hash)
  WHERE urls.host = new.host AND urls.hash = new.hash"""
_WAS: Final = """UPDATE seen SET was = new.was FROM unnest(%s::bigint[], %s::smallint[]) AS new (seq, was)
  WHERE seen.seq = new.seq"""
# Each host has three ranges of ranks: pages, pages that can wait, lists.
_NEXT: Final = """SELECT next.host, hash, next.seq, was, rank, path, tries, public_only, hops,
    next.interval_s, lists, kind
  FROM unnest(%s::bigint[], %s::integer[]) AS wanted (id, most)
  CROSS JOIN (VALUES (0, 0::bigint, %s::bigint), (1, %s, %s), (2, %s, %s)) AS kinds (kind, first, last)
  CROSS JOIN LATERAL (SELECT * FROM urls WHERE host = wanted.id AND state = 0 AND rank >= first AND rank < last
    ORDER BY rank, seq LIMIT most) AS next LEFT JOIN seen ON seen.seq = next.seq
  ORDER BY next.host, kind, rank, next.seq"""
_LEASED: Final = """INSERT INTO leased (host, hash, token, seq, was, expects_list)
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[], %s::smallint[])"""
_TAKE: Final = "UPDATE hosts SET leased = 1, due = NULL, turn = 1 - turn WHERE id = ANY(%s::bigint[])"
_COPIES: Final = """SELECT host, hash, same_as, said FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (host, hash)
  JOIN copies USING (host, hash) WHERE said IS NOT NULL"""

Row = tuple[Any, ...]
"""A row of `_NEXT`, without host and kind: hash, seq, was, rank, path, tries, public_only, hops, interval_s, lists."""


class LeaseStep:
    """The part of a transaction that starts leases. It counts states in `counts`. `host_pages`, `host_lists`: the
    limits for one host (None: no limit); `until`: URLs that are due again by then are revisited (None: none)."""

    def __init__(
        self,
        connection: PostgresConnection,
        places: HostPlaces,
        counts: Counter[str],
        host_pages: int | None,
        host_lists: int | None,
        until: float | None,
    ) -> None:
        self._db = connection
        self._places = places
        self._counts = counts
        self._host_pages = host_pages
        self._host_lists = host_lists
        self._until = until
        self.hosts: list[int] = []

    def lease(
        self, partitions: Sequence[int], hosts: int, urls_per_host: int, now: float, *, sized: bool
    ) -> list[Lease]:
        """See `Frontier.lease`; chooses among the hosts of these partitions. Their numbers are in `hosts` then."""
        wanted = {"now": now, "partitions": list(partitions), "most": hosts}
        due = self._db.execute(_HOSTS, wanted).fetchall()
        if not due:
            return []
        self.hosts = ids = [row[0] for row in due]
        self._db.execute(_NOW_READY, (ids, now))
        if self._until is not None:
            self._make_due_ready(ids, min(now, self._until))
        limits = [lease_limit(urls_per_host, row[9], sized=sized) for row in due]
        chosen = self._chosen(due, limits, now)
        write_rows(
            self._db,
            _LEASED,
            [
                (row[0], item[0], row[10], item[1], item[2], int(item[3] >= LISTS))
                for row in due
                for item in chosen[row[0]]
            ],
        )
        self._db.execute(_TAKE, (ids,))
        count = sum(map(len, chosen.values()))
        self._counts["ready"] -= count
        self._counts["leased"] += count
        urls = self._leased_urls(due, chosen)
        return [
            Lease(row[1], urls[row[0]], row[3], row[4], len(urls[row[0]]) >= most, row[10], row[11])
            for row, most in zip(due, limits, strict=True)
        ]

    def _make_due_ready(self, hosts: list[int], due: float) -> None:
        """Makes URLs ready that are due again by that time. They still count as pages of the host."""
        rows = self._db.execute(_AGAIN, (hosts, due, MAX_DUE)).fetchall()
        write_rows(self._db, _AGAIN_READY, [row[:2] for row in rows])
        write_rows(self._db, _WAS, [row[2:] for row in rows])
        self._counts.subtract(CODED[row[3]] for row in rows)
        self._counts["ready"] += len(rows)

    def _chosen(self, due: Sequence[tuple[Any, ...]], limits: list[int], now: float) -> dict[int, list[Row]]:
        """Returns the URLs of each lease: pages and lists by turns; pages that can wait only if there are no others."""
        ranges = BEHIND, BEHIND, LISTS, LISTS, 2 * LISTS
        kinds: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for host, *row, kind in self._db.execute(_NEXT, ([row[0] for row in due], limits, *ranges)):
            kinds[host, kind].append(tuple(row))
        chosen: dict[int, list[Row]] = {}
        for (host, _, _, _, _, pages, turn, lists, lists_from, *_), most in zip(due, limits, strict=True):
            named = kinds[host, 2]
            if self._host_lists is not None:
                named = within(named, self._host_lists - (lists if lists_from > now - LISTS_S else 0))
            rows = by_turns(kinds[host, 0] or kinds[host, 1], named, turn)[:most]
            chosen[host] = rows if self._host_pages is None else within(rows, self._host_pages - pages)
        return chosen

    def _leased_urls(
        self, due: Sequence[tuple[Any, ...]], chosen: dict[int, list[Row]]
    ) -> dict[int, tuple[LeasedUrl, ...]]:
        again = [(host, row[0], row[1]) for host, rows in chosen.items() for row in rows if row[2] is not None]
        seen = load_seen(self._db, [seq for _, _, seq in again])
        keys: list[UrlKey] = [(host, hash_) for host, hash_, seq in again if not seen[seq].indexed]
        copies = self._copies(keys)
        texts = texts_of(self._db, self._places, [same_as for same_as, _ in copies.values()])
        urls: dict[int, tuple[LeasedUrl, ...]] = {}
        for host, _, origin, *_ in due:
            leased = []
            for hash_, seq, was, rank, path, tries, public_only, hops, interval_s, lists in chosen[host]:
                item = LeasedUrl(
                    *(_url_of(origin, path), depth_of(rank), tries, bool(public_only), hops),
                    interval_s=interval_s,
                    lists=lists,
                    expects_list=rank >= LISTS,
                )
                if was is not None:
                    copy_of, said = copies.get((host, hash_), (None, None))
                    text_now = texts.get(copy_of) if copy_of is not None else None
                    last, same_as = seen_by_next_visit(seen[seq], copy_of, said, text_now)
                    item = item._replace(seen=last, same_as=same_as)
                leased.append(item)
            urls[host] = tuple(leased)
        return urls

    def _copies(self, keys: list[UrlKey]) -> dict[UrlKey, tuple[Url, str]]:
        if not keys:
            return {}
        hosts, hashes = zip(*keys, strict=True)
        rows = self._db.execute(_COPIES, (list(hosts), list(hashes)))
        return {(host, hash_): (Url(same_as), said) for host, hash_, same_as, said in rows}


def _url_of(origin: str, path: str) -> Url:
    return Url(origin + path if path[0] == "/" else path)
