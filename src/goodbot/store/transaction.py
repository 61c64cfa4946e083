"""One transaction of the SQLite frontier: links become known, outcomes are written, leases begin and end."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from goodbot.exclusion import CLOCK_BACK_S
from goodbot.store.links import Key, Links
from goodbot.store.rank import depth_of
from goodbot.store.recent import Recent
from goodbot.store.schema import (
    CODED,
    CODES,
    CODES_AGAIN,
    LATER,
    OUT_OF_SCOPE,
    READY,
    VISITED_AGAIN,
    url_of,
)
from goodbot.store.seen_table import (
    DUE_MOST,
    copied,
    load_seen,
    save_copies,
    save_seen,
    text_of_indexed,
    until_of,
)
from goodbot.store.text import storable
from goodbot.url import Url
from goodbot.values import Discovery, Lease, LeasedUrl, Outcome, Release, Seen

# Without INDEXED BY, SQLite walks all URLs of the host.
_NOW_READY = """UPDATE urls INDEXED BY urls_later SET state = 0, ready_at = NULL
  WHERE host = ? AND state = 2 AND ready_at <= ?"""
_DUE_AGAIN = """SELECT hash, seq, state FROM urls INDEXED BY urls_again
  WHERE host = ? AND state >= 8 AND ready_at <= ? ORDER BY ready_at LIMIT ?"""
_AGAIN_READY = "UPDATE urls SET state = 0, tries = 0, ready_at = NULL WHERE host = ? AND hash = ?"
_NEXT = """SELECT hash, seq, (SELECT was FROM seen WHERE seen.seq = urls.seq), rank, path, tries, public_only, hops,
  interval_s FROM urls INDEXED BY urls_ready WHERE host = ? AND state = 0 ORDER BY rank, seq LIMIT ?"""
_CLOSE = (
    """UPDATE urls INDEXED BY urls_ready SET state = 5, refused = ? WHERE host = ? AND state = 0
  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
    """UPDATE urls INDEXED BY urls_later SET state = 5, refused = ?, ready_at = NULL WHERE host = ? AND state = 2
  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq AND was)""",
)
_SETTLED = "UPDATE urls SET state = ?, tries = ?, ready_at = ?, refused = NULL WHERE host = ? AND hash = ?"
_VISIT = "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TAKE_BACK = "DELETE FROM leased WHERE host = ? AND hash = ? RETURNING seq, was"
_STAYS = "DELETE FROM leaving WHERE host = ? AND hash = ?"
_format_events = json.JSONEncoder(separators=(",", ":")).encode

_BATCH: Final = 65536
"""Of a million seeds so many at a time are in memory."""

_ENTER = "UPDATE hosts SET in_scope = 1 WHERE id = ? AND NOT in_scope"
_DUE = """UPDATE hosts SET due = (SELECT due FROM due_hosts WHERE id = hosts.id)
  WHERE id = ? AND NOT leased AND id NOT IN (SELECT host FROM forgotten)"""


class Transaction:
    """The steps of one transaction; whoever makes it begins and commits. Lives no longer than that.

    `host_pages`: of one host so many URLs are visited at most, None for no bound. `revisit_until`: what is due again up
    to that time is asked again, None for nothing.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        recent: Recent,
        host_pages: int | None,
        revisit_until: float | None = None,
    ) -> None:
        self._db = connection
        self._recent = recent
        self._host_pages = host_pages
        self._until = until_of(revisit_until)
        self._counts: Counter[str] = Counter()
        self._touched: set[int] = set()
        self._links = Links(connection, recent, self._counts, self._touched)

    def finish(self) -> None:
        """Brings hosts and totals in line with what was done since the last time."""
        hosts = [(host,) for host in sorted(self._touched)]
        self._counts["hosts"] += max(self._db.executemany(_ENTER, hosts).rowcount, 0)
        if self._host_pages is not None:
            self._close_full(hosts, self._host_pages)
        self._db.executemany(_DUE, hosts)
        changes = [(change, name) for name, change in self._counts.items() if change]
        self._db.executemany("UPDATE totals SET value = value + ? WHERE name = ?", changes)
        self._touched.clear()
        self._counts.clear()

    def _close_full(self, hosts: Iterable[tuple[int]], most: int) -> None:
        """What is ready on a host that has had its pages is out of scope; none of it can be leased."""
        for host in hosts:
            (full,) = self._db.execute("SELECT pages >= ? FROM hosts WHERE id = ?", (most, *host)).fetchone()
            for statement in _CLOSE if full else ():
                closed = self._db.execute(statement, (budget_reason(most), *host)).rowcount
                self._counts["ready"] -= closed
                self._counts["out-of-scope"] += closed

    def close_full(self) -> None:
        """Closes the hosts that have had their pages: at the start, as the bound may be lower than it was."""
        if self._host_pages is not None:
            full = "SELECT id FROM hosts WHERE due IS NOT NULL AND pages >= ?"
            self._touched.update(host for (host,) in self._db.execute(full, (self._host_pages,)))

    def set_until(self) -> None:
        """At the start: what is due again counts up to another time than in the crawl before."""
        (before,) = self._db.execute("SELECT until FROM revisits").fetchone() or (None,)
        if before != self._until:
            self._db.execute("UPDATE revisits SET until = ?", (self._until,))
            again = "SELECT 1 FROM urls INDEXED BY urls_again WHERE host = hosts.id AND state >= 8"
            hosts = self._db.execute(f"SELECT id FROM hosts WHERE EXISTS ({again})")  # noqa: S608 - a text of ours
            self._touched.update(host for (host,) in hosts)

    def discover(self, found: Iterable[Discovery], at: float, waiting_since: float) -> int:
        """See `Frontier.add`; told at `at`, a new host has been waiting since `waiting_since`."""
        new, items = 0, iter(found)
        while batch := list(islice(items, _BATCH)):
            new += self._links.discover([(batch, at)], waiting_since)
            self.finish()
        return new

    # ---- leases -------------------------------------------------------------------------------------------

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """See `Frontier.lease`."""
        due = self._db.execute(
            "SELECT id, key, origin, backoff, cut_at, pages FROM hosts WHERE due <= ? ORDER BY due, id LIMIT ?",
            (now, hosts),
        ).fetchall()
        leases: list[Lease] = []
        out: list[tuple[int, int, int, int | None]] = []
        for host, key, origin, backoff, cut_at, pages in due:
            self._db.execute(_NOW_READY, (host, now))
            if self._until is not None:
                self._ask_again(host, min(now, self._until))
            rows = self._granted(self._db.execute(_NEXT, (host, urls_per_host)).fetchall(), pages)
            out += ((host, *row[:3]) for row in rows)
            leases.append(Lease(key, tuple(self._leased(host, origin, row) for row in rows), backoff, cut_at))
        self._db.executemany("INSERT INTO leased VALUES (?, ?, ?, ?)", out)
        self._db.executemany("UPDATE hosts SET leased = 1, due = NULL WHERE id = ?", [(row[0],) for row in due])
        self._counts["ready"] -= len(out)
        self._counts["leased"] += len(out)
        return leases

    def _ask_again(self, host: int, due: float) -> None:
        """What is due again up to that time is ready. The host keeps the pages it has been granted."""
        rows = self._db.execute(_DUE_AGAIN, (host, due, DUE_MOST)).fetchall()
        if not rows:
            return
        self._db.executemany(_AGAIN_READY, [(host, hash_) for hash_, _, _ in rows])
        was = self._db.executemany("UPDATE seen SET was = ? WHERE seq = ?", [(state, seq) for _, seq, state in rows])
        if was.rowcount != len(rows):
            raise sqlite3.DatabaseError("what was seen of a page is not there")
        self._counts.subtract(CODED[state] for _, _, state in rows)
        self._counts["ready"] += len(rows)

    def _granted(self, rows: list[tuple[Any, ...]], pages: int) -> list[tuple[Any, ...]]:
        """Revisits, and as many others as the host may still have."""
        if self._host_pages is None:
            return rows
        left = iter(range(self._host_pages - pages))
        return [row for row in rows if row[2] or next(left, None) is not None]

    def _leased(self, host: int, origin: str, row: tuple[Any, ...]) -> LeasedUrl:
        hash_, seq, was, rank, path, tries, public_only, hops, interval_s = row
        depth, public_only = depth_of(rank), bool(public_only)
        leased = LeasedUrl(url_of(origin, path), depth, tries, public_only, hops, interval_s=interval_s)
        return leased if was is None else self._with_seen(leased, (host, hash_), load_seen(self._db, seq))

    def _with_seen(self, leased: LeasedUrl, key: Key, seen: Seen) -> LeasedUrl:
        """A copy of a page that says something else now is to be compared anew: all of it is asked for."""
        copy = None if seen.indexed else copied(self._db, key)
        if copy is None:
            return leased._replace(seen=seen)
        same_as, said = copy
        if self._text_of(same_as) == said:
            return leased._replace(seen=seen, same_as=same_as)
        return leased._replace(seen=replace(seen, etag=None, modified=None))

    def _text_of(self, url: Url) -> str | None:
        key = self._links.key_of(url)
        return None if key is None else text_of_indexed(self._db, key)

    def release(self, release: Release) -> None:
        """Ends a lease. Raises ValueError if the host is not leased."""
        row = self._db.execute(
            "UPDATE hosts SET leased = 0, cut_at = ?, ready_at = ?, backoff = ?"
            " WHERE key = ? AND leased = 1 RETURNING id",
            (release.cut_at, release.ready_at, release.backoff_s, release.host),
        ).fetchall()
        if not row:
            raise ValueError(f"a release of a host that is not leased: {release.host}")
        self._give_back(self._db.execute("DELETE FROM leased WHERE host = ?", row[0]).rowcount)
        self._touched.add(row[0][0])

    def return_leases(self, now: float) -> None:
        """Ends all leases a process that is no more has left; it may have asked their hosts until `now`."""
        cut = "UPDATE hosts SET leased = 0, cut_at = ? WHERE leased = 1 RETURNING id"
        self._touched.update(host for (host,) in self._db.execute(cut, (now,)).fetchall())
        self._give_back(self._db.execute("DELETE FROM leased").rowcount)
        self._follow_clock(now)

    def _follow_clock(self, now: float) -> None:
        """Where the clock was set back since the last run, waits are brought back as far, as near as is known: by the
        time from now to the last link that was found."""
        last = self._db.execute("SELECT at FROM found ORDER BY seq DESC LIMIT 1").fetchone()
        ahead_s = last[0] - now if last else 0.0
        if ahead_s <= CLOCK_BACK_S:
            return
        self._db.execute("UPDATE hosts SET ready_at = ready_at - ? WHERE ready_at > ?", (ahead_s, now))
        self._db.execute("UPDATE urls SET ready_at = ready_at - ? WHERE ready_at IS NOT NULL", (ahead_s,))
        seen = "UPDATE seen SET at = at - ?1, due_at = due_at - ?1, changed_at = changed_at - ?1"
        self._db.execute(seen, (ahead_s,))
        self._touched.update(host for (host,) in self._db.execute("SELECT id FROM hosts WHERE in_scope"))

    def _give_back(self, urls: int) -> None:
        self._counts["leased"] -= urls
        self._counts["ready"] += urls

    # ---- outcomes -----------------------------------------------------------------------------------------

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        """Writes outcomes, then their links. Raises ValueError for a URL that is not leased."""
        placed = [(outcome, *self._take_back(outcome)) for outcome in outcomes]
        settled = [(outcome, seq, was) for outcome, _, seq, was in placed]
        self._db.executemany(_SETTLED, [_settled(outcome, key) for outcome, key, *_ in placed])
        self._db.executemany(_VISIT, [_visit(seq, outcome) for outcome, seq, _ in settled])
        save_seen(self._db, settled)
        keyed = [(outcome, key) for outcome, key, *_ in placed]
        save_copies(self._db, keyed, self._text_of)
        self._write_to_index(keyed)
        self._count_pages(placed)
        self._links.discover(((outcome.links, outcome.at) for outcome in outcomes), None)

    def _take_back(self, outcome: Outcome) -> tuple[Key, int, int | None]:
        """The key and the number of a leased URL, which is leased no more, and `was` of its row in `seen`."""
        key = self._links.key_of(outcome.url)
        row = key and self._db.execute(_TAKE_BACK, key).fetchone()
        if not row or not key or outcome.state == "leased":
            raise ValueError(f"an outcome ({outcome.state}) for a URL that is not leased: {outcome.url}")
        self._counts["leased"] -= 1
        self._counts[outcome.state] += 1
        self._counts["bytes"] += outcome.size_bytes
        self._touched.add(key[0])
        return key, *row

    def _count_pages(self, placed: Iterable[tuple[Outcome, Key, int, int | None]]) -> None:
        """A page that was asked again has been counted before, until it is settled."""
        pages: Counter[int] = Counter()
        for outcome, (host, _), _, was in placed:
            if outcome.state != "ready":
                pages[host] += (outcome.state == "visited") - (was == VISITED_AGAIN)
        changes = [(number, host) for host, number in pages.items() if number]
        self._db.executemany("UPDATE hosts SET pages = pages + ? WHERE id = ?", changes)

    def _write_to_index(self, placed: Sequence[tuple[Outcome, Key]]) -> None:
        """A page to index is pending, one no longer to index is not, one to take out is leaving; a retry, or a page
        found unchanged, changes nothing."""
        pending = [(*key, *_reference(outcome)) for outcome, key in placed if outcome.to_index]
        over = [key for outcome, key in placed if not outcome.to_index and _is_over(outcome)]
        leaving = [key for outcome, key in placed if outcome.from_index and not outcome.to_index]
        self._db.executemany("INSERT OR REPLACE INTO to_index VALUES (?, ?, ?, ?)", pending)
        self._db.executemany("DELETE FROM to_index WHERE host = ? AND hash = ?", over)
        self._db.executemany(_STAYS, [row[:2] for row in pending])
        self._db.executemany("INSERT OR IGNORE INTO leaving VALUES (?, ?)", leaving)

    # ---- second thoughts ----------------------------------------------------------------------------------

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`: walks all URLs in key order, a few thousand at a time."""
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

    def _reason_of_budget(self, pages: int) -> str | None:
        full = self._host_pages is not None and pages >= self._host_pages
        return budget_reason(self._host_pages or 0) if full else None

    def _make_ready(self, key: Key, code: int) -> None:
        """Puts a URL that is neither ready nor leased back into the queue, as if never tried."""
        self._db.execute(
            "UPDATE urls SET state = 0, tries = 0, ready_at = NULL, refused = NULL WHERE host = ? AND hash = ?", key
        )
        self._counts[CODED[code]] -= 1
        self._counts["ready"] += 1
        self._touched.add(key[0])

    def indexed(self, url: Url) -> None:
        """Takes a URL off the index queue, whichever way it was to go."""
        key = self._links.key_of(url)
        if key is not None:
            self._db.execute("DELETE FROM to_index WHERE host = ? AND hash = ?", key)
            self._db.execute(_STAYS, key)

    def requeue(self, url: Url) -> None:
        """Takes a URL off the index queue; it is ready, unless queued or out of scope, and no page any more. What was
        seen of it is dropped, so that the whole page is asked for."""
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


def budget_reason(most: int) -> str:
    """Why what is ready on a host that has had its pages is left out."""
    return f"its host has had {most} pages (--host-pages {most})"


def _settled(outcome: Outcome, key: Key) -> tuple[object, ...]:
    if outcome.state == "ready":
        return (LATER, outcome.tries, outcome.ready_at, *key)
    if outcome.seen is not None and outcome.state in CODES_AGAIN:
        return (CODES_AGAIN[outcome.state], outcome.tries, outcome.seen.due_at, *key)
    return (CODES[outcome.state], outcome.tries, None, *key)


def _is_over(outcome: Outcome) -> bool:
    """Whether a page that waits to be indexed does so no longer."""
    return outcome.from_index or not (outcome.unchanged or outcome.state == "ready")


def _reference(outcome: Outcome) -> tuple[str | None, int | None]:
    return (None, None) if outcome.record is None else (outcome.record.file, outcome.record.offset)


def _visit(seq: int, outcome: Outcome) -> tuple[Any, ...]:
    events = [[item.at, item.step, item.decision, item.reason, item.line] for item in outcome.events]
    return (
        seq,
        outcome.at,
        outcome.status,
        outcome.digest,
        outcome.title and storable(outcome.title),
        storable(outcome.why),
        *_reference(outcome),
        _format_events(events),
    )
