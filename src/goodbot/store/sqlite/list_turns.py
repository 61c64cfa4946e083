"""Lists (sitemaps, feeds) and pages of one host take turns in a lease, and a host has a limit of lists for each day.

The frontier orders URLs by depth, and a list has the depth of the page or list that names it. Without turns, only
sitemaps would be requested from a host that names ever new ones.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from goodbot.store.merge.limits import LISTS_S, by_turns, lists_reason, within
from goodbot.store.merge.rank import BEHIND, LISTS
from goodbot.store.merge.recent_links import RecentLinks

# Without INDEXED BY, SQLite reads all URLs of the host.
_NEXT: Final = """SELECT hash, seq, (SELECT was FROM seen WHERE seen.seq = urls.seq), rank, path, tries, public_only,
  hops, interval_s, lists FROM urls INDEXED BY urls_ready WHERE host = ? AND state = 0 AND rank >= ? AND rank < ?
  ORDER BY rank, seq LIMIT ?"""
_PAGES: Final = (0, BEHIND)
_PAGES_BEHIND: Final = (BEHIND, LISTS)
_LISTS: Final = (LISTS, 2 * LISTS)
_CLOSE: Final = (
    """UPDATE urls INDEXED BY urls_ready SET state = 5, refused = ? WHERE host = ? AND state = 0 AND rank >= ?
  AND NOT EXISTS (SELECT 1 FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)
  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
    """UPDATE urls INDEXED BY urls_later SET state = 5, refused = ?, ready_at = NULL
  WHERE host = ? AND state = 2 AND rank >= ? AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
)
_COUNT: Final = """UPDATE hosts SET lists = iif(lists_from > :before, lists, 0) + 1,
  lists_from = iif(lists_from > :before, lists_from, :at) WHERE id = :host"""
_HAS_REACHED_LIMIT: Final = "SELECT 1 FROM hosts WHERE id = ? AND lists >= ? AND lists_from > ?"


class ListTurns:
    """Chooses the URLs of a lease, within a transaction of the frontier. `most`: lists of one host in a day; None: no
    limit."""

    def __init__(
        self, connection: sqlite3.Connection, recent: RecentLinks, counts: Counter[str], most: int | None
    ) -> None:
        self._db = connection
        self._recent = recent
        self._counts = counts
        self._most = most

    def next_of(self, host: int, most: int, turn: int, lists_before: int, now: float) -> list[tuple[Any, ...]]:
        """Returns the rows of a lease, at most `most`: pages and lists in turn, a list first if `turn` is 1.
        `lists_before`: lists of the host that were read before in this period."""
        pages = self._db.execute(_NEXT, (host, *_PAGES, most)).fetchall()
        pages = pages or self._db.execute(_NEXT, (host, *_PAGES_BEHIND, most)).fetchall()
        lists = self._db.execute(_NEXT, (host, *_LISTS, most)).fetchall()
        if lists and self._most is not None:
            if lists_before >= self._most:  # they were found before the clock changed
                self.close([(host,)], now)
            lists = within(lists, self._most - lists_before)
        return by_turns(pages, lists, turn)[:most] if lists else pages

    def close(self, hosts: Iterable[tuple[int]], now: float) -> None:
        """Puts the waiting lists of those hosts out of scope that have reached the limit. A list becomes ready when it
        is found again, or when the crawl is resumed."""
        if self._most is None:
            return
        for (host,) in hosts:
            if self._db.execute(_HAS_REACHED_LIMIT, (host, self._most, now - LISTS_S)).fetchone() is None:
                continue
            for statement in _CLOSE:
                closed = self._db.execute(statement, (lists_reason(self._most), host, LISTS)).rowcount
                self._counts["ready"] -= closed
                self._counts["out-of-scope"] += closed
                if closed:  # so that a page that names them again is not skipped as known
                    self._recent.clear()

    def count(self, host: int, at: float) -> None:
        """Counts one list of the host, settled at `at`; a new period begins if the last one is over."""
        self._db.execute(_COUNT, {"before": at - LISTS_S, "at": at, "host": host})

    def grant(self) -> None:
        """Sets the count of every host to 0."""
        self._db.execute("UPDATE hosts SET lists = 0 WHERE lists > 0")
