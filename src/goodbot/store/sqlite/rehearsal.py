"""A frontier for dry runs: it behaves as if everything were done, and keeps nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from goodbot.report_values import MAX_HOSTS, HostAhead
from goodbot.store.reports.hosts_ahead import all_ahead
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.schema import translated
from goodbot.store.sqlite.transaction import Transaction
from goodbot.values import Lease

_FOREVER: Final = 1e12


class SqliteRehearsal(SqliteFrontier):
    """Implements Rehearsal: runs all calls in one transaction, which `close` rolls back. Like any writer it locks the
    folder, so it cannot be opened while a crawl runs there."""

    def close(self) -> None:
        """Rolls everything back. May be called twice."""
        if self._lock is not None and self._db.in_transaction:
            self._db.execute("ROLLBACK")
        super().close()

    def lease_all(self, urls_per_host: int) -> list[tuple[HostAhead, Lease]]:
        """Returns the first hosts, at most `MAX_HOSTS`, in the order of the crawl, whenever they are due, each with
        the URLs that would be fetched there first."""
        with translated(self._path):
            due = {host.host: host.ready_at for host in all_ahead(self._report_rows)}
            leases = self.lease(MAX_HOSTS, urls_per_host, _FOREVER)
            ready = {host.host: host.ready for host in all_ahead(self._report_rows)}
        planned = ((lease.host, ready.get(lease.host, 0), due.get(lease.host, 0.0)) for lease in leases)
        return [(HostAhead(*host), lease) for host, lease in zip(planned, leases, strict=True) if lease.urls]

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[Transaction]:
        with translated(self._path):
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            transaction = self._transaction()
            yield transaction
            transaction.finish()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        with translated(self._path):
            yield
