"""Reads the reports about a crawl for the pages of its operator."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from goodbot.ports import CrawlReader
from goodbot.report_values import URLS_READ, CourtesyTotals, HostDetails, HostList, HostReport, Place, RefusedList
from goodbot.values import State

HOSTS_PER_PAGE: Final = 50
URLS_PER_PAGE: Final = 50
REPORTS_PER_PAGE: Final = 20
URLS_READ_OF_EACH: Final = 2_000
"""URLs of each host that are read for a page with several courtesy reports."""


class CrawlReports:
    """The reports about one crawl, each a bounded number of lookups; the crawl may be running. May be used in any
    thread. `open_reader` opens the crawl, `token` is the product token of the robot, `retry_after_most` the longest
    Retry-After that it waits for. Methods raise the errors of `CrawlReader`."""

    def __init__(
        self, open_reader: Callable[[], AbstractContextManager[CrawlReader]], token: str, retry_after_most: float
    ) -> None:
        self._open = open_reader
        self.token = token
        self.retry_after_most = retry_after_most

    def hosts(self, name: str, after: str, *, everything: bool) -> HostList:
        """See `CrawlReader.list_hosts`."""
        with self._open() as reader:
            return reader.list_hosts(HOSTS_PER_PAGE, name, after, everything=everything)

    def host(self, host: str) -> HostDetails | None:
        """See `CrawlReader.host_details`."""
        with self._open() as reader:
            return reader.host_details(host, self.token)

    def refused(self, states: Sequence[State], host: str | None, after: Place) -> RefusedList:
        """See `CrawlReader.list_refused`."""
        with self._open() as reader:
            return reader.list_refused(URLS_PER_PAGE, states, host, after)

    def courtesy_totals(self, host: str | None) -> CourtesyTotals:
        """See `CrawlReader.courtesy_totals`."""
        with self._open() as reader:
            return reader.courtesy_totals(host)

    def courtesy(self, host: str) -> HostReport | None:
        """Returns the courtesy report on one host; None if it is unknown."""
        with self._open() as reader:
            return reader.courtesy_report(host, self.token, URLS_READ)

    def courtesies(self, after: str) -> tuple[tuple[HostReport, ...], str | None]:
        """See `CrawlReader.some_courtesy_reports`."""
        with self._open() as reader:
            return reader.some_courtesy_reports(self.token, REPORTS_PER_PAGE, after, URLS_READ_OF_EACH)
