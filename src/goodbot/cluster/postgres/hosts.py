"""Ends a transaction: updates the hosts that it changed, and the totals.

Every transaction that changes what can be fetched from a host locks the host at its end and then computes anew when it
is due. The statement that computes it begins after the lock is held, so it sees what all others have written.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.rows import write_rows
from goodbot.store.merge.coding import CODED
from goodbot.store.merge.limits import LISTS_S, budget_reason, lists_reason
from goodbot.store.merge.rank import LISTS
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.values import Release

BLOCK: Final = 65_536
"""Numbers of URLs (`seq`) that a transaction gets at a time, from the sequence `url_numbers`."""

_LOCK: Final = "SELECT id FROM hosts WHERE id = ANY(%s::bigint[]) ORDER BY id FOR UPDATE"
_PAGES: Final = """UPDATE hosts SET pages = hosts.pages + new.pages
  FROM unnest(%s::bigint[], %s::bigint[]) AS new (id, pages) WHERE hosts.id = new.id"""
_LISTS: Final = """UPDATE hosts SET
  lists = (CASE WHEN lists_from > %(at)s - %(period)s THEN lists ELSE 0 END) + new.lists,
  lists_from = CASE WHEN lists_from > %(at)s - %(period)s THEN lists_from ELSE %(at)s END
  FROM unnest(%(ids)s::bigint[], %(counts)s::integer[]) AS new (id, lists) WHERE hosts.id = new.id"""
_RELEASE: Final = """UPDATE hosts SET leased = 0, cut_at = new.cut_at, ready_at = new.ready_at, backoff = new.backoff,
  next_urls = coalesce(new.next_urls, hosts.next_urls), partition = coalesce(new.partition, hosts.partition)
  FROM unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::float8[], %s::float8[], %s::integer[], %s::smallint[])
    AS new (id, token, cut_at, ready_at, backoff, next_urls, partition)
  WHERE hosts.id = new.id AND hosts.leased = 1 AND hosts.token = new.token RETURNING hosts.id"""
_RETURN: Final = "DELETE FROM leased WHERE host = ANY(%s::bigint[])"
_UNDO: Final = """UPDATE hosts SET leased = 0, turn = 1 - turn WHERE id = ANY(%s::bigint[]) AND leased = 1
  AND partition IN (SELECT number FROM partitions WHERE machine = %s) RETURNING id"""
_BARRED: Final = "SELECT host FROM forgotten WHERE host = ANY(%s::bigint[])"
_TAKE_OUT: Final = (
    f"DELETE FROM urls WHERE host = ANY(%s::bigint[]) AND seq / {BLOCK} = ANY(%s::bigint[]) RETURNING state"
)
_FULL: Final = "SELECT id FROM hosts WHERE id = ANY(%s::bigint[]) AND pages >= %s"
_FULL_OF_LISTS: Final = "SELECT id FROM hosts WHERE id = ANY(%s::bigint[]) AND lists >= %s AND lists_from > %s"
# A page that is being revisited stays ready, even above the limit.
_CLOSE: Final = """UPDATE urls SET state = 5, refused = %s, ready_at = NULL
  WHERE host = ANY(%s::bigint[]) AND state IN (0, 2) AND rank >= %s
  AND NOT EXISTS (SELECT FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)
  AND NOT EXISTS (SELECT FROM seen WHERE seen.seq = urls.seq AND was <> 0)"""
_ENTER: Final = "UPDATE hosts SET in_scope = 1 WHERE id = ANY(%s::bigint[]) AND in_scope = 0"
_DUE: Final = """UPDATE hosts SET due = CASE
    WHEN EXISTS (SELECT FROM urls WHERE host = hosts.id AND state = 0) THEN hosts.ready_at
    ELSE (SELECT greatest(hosts.ready_at, at) FROM (SELECT least(
      (SELECT ready_at FROM urls WHERE host = hosts.id AND state = 2 ORDER BY ready_at LIMIT 1),
      (SELECT ready_at FROM urls WHERE host = hosts.id AND state >= 8
        AND ready_at <= (SELECT revisit_until FROM crawl) ORDER BY ready_at LIMIT 1)) AS at) AS next
      WHERE at IS NOT NULL)
  END
  WHERE id = ANY(%s::bigint[]) AND leased = 0 AND NOT EXISTS (SELECT FROM forgotten WHERE host = hosts.id)"""
_TOTALS: Final = """INSERT INTO totals SELECT %s, new.* FROM unnest(%s::text[], %s::bigint[]) AS new (name, value)
  ORDER BY name ON CONFLICT (machine, name) DO UPDATE SET value = totals.value + excluded.value"""


class AddedUrls:
    """What a transaction has inserted into the table of URLs: their hosts, and the blocks of their numbers."""

    def __init__(self) -> None:
        self.hosts: set[int] = set()
        self.blocks: list[int] = []

    def clear(self) -> None:
        """Begins anew."""
        self.hosts.clear()
        self.blocks.clear()


class HostStep:
    """The part of a transaction that ends it. `counts` has the changes of the totals, `touched` the hosts whose URLs
    have changed, `added` the URLs inserted. `host_pages`, `host_lists`: the limits for one host (None: no limit)."""

    def __init__(
        self,
        connection: PostgresConnection,
        recent: RecentLinks,
        machine: int,
        host_pages: int | None,
        host_lists: int | None,
    ) -> None:
        self._db = connection
        self._recent = recent
        self._machine = machine
        self._host_pages = host_pages
        self._host_lists = host_lists
        self.counts: Counter[str] = Counter()
        self.touched: set[int] = set()
        self.added = AddedUrls()
        self._pages: Counter[int] = Counter()
        self._lists: Counter[int] = Counter()
        self._releases: list[tuple[int, Release]] = []
        self._at = float("-inf")

    def notice(self, at: float) -> None:
        """Notes that something happened at this time: the limit of lists is for a day."""
        self._at = max(self._at, at)

    def add_pages(self, host: int, pages: int) -> None:
        """Changes the number of visited pages of a host."""
        self._pages[host] += pages

    def add_list(self, host: int) -> None:
        """Counts one more list of a host."""
        self._lists[host] += 1

    def release(self, host: int, release: Release) -> None:
        """Ends a lease, unless it has ended before."""
        self.notice(release.ready_at)
        self._releases.append((host, release))

    def give_back(self, urls: int) -> None:
        """Counts leased URLs as ready again."""
        self.counts["leased"] -= urls
        self.counts["ready"] += urls

    def undo(self, hosts: Sequence[int]) -> None:
        """Undoes leases that nobody got."""
        held = self._db.execute(_UNDO, (list(hosts), self._machine)).fetchall()
        ids = [host for (host,) in held]
        self.touched.update(ids)
        self.give_back(self._db.execute(_RETURN, (ids,)).rowcount)

    def finish(self) -> None:
        """Writes everything since the last call."""
        hosts = {*self.touched, *self._pages, *self._lists, *(host for host, _ in self._releases)}
        if to_lock := hosts | self.added.hosts:
            self._db.execute(_LOCK, (sorted(to_lock),))
        self._take_out_barred()
        if hosts:
            write_rows(self._db, _PAGES, [(host, pages) for host, pages in self._pages.items() if pages])
            if self._lists:
                ids, counts = list(self._lists), list(self._lists.values())
                self._db.execute(_LISTS, {"at": self._at, "period": LISTS_S, "ids": ids, "counts": counts})
            self.touched |= self._write_releases()
            self._close(sorted(hosts))
            touched = sorted(self.touched)
            self.counts["hosts"] += max(self._db.execute(_ENTER, (touched,)).rowcount, 0)
            self._db.execute(_DUE, (touched,))
        changes = [(name, value) for name, value in self.counts.items() if value]
        if changes:
            names, values = zip(*changes, strict=True)
            self._db.execute(_TOTALS, (self._machine, list(names), list(values)))
        for noted in (self.touched, self.added, self._pages, self._lists, self._releases, self.counts):
            noted.clear()

    def _take_out_barred(self) -> None:
        """Takes out again what this transaction added to hosts that were barred meanwhile: their URLs may have been
        removed already."""
        if not self.added.hosts:
            return
        barred = [host for (host,) in self._db.execute(_BARRED, (sorted(self.added.hosts),))]
        if barred:
            for (state,) in self._db.execute(_TAKE_OUT, (barred, self.added.blocks)):
                self.counts[CODED[state]] -= 1
                self.counts["urls"] -= 1
            self.touched.difference_update(barred)

    def _write_releases(self) -> set[int]:
        """Releases hosts; returns those that were leased under these tokens."""
        if not self._releases:
            return set()
        rows = [
            (host, item.token, item.cut_at, item.ready_at, item.backoff_s, item.next_urls, item.partition)
            for host, item in self._releases
        ]
        columns: Sequence[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        released = {host for (host,) in self._db.execute(_RELEASE, columns).fetchall()}
        if released:
            self.give_back(self._db.execute(_RETURN, (sorted(released),)).rowcount)
        return released

    def _close(self, hosts: list[int]) -> None:
        """Puts waiting URLs of hosts that have reached a limit out of scope."""
        if self._host_pages is not None:
            full = self._db.execute(_FULL, (hosts, self._host_pages)).fetchall()
            self._close_all(full, budget_reason(self._host_pages), 0)
        if self._host_lists is not None:
            full = self._db.execute(_FULL_OF_LISTS, (hosts, self._host_lists, self._at - LISTS_S)).fetchall()
            self._close_all(full, lists_reason(self._host_lists), LISTS)

    def _close_all(self, full: Iterable[tuple[int]], reason: str, least_rank: int) -> None:
        hosts = [host for (host,) in full]
        if not hosts:
            return
        closed = self._db.execute(_CLOSE, (reason, hosts, least_rank)).rowcount
        self.counts["ready"] -= closed
        self.counts["out-of-scope"] += closed
        self.touched.update(hosts)
        if closed:  # so that a page that names them again is not skipped as known
            self._recent.clear()
