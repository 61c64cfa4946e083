"""Forgets hosts: bars them at once, so that no link brings them back, then removes them from the tables."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from goodbot.partitions import partition_of
from goodbot.store.merge.coding import CODED, LEASED
from goodbot.store.reports.rows import url_of
from goodbot.store.sqlite.lesson_table import forget_lessons
from goodbot.url import Url, authority_of, host_of, parse_url

NO_SOURCE: Final = "a page that is forgotten"
"""Replaces the URL of a forgotten page that led to others."""

_FIND: Final = "SELECT id FROM hosts WHERE key = ?"
_KNOWN_OTHERWISE: Final = "SELECT 1 FROM courtesies WHERE host = ?"
_BAR: Final = "INSERT OR IGNORE INTO forgotten VALUES (?, ?)"
_VISITED: Final = """SELECT hash, origin, path, visits.seq FROM urls LEFT JOIN visits ON visits.seq = urls.seq
  JOIN hosts ON hosts.id = urls.host WHERE urls.host = ? AND hash > ? ORDER BY hash LIMIT ?"""
_BEFORE_ALL: Final = float("-inf")
_LOOKED_AT_ONCE: Final = 1000
"""URLs read at a time, because a host may have millions."""
_ELSEWHERE: Final = """SELECT origin, path FROM copies CROSS JOIN urls USING (host, hash)
  JOIN hosts ON hosts.id = urls.host WHERE instr(same_as, ?) AND host_key(same_as) = ? AND hosts.key != ?"""
_REMOVALS: Final = (
    "DELETE FROM visits WHERE seq IN (SELECT seq FROM urls WHERE host = ?)",
    "DELETE FROM seen WHERE seq IN (SELECT seq FROM urls WHERE host = ?)",
    "DELETE FROM copies WHERE host = ?",
    "DELETE FROM to_index WHERE host = ?",
    "DELETE FROM leaving WHERE host = ?",
    "DELETE FROM leased WHERE host = ?",
    "DELETE FROM urls WHERE host = ?",
)


def bar(connection: sqlite3.Connection, host: str, at: float) -> bool:
    """Bars a host: none of its URLs is leased or found from now on. Returns False if the host is unknown, so that there
    is nothing to remove."""
    row = connection.execute(_FIND, (host,)).fetchone()
    is_known = row is not None or connection.execute(_KNOWN_OTHERWISE, (host,)).fetchone() is not None
    if row is None:
        values = (host, f"http://{authority_of(host)}", partition_of(host))
        made = "INSERT INTO hosts (key, origin, partition, ready_at) VALUES (?, ?, ?, 0) RETURNING id"
        row = connection.execute(made, values).fetchone()
    connection.execute(_BAR, (row[0], at))
    connection.execute("UPDATE hosts SET due = NULL WHERE id = ?", row)
    return is_known


def unbar(connection: sqlite3.Connection, host: str) -> bool:
    """Lets the host be found again; False if it was not forgotten."""
    bars = "DELETE FROM forgotten WHERE host IN (SELECT id FROM hosts WHERE key = ?)"
    return connection.execute(bars, (host,)).rowcount > 0


def unfinished(connection: sqlite3.Connection) -> list[str]:
    """Returns the hosts that are barred, but not removed yet."""
    query = """SELECT key FROM forgotten JOIN hosts ON hosts.id = forgotten.host
      WHERE EXISTS (SELECT 1 FROM urls WHERE host = forgotten.host) ORDER BY key"""
    return [key for (key,) in connection.execute(query)]


def visited(connection: sqlite3.Connection, host: str) -> Iterator[list[Url]]:
    """Yields the URLs of the host that were requested, whatever the outcome, in parts (some may be empty). Each part is
    one short query, so that the file may be written in between."""
    row = connection.execute(_FIND, (host,)).fetchone()
    if row is None:
        return
    after = _BEFORE_ALL
    while part := connection.execute(_VISITED, (*row, after, _LOOKED_AT_ONCE)).fetchall():
        yield [url_of(origin, path) for _, origin, path, seq in part if seq is not None]
        after = part[-1][0]


def copies_elsewhere(connection: sqlite3.Connection, host: str) -> list[Url]:
    """Returns pages of other hosts that were left out as copies of pages of this one; they are originals now."""
    connection.create_function("host_key", 1, _host_key, deterministic=True)
    rows = connection.execute(_ELSEWHERE, (host_of(host), host, host)).fetchall()
    return [url_of(origin, path) for origin, path in rows]


def remove(connection: sqlite3.Connection, host: str) -> int:
    """Removes everything about a barred host from the tables, except its courtesy record; returns how many URLs."""
    row = connection.execute(_FIND, (host,)).fetchone()
    if row is None:
        return 0
    query = """SELECT iif(leased.seq IS NULL, state, ?), count(*) FROM urls LEFT JOIN leased USING (host, hash)
      WHERE urls.host = ? GROUP BY 1"""
    counts = connection.execute(query, (LEASED, *row)).fetchall()
    changes = [(count, CODED[code]) for code, count in counts]
    changes += connection.execute("SELECT in_scope, 'hosts' FROM hosts WHERE id = ?", row).fetchall()
    connection.executemany("UPDATE totals SET value = value - ? WHERE name = ?", changes)
    for statement in _REMOVALS:
        connection.execute(statement, row)
    connection.execute("UPDATE hosts SET in_scope = 0, pages = 0, backoff = 0, due = NULL WHERE id = ?", row)
    _forget_names(connection, host)
    return sum(count for _, count in counts)


def _forget_names(connection: sqlite3.Connection, host: str) -> None:
    """Removes its origins and lessons, and its URLs as sources of pages on other hosts, or as their originals.

    `instr` comes first, because it costs less.
    """
    connection.create_function("host_key", 1, _host_key, deterministic=True)
    bare = host_of(host)
    for table in ("robots", "robots_versions"):
        of_host = "instr(origin, ?) AND host_key(origin || '/') = ?"
        connection.execute(f"DELETE FROM {table} WHERE {of_host}", (bare, host))  # noqa: S608 - two names of ours
    sources = "UPDATE found SET source = ? WHERE instr(source, ?) AND host_key(source) = ?"
    connection.execute(sources, (NO_SOURCE, bare, host))
    connection.execute("DELETE FROM copies WHERE instr(same_as, ?) AND host_key(same_as) = ?", (bare, host))
    forget_lessons(connection, host, bare)


def _host_key(text: str) -> str | None:
    url = parse_url(text)
    return None if url is None else url.host_key
