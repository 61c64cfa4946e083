"""Finds the hosts with the most URLs to fetch, counted up to a limit, so that the cost does not grow with the crawl."""

from typing import Final

from goodbot.report_values import MAX_COUNT, MAX_HOSTS, HostAhead
from goodbot.store.reports.rows import Rows

# Without INDEXED BY, SQLite reads all URLs of the host.
_HOSTS: Final = """SELECT key, (SELECT count(*) FROM (
    SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = ahead.id AND state = 0 LIMIT :count) AS counted), at
  FROM (SELECT * FROM (SELECT id, key, 0.0 AS at FROM hosts WHERE leased = 1 LIMIT :most) AS busy
    UNION ALL SELECT * FROM (SELECT id, key, due FROM hosts WHERE due IS NOT NULL ORDER BY due, id LIMIT :most) AS free
    LIMIT :most) AS ahead"""


def all_ahead(rows: Rows) -> list[HostAhead]:
    """Returns hosts that are leased, then those that can be, in order; `ready` is 0 if all their URLs have to wait."""
    return [HostAhead(*row) for row in rows.all(_HOSTS, most=MAX_HOSTS, count=MAX_COUNT)]


def most_ahead(rows: Rows, most: int) -> list[HostAhead]:
    """Returns the hosts with the most ready URLs, among the `MAX_HOSTS` examined."""
    found = (host for host in all_ahead(rows) if host.ready)
    return sorted(found, key=lambda host: (-host.ready, host.host))[:most]
