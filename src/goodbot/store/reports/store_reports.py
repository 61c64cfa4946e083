"""The reports of a store, each on one state of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from goodbot.exclusion import Access
from goodbot.lesson_values import LeftOut, Lesson
from goodbot.live import Courtesy
from goodbot.report_values import (
    HOSTS_LOOKED_AT,
    REFUSED_STATES,
    START,
    URLS_LOOKED_AT,
    URLS_READ,
    CourtesyTotals,
    HostAhead,
    HostDetails,
    HostList,
    HostReport,
    Place,
    QueuePlace,
    RefusedList,
)
from goodbot.store.reports import courtesy_report
from goodbot.store.reports.host_list import host_entry, list_hosts
from goodbot.store.reports.hosts_ahead import most_ahead
from goodbot.store.reports.left_out import count_left_out
from goodbot.store.reports.queue_place import queue_place
from goodbot.store.reports.refused_urls import latest_errors, list_refused
from goodbot.store.reports.rows import Rows
from goodbot.url import Url
from goodbot.values import State


class StoreReports(ABC):
    """Implements the reports of CrawlReader for a store that keeps its tables in SQL."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Rows]:
        """Runs the queries of a block on one state of the store, and translates errors, UnreadableError too."""

    @abstractmethod
    def lessons(self, host: str | None = None) -> list[Lesson]: ...

    @abstractmethod
    def load_robots(self, origin: str) -> Access | None: ...

    @abstractmethod
    def load_lessons(self, hosts: Iterable[str]) -> list[Lesson]: ...

    @abstractmethod
    def load_courtesies(self, hosts: Iterable[str]) -> dict[str, Courtesy]: ...

    def left_out(self, applies: Callable[[Lesson], bool]) -> LeftOut:
        """See `CrawlReader.left_out`."""
        with self._reading() as rows:
            return count_left_out(rows, (item for item in self.lessons() if item.leaves_out and applies(item)))

    def hosts_ahead(self, most: int) -> list[HostAhead]:
        """See `CrawlReader.hosts_ahead`."""
        with self._reading() as rows:
            return most_ahead(rows, most)

    def queue_place(self, url: Url) -> QueuePlace | None:
        """See `CrawlReader.queue_place`."""
        with self._reading() as rows:
            return queue_place(rows, url)

    def list_hosts(
        self,
        most: int,
        name: str = "",
        after: str = "",
        *,
        everything: bool = False,
        looked_at: int = HOSTS_LOOKED_AT,
    ) -> HostList:
        """See `CrawlReader.list_hosts`."""
        with self._reading() as rows:
            return list_hosts(rows, most, name, after, looked_at, everything=everything)

    def host_details(self, host: str, token: str) -> HostDetails | None:
        """See `CrawlReader.host_details`."""
        with self._reading() as rows:
            entry = host_entry(rows, host)
            if entry is None:
                return None
            report = courtesy_report.report_on(self, rows, token, host, URLS_READ)
            return HostDetails(entry, report, latest_errors(rows, host))

    def list_refused(
        self,
        most: int,
        states: Sequence[State] = REFUSED_STATES,
        host: str | None = None,
        after: Place = START,
        looked_at: int = URLS_LOOKED_AT,
    ) -> RefusedList:
        """See `CrawlReader.list_refused`."""
        with self._reading() as rows:
            return list_refused(rows, most, states, host, after, looked_at)

    def courtesy_totals(self, host: str | None = None) -> CourtesyTotals:
        """See `CrawlReader.courtesy_totals`."""
        with self._reading() as rows:
            return courtesy_report.courtesy_totals(rows, host)

    def courtesy_hosts(self) -> list[str]:
        """See `CrawlReader.courtesy_hosts`."""
        with self._reading() as rows:
            return courtesy_report.courtesy_hosts(rows)

    def courtesy_report(self, host: str, token: str, urls_read: int | None = None) -> HostReport | None:
        """See `CrawlReader.courtesy_report`."""
        with self._reading() as rows:
            return courtesy_report.report_on(self, rows, token, host, urls_read)

    def courtesy_reports(self, token: str) -> Iterator[HostReport]:
        """See `CrawlReader.courtesy_reports`."""
        for host in self.courtesy_hosts():
            report = self.courtesy_report(host, token)
            if report is not None:
                yield report

    def some_courtesy_reports(
        self, token: str, most: int, after: str, urls_read: int
    ) -> tuple[tuple[HostReport, ...], str | None]:
        """See `CrawlReader.some_courtesy_reports`."""
        with self._reading() as rows:
            names = courtesy_report.next_hosts(rows, after, most + 1)
            found = [courtesy_report.report_on(self, rows, token, name, urls_read) for name in names[:most]]
        reports = tuple(report for report in found if report is not None)
        return reports, names[most - 1] if len(names) > most else None
