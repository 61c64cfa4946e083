"""Forgets hosts: bars them at once, so that no link brings them back, then removes them from the tables."""

from collections.abc import Iterator
from typing import Final

from goodbot.cluster.postgres.connection import PostgresConnection
from goodbot.cluster.postgres.hosts import HostStep
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.partitions import partition_of
from goodbot.store.merge.coding import CODED
from goodbot.url import Url, authority_of, host_of, parse_url

NO_SOURCE: Final = "a page that is forgotten"
"""Replaces the URL of a forgotten page that led to others."""
_LOOKED_AT_ONCE: Final = 1000
"""URLs read at a time, because a host may have millions."""
_BEFORE_ALL: Final = -(1 << 63)

_FIND: Final = "SELECT id FROM hosts WHERE key = %s"
_KNOWN_OTHERWISE: Final = "SELECT 1 FROM courtesies WHERE host = %s"
_ADD: Final = """INSERT INTO hosts (id, key, origin, partition, ready_at)
  VALUES (nextval('host_numbers'), %s, %s, %s, 0) ON CONFLICT (key) DO NOTHING"""
_BAR: Final = "INSERT INTO forgotten VALUES (%s, %s) ON CONFLICT DO NOTHING"
_UNBAR: Final = "DELETE FROM forgotten WHERE host IN (SELECT id FROM hosts WHERE key = %s)"
_TO_REMOVE: Final = """INSERT INTO removals
  SELECT %s, writer FROM (SELECT DISTINCT writer FROM machines WHERE crawls = 1) AS writers
  ON CONFLICT DO NOTHING"""
_UNFINISHED: Final = "SELECT key FROM removals JOIN hosts ON hosts.id = removals.host WHERE writer = %s ORDER BY key"
_REMOVED: Final = "DELETE FROM removals WHERE host = (SELECT id FROM hosts WHERE key = %s) AND writer = %s"
_HAVE_IT: Final = """SELECT writer,
    (SELECT name FROM machines WHERE machines.writer = removals.writer ORDER BY id DESC LIMIT 1)
  FROM removals WHERE host = (SELECT id FROM hosts WHERE key = %s) AND writer <> %s ORDER BY writer"""
MACHINES_NAMED: Final = 5
"""How many machines a message names."""
_SINCE: Final = """SELECT key, at FROM forgotten JOIN hosts ON hosts.id = forgotten.host WHERE at > %s ORDER BY at"""
_VISITED: Final = """SELECT hash, origin, path, visits.seq FROM urls LEFT JOIN visits ON visits.seq = urls.seq
  JOIN hosts ON hosts.id = urls.host WHERE urls.host = %s AND hash > %s ORDER BY hash LIMIT %s"""
_ELSEWHERE: Final = """SELECT copies.host, copies.hash, same_as FROM copies JOIN hosts ON hosts.id = copies.host
  WHERE strpos(same_as, %s) > 0 AND hosts.key <> %s"""
_COUNTS: Final = """SELECT CASE WHEN leased.seq IS NULL THEN state ELSE 1 END, count(*) FROM urls
  LEFT JOIN leased USING (host, hash) WHERE host = %s GROUP BY 1"""
_REMOVALS: Final = (
    "DELETE FROM leased WHERE host = %s",
    "DELETE FROM visits WHERE seq IN (SELECT seq FROM urls WHERE host = %s)",
    "DELETE FROM seen WHERE seq IN (SELECT seq FROM urls WHERE host = %s)",
    "DELETE FROM copies WHERE host = %s",
    "DELETE FROM to_index WHERE host = %s",
    "DELETE FROM leaving WHERE host = %s",
    "DELETE FROM urls WHERE host = %s",
)
_EMPTY: Final = """UPDATE hosts SET pages = 0, backoff = 0, due = NULL, leased = 0, token = token + 1, in_scope = 0
  WHERE id = %s"""
_IN_SCOPE: Final = "SELECT in_scope FROM hosts WHERE id = %s FOR UPDATE"
_ORIGINS: Final = "SELECT DISTINCT origin FROM {} WHERE strpos(origin, %s) > 0"
_SOURCES: Final = "SELECT DISTINCT source FROM found WHERE strpos(source, %s) > 0"
_NO_SOURCES: Final = "UPDATE found SET source = %s WHERE source = ANY(%s::text[])"
_ORIGINALS: Final = "SELECT DISTINCT same_as FROM copies WHERE strpos(same_as, %s) > 0"
_LESSONS: Final = "DELETE FROM lessons WHERE host = %s OR strpos(about, %s) > 0 OR strpos(evidence, %s) > 0"


def bar(connection: PostgresConnection, host: str, at: float) -> bool:
    """Bars a host: none of its URLs is leased or found from now on. Returns False if the host is unknown, so that there
    is nothing to remove."""
    row = connection.execute(_FIND, (host,)).fetchone()
    is_known = row is not None or connection.execute(_KNOWN_OTHERWISE, (host,)).fetchone() is not None
    if row is None:
        connection.execute(_ADD, (host, f"http://{authority_of(host)}", partition_of(host)))
        row = connection.execute(_FIND, (host,)).fetchone() or (0,)
    connection.execute("SELECT FROM hosts WHERE id = %s FOR UPDATE", row)
    connection.execute(_BAR, (row[0], at))
    connection.execute("UPDATE hosts SET due = NULL WHERE id = %s", row)
    if is_known:
        connection.execute(_TO_REMOVE, row)
    return is_known


def unbar(connection: PostgresConnection, host: str, writer: str) -> bool:
    """Lets the host be found again; False if it was not forgotten. Raises InputError if folders other than that of
    `writer` may still have something of it: they would remove what is fetched from now on."""
    others = connection.execute(_HAVE_IT, (host, writer)).fetchall()
    if others:
        names = [f"{name}, folder {of}" for of, name in others[:MACHINES_NAMED]]
        if len(others) > MACHINES_NAMED:
            names.append("…")
        raise InputError(
            f"{counted(len(others), 'other machine')} {'has' if len(others) == 1 else 'have'} not removed {host} yet"
            f" ({'; '.join(names)}): run goodbot crawl there once, then try again"
        )
    return connection.execute(_UNBAR, (host,)).rowcount > 0


def unfinished(connection: PostgresConnection, writer: str) -> list[str]:
    """Returns the hosts that are barred, and of which the folder of `writer` may still have something."""
    return [key for (key,) in connection.execute(_UNFINISHED, (writer,))]


def finish(connection: PostgresConnection, host: str, writer: str) -> None:
    """Notes that the folder of `writer` has nothing of the host any more."""
    connection.execute(_REMOVED, (host, writer))


def barred_since(connection: PostgresConnection, at: float) -> list[tuple[str, float]]:
    """Returns the hosts that were barred after `at`, and when, the earliest first."""
    return connection.execute(_SINCE, (at,)).fetchall()


def visited(connection: PostgresConnection, host: str) -> Iterator[list[Url]]:
    """Yields the URLs of the host that were requested, whatever the outcome, in parts (some may be empty)."""
    row = connection.execute(_FIND, (host,)).fetchone()
    if row is None:
        return
    after = _BEFORE_ALL
    while part := connection.execute(_VISITED, (*row, after, _LOOKED_AT_ONCE)).fetchall():
        yield [Url(origin + path if path[0] == "/" else path) for _, origin, path, seq in part if seq is not None]
        after = part[-1][0]


def copies_elsewhere(connection: PostgresConnection, host: str) -> list[tuple[int, int]]:
    """Returns the keys of pages of other hosts that were left out as copies of pages of this one; they are originals
    now."""
    rows = connection.execute(_ELSEWHERE, (host_of(host), host))
    return sorted((other, hash_) for other, hash_, same_as in rows if _host_key(same_as) == host)


def remove(connection: PostgresConnection, hosts: HostStep, host: str) -> int:
    """Removes everything about a barred host from the tables, except its courtesy record; returns how many URLs."""
    row = connection.execute(_FIND, (host,)).fetchone()
    if row is None:
        return 0
    (in_scope,) = connection.execute(_IN_SCOPE, row).fetchone() or (0,)
    urls = 0
    for state, count in connection.execute(_COUNTS, row).fetchall():
        hosts.counts[CODED[state]] -= count
        urls += count
    hosts.counts["urls"] -= urls
    hosts.counts["hosts"] -= in_scope
    for statement in _REMOVALS:
        connection.execute(statement, row)
    connection.execute(_EMPTY, row)
    _forget_names(connection, host)
    return urls


def _forget_names(connection: PostgresConnection, host: str) -> None:
    """Removes its origins and lessons, and its URLs as sources of pages on other hosts, or as their originals."""
    bare = host_of(host)
    for table in ("robots", "robots_versions"):
        found = connection.execute(_ORIGINS.format(table), (bare,)).fetchall()
        origins = [origin for (origin,) in found if _host_key(f"{origin}/") == host]
        connection.execute(f"DELETE FROM {table} WHERE origin = ANY(%s::text[])", (origins,))
    sources = [text for (text,) in connection.execute(_SOURCES, (bare,)) if _host_key(text) == host]
    connection.execute(_NO_SOURCES, (NO_SOURCE, sources))
    originals = [text for (text,) in connection.execute(_ORIGINALS, (bare,)) if _host_key(text) == host]
    connection.execute("DELETE FROM copies WHERE same_as = ANY(%s::text[])", (originals,))
    connection.execute(_LESSONS, (host, bare, bare))


def _host_key(text: str) -> str | None:
    url = parse_url(text)
    return None if url is None else url.host_key
