"""The frontier in one SQLite file: urls, hosts, leases, the index queue, robots.txt."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType

from goodbot.errors import RunError
from goodbot.exclusion import Access
from goodbot.store import schema
from goodbot.store.ledger import SqliteLedger
from goodbot.store.schema import translated
from goodbot.store.transaction import Recent, Transaction
from goodbot.url import Url
from goodbot.values import Discovery, Lease, Outcome, Release


class SqliteFrontier(SqliteLedger):
    """Frontier, Ledger, IndexQueue, RobotsStore. For one thread; other processes may read meanwhile.

    A call that raises has changed nothing. Raises DamagedError for a file that is not what it should be,
    RunError where disk or file system fail.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None, now: Callable[[], float]) -> None:
        super().__init__(path, connection)
        self._lock = lock
        self._now = now
        self._recent = Recent()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        now: Callable[[], float] = time.time,
    ) -> "SqliteFrontier":
        """The frontier in file `path`; `create` makes one if there is none.

        What a dead crawl had leased is ready again. `read_only` takes no lock, changes nothing and works beside
        a crawl that runs. `now` dates what `add` finds.
        Raises InputError if there is no such file, RunError if another process writes to it.
        """
        path = Path(path)
        if read_only or not (create or path.exists()):
            return cls(path, schema.connect(path, read_only=True), None, now)
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = schema.lock(path)
        try:
            with translated(path):
                if create and not path.exists():
                    schema.create(path)
            frontier = cls(path, schema.connect(path, read_only=False), lock, now)
        except BaseException:
            os.close(lock)
            raise
        try:
            with frontier._writing() as transaction:
                transaction.return_leases(now())
        except BaseException:
            frontier.close()
            raise
        return frontier

    def close(self) -> None:
        """Ends the connection and frees the folder for another writer. May be called twice."""
        super().close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "SqliteFrontier":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """See `Frontier.add`. A new host comes before those that links led to."""
        with self._writing() as transaction:
            return transaction.discover(discoveries, self._now(), 0.0)

    def lease(self, hosts: int, urls_per_host: int, now: float) -> list[Lease]:
        """See `Frontier.lease`; the cost depends on what is leased, not on how many hosts are known.

        Not forced to the disk: a crash returns leases anyhow.
        """
        if hosts < 1 or urls_per_host < 1:
            return []
        with self._writing(durable=False) as transaction:
            return transaction.lease(hosts, urls_per_host, now)

    def settle(self, outcomes: Sequence[Outcome], releases: Sequence[Release]) -> None:
        """See `Frontier.settle`. Raises ValueError for a URL or a host that is not leased."""
        with self._writing() as transaction:
            for outcome in outcomes:
                transaction.settle(outcome)
            for release in releases:
                transaction.release(release)

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`; one pass over all URLs."""
        with self._writing() as transaction:
            return transaction.reconsider(judge)

    def indexed(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.indexed`; URLs not pending are passed over."""
        with self._writing() as transaction:
            for url in urls:
                transaction.indexed(url, again=False)

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`; URLs out of scope or not known are passed over."""
        with self._writing() as transaction:
            for url in urls:
                transaction.indexed(url, again=True)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`. Not forced to the disk: what a power cut takes is fetched again."""
        values = (origin, *(getattr(access, item.name) for item in fields(access)))
        with self._writing(durable=False):
            self._db.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[Transaction]:
        """One transaction, all or nothing; a durable one is on the disk when this returns."""
        if self._lock is None:
            raise RunError(f"{self._path} is open for reading only")
        with translated(self._path):
            self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._db, self._recent)
                yield transaction
                transaction.finish()
                self._db.execute("COMMIT")
            except BaseException:
                self._recent.clear()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
