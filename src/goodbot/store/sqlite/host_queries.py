"""Which hosts have most to be fetched: counted up to a bound, so that the cost does not grow with the crawl."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.store.sqlite.schema import connect, translated

HOSTS_MOST: Final = 500
"""Hosts looked at: those leased, then those due first."""
COUNT_MOST: Final = 10_000
"""URLs counted of a host."""

_HOSTS = """
SELECT * FROM (SELECT id, key, 0.0 FROM hosts WHERE leased = 1 LIMIT :most) UNION ALL
SELECT * FROM (SELECT id, key, due FROM hosts WHERE due IS NOT NULL ORDER BY due, id LIMIT :most) LIMIT :most
"""
_READY = "SELECT count(*) FROM (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = ? AND state = 0 LIMIT ?)"
"""Without INDEXED BY, SQLite walks all URLs of the host."""


@dataclass(frozen=True, slots=True)
class HostAhead:
    """A host with URLs to be fetched: how many (`COUNT_MOST` means: or more), and when it may be asked again, 0 for one
    that is being asked."""

    host: str
    ready: int
    ready_at: float


def hosts_ahead(frontier: Path, most: int) -> list[HostAhead]:
    """Those with most URLs ready, of `HOSTS_MOST` looked at. The crawl may be running."""
    with translated(frontier), closing(connect(frontier, read_only=True)) as connection:
        found = ahead(connection)
    return sorted((host for host in found if host.ready), key=lambda host: (-host.ready, host.host))[:most]


def ahead(connection: sqlite3.Connection) -> list[HostAhead]:
    """Hosts that are leased, then those that can be, in their order; with 0 `ready` if all they have is for later."""
    rows = connection.execute(_HOSTS, {"most": HOSTS_MOST}).fetchall()
    counted = ((key, due, connection.execute(_READY, (id_, COUNT_MOST)).fetchone()[0]) for id_, key, due in rows)
    return [HostAhead(key, count, due) for key, due, count in counted]
