"""Finds the hosts with the most URLs to fetch, counted up to a limit, so that the cost does not grow with the crawl."""

import sqlite3
from contextlib import closing
from pathlib import Path

from goodbot.report_values import MAX_COUNT, MAX_HOSTS, HostAhead
from goodbot.store.sqlite.schema import connect, translated

_HOSTS = """
SELECT * FROM (SELECT id, key, 0.0 FROM hosts WHERE leased = 1 LIMIT :most) UNION ALL
SELECT * FROM (SELECT id, key, due FROM hosts WHERE due IS NOT NULL ORDER BY due, id LIMIT :most) LIMIT :most
"""
_READY = "SELECT count(*) FROM (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = ? AND state = 0 LIMIT ?)"
"""Without INDEXED BY, SQLite reads all URLs of the host."""


def hosts_ahead(frontier: Path, most: int) -> list[HostAhead]:
    """Returns the hosts with the most ready URLs, among the `MAX_HOSTS` examined. The crawl may be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        found = ahead(connection)
    return sorted((host for host in found if host.ready), key=lambda host: (-host.ready, host.host))[:most]


def ahead(connection: sqlite3.Connection) -> list[HostAhead]:
    """Returns hosts that are leased, then those that can be, in order; `ready` is 0 if all their URLs have to wait."""
    rows = connection.execute(_HOSTS, {"most": MAX_HOSTS}).fetchall()
    counted = ((key, due, connection.execute(_READY, (id_, MAX_COUNT)).fetchone()[0]) for id_, key, due in rows)
    return [HostAhead(key, count, due) for key, due, count in counted]
