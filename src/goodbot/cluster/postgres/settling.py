"""Writes outcomes in PostgreSQL, in a fixed number of statements for any number of them."""

from collections.abc import Iterable, Sequence
from typing import Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.hosts import HostStep
from goodbot.cluster.postgres.links import FoundUrl, HostPlaces, LinkStep
from goodbot.cluster.postgres.rows import columns_of, write_rows
from goodbot.cluster.postgres.seen import save_copies, save_seen, writers_of
from goodbot.store.merge.coding import CODED, UrlKey
from goodbot.store.merge.outcome_rows import queue_place_of, settled_row, visit_row
from goodbot.store.merge.outcome_rules import as_pending, is_list_read, is_unindexed, pages_added, queue_change
from goodbot.values import Outcome

_TAKE_BACK: Final = """WITH over AS (
    SELECT leased.ctid, position FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[])
      AS settled (position, host, hash, token) JOIN leased USING (host, hash, token)
    ORDER BY host, hash FOR UPDATE OF leased)
  DELETE FROM leased USING over WHERE leased.ctid = over.ctid RETURNING position, seq, was, expects_list"""
_SETTLED: Final = """UPDATE urls SET state = new.state, tries = new.tries, ready_at = new.ready_at, refused = NULL
  FROM unnest(%s::smallint[], %s::smallint[], %s::float8[], %s::bigint[], %s::bigint[])
    AS new (state, tries, ready_at, host, hash)
  WHERE urls.host = new.host AND urls.hash = new.hash"""
_VISITS: Final = """INSERT INTO visits (seq, at, status, digest, title, why, file, "offset", events)
  SELECT * FROM unnest(%s::bigint[], %s::float8[], %s::integer[], %s::text[], %s::text[], %s::text[], %s::text[],
    %s::bigint[], %s::text[])
  ON CONFLICT (seq) DO UPDATE SET at = excluded.at, status = excluded.status, digest = excluded.digest,
    title = excluded.title, why = excluded.why, file = excluded.file, "offset" = excluded."offset",
    events = excluded.events"""
_PENDING: Final = """INSERT INTO to_index (host, hash, writer, file, "offset")
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bigint[])
  ON CONFLICT (host, hash) DO UPDATE
  SET writer = excluded.writer, file = excluded.file, "offset" = excluded."offset" """
_DONE: Final = """DELETE FROM to_index USING unnest(%s::bigint[], %s::bigint[]) AS over (host, hash)
  WHERE to_index.host = over.host AND to_index.hash = over.hash"""
_STAYS: Final = """DELETE FROM leaving
  USING unnest(%s::bigint[], %s::bigint[], %s::text[]) AS stays (host, hash, writer)
  WHERE leaving.host = stays.host AND leaving.hash = stays.hash AND leaving.writer = stays.writer"""
_LEAVING: Final = """INSERT INTO leaving SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[])
  ON CONFLICT DO NOTHING"""
_HAS_INDEX: Final = "SELECT EXISTS (SELECT FROM search_index WHERE writer = %s)"

Placed = tuple[Outcome, UrlKey, int, int | None, bool]
"""An outcome, the key and number of its URL, `was` of its row in `seen`, and whether a list was expected there."""


class SettleStep:
    """The part of a transaction that writes outcomes. `writer` identifies the folder with archive and index."""

    def __init__(
        self, connection: PostgresConnection, places: HostPlaces, links: LinkStep, hosts: HostStep, writer: str
    ) -> None:
        self._db = connection
        self._places = places
        self._links = links
        self._hosts = hosts
        self._writer = writer

    def settle(self, outcomes: Sequence[Outcome], found: Iterable[FoundUrl]) -> list[int]:
        """Ends the leases of the outcomes, adds the links that the caller has collected from them, then writes the
        outcomes. Returns the positions of those that were rejected, in order."""
        outcomes = self._with_skipped_pending(outcomes)
        placed = self._end_leases(outcomes)
        by_position = sorted(placed)
        items = [placed[position] for position in by_position]
        self._links.add(found, [key for _, key, *_ in items])
        write_rows(self._db, _SETTLED, [settled_row(outcome, key) for outcome, key, *_ in items])
        write_rows(self._db, _VISITS, [visit_row(seq, outcome) for outcome, _, seq, *_ in items])
        writers = writers_of(self._db, [seq for _, _, seq, was, _ in items if was is not None])
        save_seen(self._db, [(outcome, seq, was) for outcome, _, seq, was, _ in items], self._writer, writers)
        save_copies(self._db, self._places, [(outcome, key) for outcome, key, *_ in items])
        self._write_to_index(items, writers)
        self._count(items)
        return [position for position in range(len(outcomes)) if position not in placed]

    def _with_skipped_pending(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Queues pages for the index if this crawl has one, but the run does not write it (`--no-index`)."""
        if not any(map(is_unindexed, outcomes)):
            return outcomes
        (has_index,) = self._db.execute(_HAS_INDEX, (self._writer,)).fetchone() or (False,)
        return [as_pending(item) if is_unindexed(item) else item for item in outcomes] if has_index else outcomes

    def _end_leases(self, outcomes: Sequence[Outcome]) -> dict[int, Placed]:
        """Ends the leases of URLs; returns those that were leased under these tokens, by position."""
        keys = self._places.keys_of([outcome.url for outcome in outcomes])
        first = {key: position for position, key in reversed(list(enumerate(keys))) if key is not None}
        rows = [(position, *key, outcomes[position].token) for key, position in first.items()]
        if not rows:
            return {}
        placed: dict[int, Placed] = {}
        for position, seq, was, expects_list in self._db.execute(_TAKE_BACK, columns_of(rows)):
            key = keys[position]
            if key is not None:
                placed[position] = outcomes[position], key, seq, was, bool(expects_list)
        return placed

    def _write_to_index(self, items: Sequence[Placed], writers: dict[int, str]) -> None:
        pending, over, leaving = [], [], []
        for outcome, key, seq, *_ in items:
            change = queue_change(outcome)
            before = writers.get(seq)
            if change == "pending":
                pending.append((*key, self._writer, *queue_place_of(outcome)))
                if before not in (None, self._writer):  # the other index keeps the page until it is in `leaving`
                    leaving.append((*key, before))
            elif change in ("leaving", "done"):
                over.append(key)
            if change == "leaving":
                leaving.append((*key, before or self._writer))
        write_rows(self._db, _PENDING, pending)
        write_rows(self._db, _DONE, over)
        write_rows(self._db, _STAYS, [row[:3] for row in pending])
        write_rows(self._db, _LEAVING, leaving)

    def _count(self, items: Iterable[Placed]) -> None:
        hosts = self._hosts
        for outcome, (host, _), _, was, expects_list in items:
            hosts.counts["leased"] -= 1
            hosts.counts[outcome.state] += 1
            hosts.counts["fetched"] += outcome.state == "visited"
            hosts.counts["bytes"] += outcome.size_bytes
            hosts.touched.add(host)
            before = None if was is None else CODED[was]
            if added := pages_added(outcome, before):
                hosts.add_pages(host, added)
            if is_list_read(outcome, expects_list=expects_list, was=before):
                hosts.add_list(host)
