"""Reads a crawl's frontier for the pages of its operator."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from goodbot.report_values import (
    ERRORS_SHOWN,
    URLS_READ,
    CourtesyTotals,
    HostDetails,
    HostList,
    HostReport,
    Place,
    RefusedEntry,
    RefusedList,
)
from goodbot.store.merge.coding import CODED, CODES, CODES_AGAIN, OUT_OF_SCOPE
from goodbot.store.sqlite.courtesy_report import courtesy_totals, report_on, some_reports
from goodbot.store.sqlite.host_list import host_entry, list_hosts
from goodbot.store.sqlite.refused_urls import list_refused
from goodbot.store.sqlite.schema import connect, translated, url_of
from goodbot.values import State

HOSTS_PER_PAGE: Final = 50
URLS_PER_PAGE: Final = 50
REPORTS_PER_PAGE: Final = 20
URLS_READ_OF_EACH: Final = 2_000
"""URLs of each host that are read for a page with several courtesy reports."""

_ERRORS: Final = """SELECT key, origin, path, state, visits.at, status, why
  FROM (SELECT host, seq, state, path FROM urls WHERE host = (SELECT id FROM hosts WHERE key = ?) LIMIT ?) AS some
  CROSS JOIN visits ON visits.seq = some.seq CROSS JOIN hosts ON hosts.id = some.host
  WHERE state NOT IN (?, ?, ?) AND (status IS NULL OR status >= 400) ORDER BY visits.at DESC LIMIT ?"""


class CrawlReports:
    """The reports about one crawl, each a bounded number of lookups; the crawl may be running. May be used in any
    thread. `token` is the product token of the robot, `retry_after_most` the longest Retry-After that it waits for."""

    def __init__(self, frontier: Path, token: str, retry_after_most: float) -> None:
        self._frontier = frontier
        self.token = token
        self.retry_after_most = retry_after_most

    def hosts(self, name: str, after: str, *, everything: bool) -> HostList:
        """See `list_hosts`."""
        return list_hosts(self._frontier, HOSTS_PER_PAGE, name, after, everything=everything)

    def host(self, host: str) -> HostDetails | None:
        """Returns what is known about a host (`Url.host_key`); None if it is unknown."""
        with translated(self._frontier), closing(connect(self._frontier, read_only=True)) as connection:
            connection.execute("BEGIN")
            entry = host_entry(connection, host)
            if entry is None:
                return None
            report = report_on(connection, self.token, host, URLS_READ)
            return HostDetails(entry, report, _errors(connection, host))

    def refused(self, states: Sequence[State], host: str | None, after: Place) -> RefusedList:
        """See `list_refused`."""
        return list_refused(self._frontier, URLS_PER_PAGE, states, host, after)

    def courtesy_totals(self, host: str | None) -> CourtesyTotals:
        """See `courtesy_totals`."""
        return courtesy_totals(self._frontier, host)

    def courtesy(self, host: str) -> HostReport | None:
        """Returns the courtesy report on one host; None if it is unknown."""
        with translated(self._frontier), closing(connect(self._frontier, read_only=True)) as connection:
            connection.execute("BEGIN")
            return report_on(connection, self.token, host, URLS_READ)

    def courtesies(self, after: str) -> tuple[tuple[HostReport, ...], str | None]:
        """See `some_reports`."""
        return some_reports(self._frontier, self.token, REPORTS_PER_PAGE, after, URLS_READ_OF_EACH)


def _errors(connection: sqlite3.Connection, host: str) -> tuple[RefusedEntry, ...]:
    """Returns the latest visits that failed or got an error status, also of pages that will be tried again."""
    others = CODES["disallowed"], CODES_AGAIN["disallowed"], OUT_OF_SCOPE
    rows = connection.execute(_ERRORS, (host, URLS_READ, *others, ERRORS_SHOWN))
    return tuple(
        RefusedEntry(url_of(origin, path).text, key, CODED[state], why, at, status)
        for key, origin, path, state, at, status, why in rows
    )
