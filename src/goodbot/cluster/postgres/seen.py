"""Reads and writes what is known of visited pages: the last visit of each, and of which page it is a copy."""

from collections.abc import Iterable, Sequence
from typing import Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.links import HostPlaces
from goodbot.cluster.postgres.rows import columns_of, write_rows
from goodbot.store.merge.coding import UrlKey
from goodbot.store.merge.outcome_rows import seen_of, seen_row
from goodbot.store.merge.outcome_rules import decides_copy
from goodbot.url import Url
from goodbot.values import LastVisit, Outcome

SEEN_COLUMNS: Final = (
    'seen.at, due_at, seen.interval_s, changed_at, etag, modified, seen.digest, seen.file, seen."offset", seen.title,'
    " gone, available_until, indexed, text, rendered, wishes, whole_at"
)
"""The columns that `seen_of` reads."""

_LOAD: Final = f"SELECT seq, {SEEN_COLUMNS} FROM seen WHERE seq = ANY(%s::bigint[])"
_WRITERS: Final = "SELECT seq, writer FROM seen WHERE seq = ANY(%s::bigint[]) AND writer IS NOT NULL"
_NAMES: Final = [
    "was",
    "at",
    "due_at",
    "interval_s",
    "changed_at",
    "etag",
    "modified",
    "digest",
    "file",
    "offset",
    "title",
    "gone",
    "available_until",
    "indexed",
    "text",
    "rendered",
    "wishes",
    "whole_at",
    "writer",
]
_QUOTED: Final = [f'"{name}"' for name in _NAMES]
_SAVE: Final = f"""INSERT INTO seen (seq, {", ".join(_QUOTED)})
  SELECT * FROM unnest(%s::bigint[], %s::smallint[], %s::float8[], %s::float8[], %s::float8[], %s::float8[], %s::text[],
    %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::integer[], %s::float8[], %s::smallint[],
    %s::text[], %s::smallint[], %s::text[], %s::float8[], %s::text[])
  ON CONFLICT (seq) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _QUOTED)}"""
_DROP: Final = "DELETE FROM seen WHERE seq = ANY(%s::bigint[])"
_NO_COPIES: Final = """DELETE FROM copies USING unnest(%s::bigint[], %s::bigint[]) AS over (host, hash)
  WHERE copies.host = over.host AND copies.hash = over.hash"""
_SAVE_COPIES: Final = """INSERT INTO copies SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[])
  ON CONFLICT (host, hash) DO UPDATE SET same_as = excluded.same_as, said = excluded.said"""
_TEXTS: Final = """SELECT urls.host, urls.hash, text FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (host, hash)
  JOIN urls USING (host, hash) JOIN seen ON seen.seq = urls.seq WHERE indexed = 1"""


def load_seen(connection: PostgresConnection, numbers: Sequence[int]) -> dict[int, LastVisit]:
    """Returns the last visits of URLs by their numbers."""
    if not numbers:
        return {}
    return {row[0]: seen_of(row[1:]) for row in connection.execute(_LOAD, (list(numbers),))}


def writers_of(connection: PostgresConnection, numbers: Sequence[int]) -> dict[int, str]:
    """Returns the writers whose indexes have these URLs, by the numbers of the URLs."""
    return dict(connection.execute(_WRITERS, (list(numbers),)).fetchall()) if numbers else {}


def save_seen(
    connection: PostgresConnection,
    settled: Iterable[tuple[Outcome, int, int | None]],
    writer: str,
    writers: dict[int, str],
) -> None:
    """Saves the visits of outcomes, given with the numbers of their URLs and `was` (None: no row). A retry keeps the
    row; any other outcome replaces it, or deletes it if it leaves nothing for a next visit. `writer` has the index that
    pages enter, `writers` those that they were in before."""
    rows, over = [], []
    for outcome, seq, was in settled:
        if outcome.state == "ready":
            continue
        if outcome.seen is not None:
            indexed_by = writer if outcome.to_index else writers.get(seq, writer)
            rows.append((seq, 0, *seen_row(outcome.seen), indexed_by if outcome.seen.indexed else None))
        elif was is not None:
            over.append(seq)
    write_rows(connection, _SAVE, rows)
    if over:
        connection.execute(_DROP, (over,))


def save_copies(connection: PostgresConnection, places: HostPlaces, settled: Iterable[tuple[Outcome, UrlKey]]) -> None:
    """Saves which pages are copies of which. A retry changes nothing, nor does an unchanged page without a new
    original."""
    final = [(outcome, key) for outcome, key in settled if decides_copy(outcome)]
    write_rows(connection, _NO_COPIES, [key for outcome, key in final if outcome.same_as is None])
    texts = texts_of(connection, places, [item.same_as for item, _ in final if item.same_as is not None and item.alike])
    copies = [
        (*key, outcome.same_as.text, texts.get(outcome.same_as) if outcome.alike else None)
        for outcome, key in final
        if outcome.same_as is not None
    ]
    write_rows(connection, _SAVE_COPIES, copies)


def texts_of(connection: PostgresConnection, places: HostPlaces, urls: Iterable[Url]) -> dict[Url, str | None]:
    """Returns the digests of the texts of those pages that are in an index."""
    wanted = list(dict.fromkeys(urls))
    keys = {key: url for url, key in zip(wanted, places.keys_of(wanted), strict=True) if key is not None}
    if not keys:
        return {}
    rows = connection.execute(_TEXTS, columns_of(list(keys)))
    return {keys[host, hash_]: text for host, hash_, text in rows}
