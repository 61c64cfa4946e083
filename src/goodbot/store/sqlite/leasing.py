"""Starts leases in the SQLite frontier: chooses hosts that are due and their URLs, and loads their last visits."""

import sqlite3
from collections import Counter
from typing import Any, Final

from goodbot.store.merge.coding import CODED, READY, UrlKey
from goodbot.store.merge.limits import LISTS_S, MAX_DUE, lease_limit, within
from goodbot.store.merge.outcome_rules import seen_by_next_visit
from goodbot.store.merge.rank import LISTS, depth_of
from goodbot.store.reports.rows import url_of
from goodbot.store.sqlite.link_writer import LinkWriter
from goodbot.store.sqlite.list_turns import ListTurns
from goodbot.store.sqlite.seen_table import copied, load_seen, text_of_indexed
from goodbot.url import Url
from goodbot.values import LastVisit, Lease, LeasedUrl

# Without INDEXED BY, SQLite reads all URLs of the host.
_NOW_READY: Final = """UPDATE urls INDEXED BY urls_later SET state = 0, ready_at = NULL
  WHERE host = ? AND state = 2 AND ready_at <= ?"""
_DUE_AGAIN: Final = """SELECT hash, seq, state FROM urls INDEXED BY urls_again
  WHERE host = ? AND state >= 8 AND ready_at <= ? ORDER BY ready_at LIMIT ?"""
_CLAIMED: Final = """SELECT urls.seq, state, rank, path, tries, public_only, hops, urls.interval_s, urls.lists, origin,
  token, was FROM urls JOIN hosts ON hosts.id = urls.host LEFT JOIN seen ON seen.seq = urls.seq
  WHERE urls.host = ? AND hash = ? AND urls.host NOT IN (SELECT host FROM forgotten)"""
_AGAIN_READY: Final = "UPDATE urls SET state = 0, tries = 0, ready_at = NULL WHERE host = ? AND hash = ?"


class Leasing:
    """The part of a transaction that starts leases. It counts states in `counts`. `host_pages`: the page limit of a
    host (None: no limit); `until`: URLs that are due again by then are revisited (None: no revisits)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        counts: Counter[str],
        links: LinkWriter,
        turns: ListTurns,
        host_pages: int | None,
        until: float | None,
    ) -> None:
        self._db = connection
        self._counts = counts
        self._links = links
        self._turns = turns
        self._host_pages = host_pages
        self._until = until

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool) -> list[Lease]:
        """See `Frontier.lease`."""
        due = self._db.execute(
            "SELECT id, key, origin, backoff, cut_at, pages, turn, lists, lists_from, next_urls, token, partition"
            " FROM hosts WHERE due <= ? ORDER BY due, id LIMIT ?",
            (now, hosts),
        ).fetchall()
        leases: list[Lease] = []
        out: list[tuple[int, int, int, int | None, bool]] = []
        for host, key, origin, backoff, cut_at, pages, turn, lists, lists_from, next_urls, *last in due:
            self._db.execute(_NOW_READY, (host, now))
            if self._until is not None:
                self._make_due_ready(host, min(now, self._until))
            lists_before = lists if lists_from > now - LISTS_S else 0
            most = lease_limit(urls_per_host, next_urls, sized=sized)
            rows = self._granted(self._turns.next_of(host, most, turn, lists_before, now), pages)
            out += ((host, *row[:3], row[3] >= LISTS) for row in rows)
            urls = tuple(self._leased(host, origin, row) for row in rows)
            leases.append(Lease(key, urls, backoff, cut_at, len(urls) >= most, *last))
        self._db.executemany("INSERT INTO leased VALUES (?, ?, ?, ?, ?)", out)
        self._db.executemany(
            "UPDATE hosts SET leased = 1, due = NULL, turn = NOT turn WHERE id = ?", [(row[0],) for row in due]
        )
        self._counts["ready"] -= len(out)
        self._counts["leased"] += len(out)
        return leases

    def claim(self, url: Url) -> tuple[LeasedUrl, int] | None:
        """Leases one known URL, whatever its state, without its host; returns it with the token of the host. None: its
        host is forgotten, or another URL has its key."""
        key = self._links.key_of(url)
        row = key and self._db.execute(_CLAIMED, key).fetchone()
        if not row or not key:
            return None
        seq, state, rank, path, tries, public_only, hops, interval_s, lists, origin, token, was = row
        if url_of(origin, path) != url:
            return None
        was = self._freed(key, seq, state, was)
        self._db.execute("INSERT INTO leased VALUES (?, ?, ?, ?, ?)", (*key, seq, was, rank >= LISTS))
        self._counts["ready"] -= 1
        self._counts["leased"] += 1
        return self._leased(
            key[0], origin, (key[1], seq, was, rank, path, tries, public_only, hops, interval_s, lists)
        ), token

    def _freed(self, key: UrlKey, seq: int, state: int, was: int | None) -> int | None:
        """Makes a URL ready that is to be claimed; returns `was` of its row in `seen`."""
        if state != READY:
            self._db.execute(_AGAIN_READY, key)
            self._counts[CODED[state]] -= 1
            self._counts["ready"] += 1
        if was is not None and state != READY:
            self._db.execute("UPDATE seen SET was = ? WHERE seq = ?", (state, seq))
            return state
        if was is None and CODED[state] == "visited":
            self._db.execute("UPDATE hosts SET pages = pages - 1 WHERE id = ?", key[:1])
        return was

    def _make_due_ready(self, host: int, due: float) -> None:
        """Makes URLs ready that are due again by that time. They still count as pages of the host."""
        rows = self._db.execute(_DUE_AGAIN, (host, due, MAX_DUE)).fetchall()
        if not rows:
            return
        self._db.executemany(_AGAIN_READY, [(host, hash_) for hash_, _, _ in rows])
        was = self._db.executemany("UPDATE seen SET was = ? WHERE seq = ?", [(state, seq) for _, seq, state in rows])
        if was.rowcount != len(rows):
            raise sqlite3.DatabaseError("the last visit of a page is missing")
        self._counts.subtract(CODED[state] for _, _, state in rows)
        self._counts["ready"] += len(rows)

    def _granted(self, rows: list[tuple[Any, ...]], pages: int) -> list[tuple[Any, ...]]:
        """Returns revisits, and as many other URLs as the page limit of the host still permits."""
        if self._host_pages is None:
            return rows
        return within(rows, self._host_pages - pages)

    def _leased(self, host: int, origin: str, row: tuple[Any, ...]) -> LeasedUrl:
        hash_, seq, was, rank, path, tries, public_only, hops, interval_s, lists = row
        depth, public_only = depth_of(rank), bool(public_only)
        leased = LeasedUrl(
            *(url_of(origin, path), depth, tries, public_only, hops),
            interval_s=interval_s,
            lists=lists,
            expects_list=rank >= LISTS,
        )
        return leased if was is None else self._with_seen(leased, (host, hash_), load_seen(self._db, seq))

    def _with_seen(self, leased: LeasedUrl, key: UrlKey, seen: LastVisit) -> LeasedUrl:
        copy_of, text_then = (None if seen.indexed else copied(self._db, key)) or (None, None)
        text_now = self.text_of(copy_of) if copy_of is not None else None
        seen, same_as = seen_by_next_visit(seen, copy_of, text_then, text_now)
        return leased._replace(seen=seen, same_as=same_as)

    def text_of(self, url: Url) -> str | None:
        """See `text_of_indexed`; None for a URL whose host is unknown."""
        key = self._links.key_of(url)
        return None if key is None else text_of_indexed(self._db, key)
