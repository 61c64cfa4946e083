"""Runs one transaction of the SQLite frontier: adds links, writes outcomes, starts and ends leases."""

import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from math import inf
from typing import Final

from goodbot.exclusion import CLOCK_BACK_S
from goodbot.lesson_values import Lesson
from goodbot.store.merge.coding import CODED, LATER, OUT_OF_SCOPE, READY, VISITED_AGAIN, UrlKey
from goodbot.store.merge.limits import budget_reason
from goodbot.store.merge.outcome_rows import queue_place_of, settled_row, visit_row
from goodbot.store.merge.outcome_rules import as_pending, is_list_read, is_unindexed, pages_added, queue_change
from goodbot.store.merge.rank import depth_of
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.merge.storable_text import storable
from goodbot.store.reports.rows import url_of
from goodbot.store.sqlite.index_table import load_mark
from goodbot.store.sqlite.leasing import Leasing
from goodbot.store.sqlite.lesson_table import left_out_by
from goodbot.store.sqlite.link_writer import LinkWriter
from goodbot.store.sqlite.list_turns import ListTurns
from goodbot.store.sqlite.seen_table import (
    save_copies,
    save_seen,
    until_of,
)
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Lease, LeasedUrl, Outcome, Release

_LOG: Final = logging.getLogger(__name__)

# Without INDEXED BY, SQLite reads all URLs of the host.
_CLOSE = (
    """UPDATE urls INDEXED BY urls_ready SET state = 5, refused = ? WHERE host = ? AND state = 0
  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
    """UPDATE urls INDEXED BY urls_later SET state = 5, refused = ?, ready_at = NULL WHERE host = ? AND state = 2
  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
)
_SETTLED = "UPDATE urls SET state = ?, tries = ?, ready_at = ?, refused = NULL WHERE host = ? AND hash = ?"
_VISIT = "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TAKE_BACK = """DELETE FROM leased WHERE host = ? AND hash = ? AND (SELECT token FROM hosts WHERE id = host) = ?
  RETURNING seq, was, expects_list"""
_WITH_SEEN = """SELECT state, seq, EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq) FROM urls
  WHERE host = ? AND hash = ?"""
_STAYS = "DELETE FROM leaving WHERE host = ? AND hash = ?"
_INDEX_LACKS = """UPDATE seen SET indexed = 0, etag = NULL, modified = NULL
  WHERE seq = (SELECT seq FROM urls WHERE host = ? AND hash = ?)"""

_NOT_PLANNED: Final = """SELECT host, urls.hash, seq, origin, path, rank,
    seen.at + iif(available_until > seen.at, min(seen.interval_s, available_until - seen.at), seen.interval_s)
  FROM urls CROSS JOIN hosts ON hosts.id = host CROSS JOIN seen USING (seq)
  WHERE state >= 8 AND urls.ready_at = 9e999 AND (host, urls.hash) > (?, ?) ORDER BY host, urls.hash LIMIT 4096"""
"""A visit is due after the interval that was chosen, or at `unavailable_after` if that comes first. 9e999 is
infinity."""

_BATCH: Final = 65536
"""How many of a million seeds are in memory at a time."""

_ENTER = "UPDATE hosts SET in_scope = 1 WHERE id = ? AND NOT in_scope"
_DUE = """UPDATE hosts SET due = (SELECT due FROM due_hosts WHERE id = hosts.id)
  WHERE id = ? AND NOT leased AND id NOT IN (SELECT host FROM forgotten)"""


class Transaction:
    """The steps of one transaction, which the caller begins and commits. It lives no longer than that.

    `host_pages`: the most URLs of one host that are visited, None for no limit. `revisit_until`: URLs due again up to
    that time are revisited, None for no revisits. `host_lists`: the most lists of one host that are read in a day.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        recent: RecentLinks,
        host_pages: int | None,
        revisit_until: float | None = None,
        host_lists: int | None = None,
    ) -> None:
        self._db = connection
        self._recent = recent
        self._host_pages = host_pages
        self._until = until_of(revisit_until)
        self._at = -inf
        self._counts: Counter[str] = Counter()
        self._touched: set[int] = set()
        self._links = LinkWriter(connection, recent, self._counts, self._touched)
        self._turns = ListTurns(connection, recent, self._counts, host_lists)
        self._leasing = Leasing(connection, self._counts, self._links, self._turns, host_pages, self._until)

    def finish(self) -> None:
        """Updates hosts and totals after what was done since the last call."""
        hosts = [(host,) for host in sorted(self._touched)]
        self._counts["hosts"] += max(self._db.executemany(_ENTER, hosts).rowcount, 0)
        if self._host_pages is not None:
            self._close_full(hosts, self._host_pages)
        self._turns.close(hosts, self._at)
        self._db.executemany(_DUE, hosts)
        changes = [(change, name) for name, change in self._counts.items() if change]
        self._db.executemany("UPDATE totals SET value = value + ? WHERE name = ?", changes)
        self._touched.clear()
        self._counts.clear()

    def _close_full(self, hosts: Iterable[tuple[int]], most: int) -> None:
        """Puts the ready URLs of hosts that have reached their limit of pages out of scope, so that none is leased."""
        for host in hosts:
            (full,) = self._db.execute("SELECT pages >= ? FROM hosts WHERE id = ?", (most, *host)).fetchone()
            for statement in _CLOSE if full else ():
                closed = self._db.execute(statement, (budget_reason(most), *host)).rowcount
                self._counts["ready"] -= closed
                self._counts["out-of-scope"] += closed

    def close_full(self) -> None:
        """Closes hosts that have reached their limit of pages. Called at the start, as the limit may be lower now."""
        if self._host_pages is not None:
            full = "SELECT id FROM hosts WHERE due IS NOT NULL AND pages >= ?"
            self._touched.update(host for (host,) in self._db.execute(full, (self._host_pages,)))

    def grant_lists(self) -> None:
        """Grants every host its lists again. Called at the start."""
        self._turns.grant()

    def set_until(self) -> None:
        """Stores the time up to which pages are revisited, which may differ from that of the last run. Called at the
        start."""
        (before,) = self._db.execute("SELECT until FROM revisits").fetchone() or (None,)
        if before != self._until:
            self._db.execute("UPDATE revisits SET until = ?", (self._until,))
            again = "SELECT 1 FROM urls INDEXED BY urls_again WHERE host = hosts.id AND state >= 8"
            hosts = self._db.execute(f"SELECT id FROM hosts WHERE EXISTS ({again})")  # noqa: S608 - a text of ours
            self._touched.update(host for (host,) in hosts)

    def discover(self, found: Iterable[Discovery], at: float, waiting_since: float) -> int:
        """See `Frontier.add`. `at`: when the URLs were found; a new host has been waiting since `waiting_since`."""
        self._at = max(self._at, at)
        new, items = 0, iter(found)
        while batch := list(islice(items, _BATCH)):
            new += self._links.discover([(batch, at)], waiting_since)
            self.finish()
        return new

    # ---- leases -------------------------------------------------------------------------------------------

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool) -> list[Lease]:
        """See `Frontier.lease`."""
        return self._leasing.lease(hosts, urls_per_host, now, sized=sized)

    def claim(self, url: Url) -> tuple[LeasedUrl, int] | None:
        """See `SqliteFrontier.claim`."""
        claimed = self._leasing.claim(url)
        if claimed is not None:
            key = self._links.key_of(url)
            self._touched.update(() if key is None else key[:1])
        return claimed

    def release(self, release: Release) -> None:
        """Ends a lease, unless it has ended before."""
        row = self._db.execute(
            "UPDATE hosts SET leased = 0, cut_at = ?, ready_at = ?, backoff = ?, next_urls = coalesce(?, next_urls),"
            " partition = coalesce(?, partition) WHERE key = ? AND leased = 1 AND token = ? RETURNING id",
            (
                *(release.cut_at, release.ready_at, release.backoff_s, release.next_urls, release.partition),
                *(release.host, release.token),
            ),
        ).fetchall()
        if not row:
            return
        self._at = max(self._at, release.ready_at)
        self._give_back(self._db.execute("DELETE FROM leased WHERE host = ?", row[0]).rowcount)
        self._touched.add(row[0][0])

    def return_leases(self, now: float) -> None:
        """Ends all leases of a dead process, which may have sent requests to their hosts until `now`."""
        cut = "UPDATE hosts SET leased = 0, cut_at = ?, token = token + 1 WHERE leased = 1 RETURNING id"
        self._touched.update(host for (host,) in self._db.execute(cut, (now,)).fetchall())
        returned = self._db.execute("DELETE FROM leased").rowcount
        self._give_back(returned)
        if returned:
            _LOG.info("the last run did not end properly: %d leased URLs are ready again", returned)
        self._follow_clock(now)

    def _follow_clock(self, now: float) -> None:
        """Shortens waits if the clock was set back since the last run, by the best known difference: the time from now
        to the last link that was found."""
        last = self._db.execute("SELECT at FROM found ORDER BY seq DESC LIMIT 1").fetchone()
        ahead_s = last[0] - now if last else 0.0
        if ahead_s <= CLOCK_BACK_S:
            return
        _LOG.warning("the clock was set back by %.0f s since the last run: all waits are shortened", ahead_s)
        self._db.execute("UPDATE hosts SET ready_at = ready_at - ? WHERE ready_at > ?", (ahead_s, now))
        self._db.execute("UPDATE urls SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL", (ahead_s,))
        seen = """UPDATE seen SET at = at - :s, due_at = due_at - :s, changed_at = changed_at - :s,
          whole_at = whole_at - :s"""
        self._db.execute(seen, {"s": ahead_s})
        self._touched.update(host for (host,) in self._db.execute("SELECT id FROM hosts WHERE in_scope"))

    def _give_back(self, urls: int) -> None:
        self._counts["leased"] -= urls
        self._counts["ready"] += urls

    # ---- outcomes -----------------------------------------------------------------------------------------

    def settle(self, outcomes: Sequence[Outcome], found: Sequence[FoundLinks]) -> list[int]:
        """Writes outcomes, then `found` and their links. Returns the positions of those that were rejected."""
        outcomes = self._with_skipped_pending(outcomes)
        ended = [(outcome, self._end_lease(outcome)) for outcome in outcomes]
        placed = [(outcome, *place) for outcome, place in ended if place is not None]
        self._at = max(self._at, *(at for _, at in found), *(outcome.at for outcome in outcomes), -inf)
        settled = [(outcome, seq, was) for outcome, _, seq, was, _ in placed]
        self._db.executemany(_SETTLED, [settled_row(outcome, key) for outcome, key, *_ in placed])
        self._db.executemany(_VISIT, [visit_row(seq, outcome) for outcome, seq, _ in settled])
        save_seen(self._db, settled)
        keyed = [(outcome, key) for outcome, key, *_ in placed]
        save_copies(self._db, keyed, self._leasing.text_of)
        self._write_to_index(keyed)
        self._count_pages(placed)
        self._links.discover(chain(found, ((outcome.links, outcome.at) for outcome in outcomes)), None)
        return [position for position, (_, place) in enumerate(ended) if place is None]

    def _with_skipped_pending(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Makes pages pending that a crawl fetched without writing the index that it has."""
        skipped = [number for number, outcome in enumerate(outcomes) if is_unindexed(outcome)]
        if not skipped or load_mark(self._db) is None:
            return outcomes
        changed = list(outcomes)
        for number in skipped:
            changed[number] = as_pending(outcomes[number])
        return changed

    def _end_lease(self, outcome: Outcome) -> tuple[UrlKey, int, int | None, int] | None:
        """Ends the lease of a URL; returns its key and number, `was` of its row in `seen`, and whether a list was
        expected there. None: the URL is not leased under this token."""
        key = self._links.key_of(outcome.url)
        row = key and self._db.execute(_TAKE_BACK, (*key, outcome.token)).fetchone()
        if not row or not key:
            return None
        self._counts["leased"] -= 1
        self._counts[outcome.state] += 1
        self._counts["bytes"] += outcome.size_bytes
        self._touched.add(key[0])
        return key, *row

    def _count_pages(self, placed: Iterable[tuple[Outcome, UrlKey, int, int | None, int]]) -> None:
        """Counts visited pages and lists. A page that is being revisited was counted before; a list is counted once."""
        pages: Counter[int] = Counter()
        for outcome, (host, _), _, was, expects_list in placed:
            before = None if was is None else CODED[was]
            pages[host] += pages_added(outcome, before)
            if is_list_read(outcome, expects_list=bool(expects_list), was=before):
                self._turns.count(host, outcome.at)
        changes = [(number, host) for host, number in pages.items() if number]
        self._db.executemany("UPDATE hosts SET pages = pages + ? WHERE id = ?", changes)

    def _write_to_index(self, placed: Sequence[tuple[Outcome, UrlKey]]) -> None:
        changes = [(queue_change(outcome), outcome, key) for outcome, key in placed]
        pending = [(*key, *queue_place_of(outcome)) for change, outcome, key in changes if change == "pending"]
        over = [key for change, _, key in changes if change in ("leaving", "done")]
        leaving = [key for change, _, key in changes if change == "leaving"]
        self._db.executemany("INSERT OR REPLACE INTO to_index VALUES (?, ?, ?, ?)", pending)
        self._db.executemany("DELETE FROM to_index WHERE host = ? AND hash = ?", over)
        self._db.executemany(_STAYS, [row[:2] for row in pending])
        self._db.executemany("INSERT OR IGNORE INTO leaving VALUES (?, ?)", leaving)

    # ---- URLs that become ready again
    # ----------------------------------------------------------------------------------

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`: reads all URLs in key order, a few thousand at a time."""
        ready, last = 0, (-1, 0)
        while True:
            rows = self._db.execute(
                "SELECT host, hash, origin, path, rank, refused, pages FROM urls JOIN hosts ON hosts.id = host"
                " WHERE state = 5 AND (host, hash) > (?, ?) ORDER BY host, hash LIMIT 4096",
                last,
            ).fetchall()
            if not rows:
                self._recent.clear()
                return ready
            for host, hash_, origin, path, rank, refused, pages in rows:
                reason = judge(url_of(origin, path), depth_of(rank)) or self._reason_of_budget(pages)
                if reason is None:
                    self._make_ready((host, hash_), OUT_OF_SCOPE)
                    ready += 1
                elif reason != refused:
                    values = (storable(reason), host, hash_)
                    self._db.execute("UPDATE urls SET refused = ? WHERE host = ? AND hash = ?", values)
            last = (rows[-1][0], rows[-1][1])

    def plan_visits(self, refuse: Callable[[Url, int], str | None]) -> int:
        """See `SqliteFrontier.plan_visits`: reads all URLs in key order, a few thousand at a time."""
        planned, last = 0, (-1, 0)
        while rows := self._db.execute(_NOT_PLANNED, last).fetchall():
            for host, hash_, seq, origin, path, rank, due_at in rows:
                if refuse(url_of(origin, path), depth_of(rank)) is None:
                    self._db.execute("UPDATE urls SET ready_at = ? WHERE host = ? AND hash = ?", (due_at, host, hash_))
                    self._db.execute("UPDATE seen SET due_at = ? WHERE seq = ?", (due_at, seq))
                    self._touched.add(host)
                    planned += 1
            last = (rows[-1][0], rows[-1][1])
        return planned

    def let_in(self, lessons: Iterable[Lesson]) -> int:
        """Makes URLs ready that these lessons have left out; returns how many. Reads all URLs of their hosts."""
        keys = {key for lesson in lessons for key in left_out_by(self._db, lesson)}
        for key in sorted(keys):
            self._make_ready(key, OUT_OF_SCOPE)
        self._recent.clear()
        return len(keys)

    def _reason_of_budget(self, pages: int) -> str | None:
        full = self._host_pages is not None and pages >= self._host_pages
        return budget_reason(self._host_pages or 0) if full else None

    def _make_ready(self, key: UrlKey, code: int) -> None:
        """Puts a URL that is neither ready nor leased back into the queue, as if never tried."""
        self._db.execute(
            "UPDATE urls SET state = 0, tries = 0, ready_at = NULL, refused = NULL WHERE host = ? AND hash = ?", key
        )
        self._counts[CODED[code]] -= 1
        self._counts["ready"] += 1
        self._touched.add(key[0])

    def indexed(self, url: Url) -> None:
        """Removes a URL from the index queue, whether it was to enter or to leave the index."""
        key = self._links.key_of(url)
        if key is not None:
            self._db.execute("DELETE FROM to_index WHERE host = ? AND hash = ?", key)
            self._db.execute(_STAYS, key)

    def passed_over(self, url: Url) -> None:
        """Removes a URL from the index queue that is not in the index. Its next visit requests the whole page, which
        may permit indexing again."""
        key = self._links.key_of(url)
        if key is not None:
            self._db.execute("DELETE FROM to_index WHERE host = ? AND hash = ?", key)
            self._db.execute(_INDEX_LACKS, key)

    def requeue(self, url: Url) -> None:
        """Removes a URL from the index queue and makes it ready, unless it is queued or out of scope. It no longer
        counts as a page, and its last visit is dropped, so that the whole page is requested."""
        key = self._links.key_of(url)
        if key is None:
            return
        self._db.execute("DELETE FROM to_index WHERE host = ? AND hash = ?", key)
        row = self._db.execute("SELECT state, seq FROM urls WHERE host = ? AND hash = ?", key).fetchone()
        if row is None:
            return
        state, seq = row
        seen = self._db.execute("DELETE FROM seen WHERE seq = ? RETURNING was", (seq,)).fetchone()
        self._db.execute("UPDATE leased SET was = NULL WHERE host = ? AND hash = ?", key)
        if state not in (READY, LATER, OUT_OF_SCOPE):
            self._make_ready(key, state)
            self._recent.clear()
        if CODED[state] == "visited" or (seen and seen[0] == VISITED_AGAIN):
            self._db.execute("UPDATE hosts SET pages = pages - 1 WHERE id = ?", key[:1])

    def lose_record(self, url: Url) -> None:
        """Removes the reference to a URL's lost record; a page becomes ready again."""
        key = self._links.key_of(url)
        row = key and self._db.execute(_WITH_SEEN, key).fetchone()
        if not row or not key:
            return
        state, seq, is_seen = row
        self._db.execute("UPDATE visits SET file = NULL, offset = NULL WHERE seq = ?", (seq,))
        if is_seen or CODED[state] == "visited":
            self.requeue(url)
