"""Keeps the frontier in one SQLite file: URLs, hosts, leases, the index queue, robots.txt files."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from goodbot.errors import RunError
from goodbot.exclusion import Access
from goodbot.files import lock_folder
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.search_values import IndexMark
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.sqlite import forgetting, index_table, schema
from goodbot.store.sqlite.courtesy_table import save_courtesies, save_version
from goodbot.store.sqlite.import_notes import ImportNotes, has_imported, unfinished_end
from goodbot.store.sqlite.ledger import SqliteLedger
from goodbot.store.sqlite.lesson_table import drop_lessons, save_lessons
from goodbot.store.sqlite.migrations import migrate
from goodbot.store.sqlite.robots_table import save_access
from goodbot.store.sqlite.schema import translated
from goodbot.store.sqlite.transaction import Transaction
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Lease, LeasedUrl, Outcome, Release

_LOG: Final = logging.getLogger(__name__)


class SqliteFrontier(SqliteLedger):
    """Implements CrawlStore.

    For one thread; other processes may read at the same time. A call that raises has changed nothing. Calls raise
    DamagedError for a file with wrong content, and RunError if the disk or the file system fails.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: int | None,
        now: Callable[[], float],
        host_pages: int | None,
        revisit_until: float | None,
        host_lists: int | None,
    ) -> None:
        super().__init__(path, connection)
        self._lock = lock
        self._now = now
        self._host_pages = host_pages
        self._revisit_until = revisit_until
        self._host_lists = host_lists
        self._recent = RecentLinks()
        self._open: Transaction | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        now: Callable[[], float] = time.time,
        host_pages: int | None = None,
        revisit_until: float | None = None,
        host_lists: int | None = None,
    ) -> Self:
        """Opens the frontier in file `path`. `create` makes one if there is none; an older format is migrated.

        URLs that a killed crawl had leased are ready again. `read_only` takes no lock, changes nothing and works beside
        a running crawl. `now` returns the time that `add` records as the time of discovery.

        At most `host_pages` URLs of one host are visited; its other ready URLs are out of scope, until `reconsider`
        under a higher limit. `revisit_until`: URLs that were visited, gone or disallowed are leased again if they are
        due by then (infinity: always; None: no revisits). Of the URLs of one host that are expected to be sitemaps or
        feeds, at most `host_lists` are visited in a day; its other ready ones are out of scope, until `reconsider` or
        until they are found again.

        Raises InputError if there is no such file, BusyError if another process writes to it."""
        path, bounds = Path(path), (now, host_pages, revisit_until, host_lists)
        if read_only or not (create or path.exists()):
            return cls(path, schema.connect(path, read_only=True), None, *bounds)
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = lock_folder(path)
        try:
            with translated(path):
                if create and not path.exists():
                    schema.create(path)
                migrate(path)
            frontier = cls(path, schema.connect(path, read_only=False), lock, *bounds)
        except BaseException:
            os.close(lock)
            raise
        try:
            with frontier._writing() as transaction:
                transaction.return_leases(now())
                transaction.set_until()
                transaction.close_full()
                transaction.grant_lists()
        except BaseException:
            frontier.close()
            raise
        return frontier

    def close(self) -> None:
        """Closes the connection and unlocks the folder for another writer. May be called twice."""
        super().close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, discoveries: Iterable[Discovery]) -> int:
        """See `Frontier.add`. A new host is leased before new hosts that were found by links."""
        with self._writing() as transaction:
            return transaction.discover(discoveries, self._now(), 0.0)

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        """See `Frontier.lease`. The cost depends on what is leased, not on how many hosts are known.

        Not synced to disk, because a crash returns leases anyway.
        """
        ready_at = self.next_ready_at()
        if hosts < 1 or urls_per_host < 1 or ready_at is None or ready_at > now:
            return []  # beginning and ending a transaction would take four times as long as this check
        with self._writing(durable=False) as transaction:
            return transaction.lease(hosts, urls_per_host, now, sized=sized)

    def claim(self, urls: Sequence[Url], at: float) -> list[tuple[LeasedUrl, int] | None]:
        """Leases these URLs, each of them once, whatever their state; unknown ones are found `at` that time. Returns
        each with the token for its outcome; None: its host is forgotten, or another URL has its hash. Only within
        `together`, and all of them must be settled there: their hosts are not leased."""
        with self._writing() as transaction:
            transaction.discover((Discovery(url, 0) for url in urls), at, 0.0)
            return [transaction.claim(url) for url in urls]

    def import_notes(self) -> ImportNotes:
        """Returns the notes about what was imported from archives of others. Its changes belong to the transaction of
        `together`."""
        return ImportNotes(self._db)

    def has_imports(self) -> bool:
        """Returns whether archives of others were imported."""
        with translated(self._path):
            return has_imported(self._db)

    def unfinished_import(self) -> tuple[str, int] | None:
        """Returns the archive file that a killed import was writing, and its size when that committed last; None if
        there was none."""
        with translated(self._path):
            return unfinished_end(self._db)

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        """See `Frontier.settle`."""
        with self._writing() as transaction:
            rejected = transaction.settle(outcomes, found)
            for release in releases:
                transaction.release(release)
            return rejected

    def reconsider(self, judge: Callable[[Url, int], str | None]) -> int:
        """See `Frontier.reconsider`; one pass over all URLs."""
        with self._writing() as transaction:
            return transaction.reconsider(judge)

    def plan_visits(self, refuse: Callable[[Url, int], str | None]) -> int:
        """Plans a visit to every page that has none planned and that `refuse` accepts (it takes URL and depth, and
        returns the reason to refuse the URL, or None); returns how many. One pass over all URLs."""
        with self._writing() as transaction:
            return transaction.plan_visits(refuse)

    def indexed(self, urls: Iterable[Url], mark: IndexMark | None = None) -> None:
        """See `IndexQueue.indexed`; URLs that are not pending are skipped."""
        with self._writing() as transaction:
            for url in urls:
                transaction.indexed(url)
            if mark is not None:
                index_table.save_mark(self._db, mark)

    def passed_over(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.passed_over`."""
        with self._writing() as transaction:
            for url in urls:
                transaction.passed_over(url)

    def expect_index(self, mark: IndexMark) -> int:
        """Starts a new index, which `mark` describes: every page that was indexed, or was fetched while the crawl kept
        no index, becomes pending for it. Returns how many."""
        with self._writing():
            index_table.save_mark(self._db, mark)
            return index_table.queue_all(self._db)

    def index_skipped(self) -> int:
        """Makes pages pending that were fetched while the crawl kept no index; returns how many are pending now."""
        with self._writing():
            return index_table.queue_skipped(self._db)

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexQueue.requeue`; URLs that are out of scope or unknown are skipped."""
        with self._writing() as transaction:
            for url in urls:
                transaction.requeue(url)

    def lose_records(self, urls: Iterable[Url]) -> None:
        """Removes the references to the lost records of these URLs; visited pages become ready to be fetched again,
        without validators. Skips unknown URLs."""
        with self._writing() as transaction:
            for url in urls:
                transaction.lose_record(url)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`. Not synced to disk: what a power failure loses is fetched again."""
        with self._writing(durable=False):
            save_access(self._db, origin, access)
            save_version(self._db, origin, access)

    def save_courtesies(self, courtesies: Iterable[Courtesy]) -> None:
        """See `CourtesyStore.save_courtesies`."""
        with self._writing(durable=False):
            save_courtesies(self._db, courtesies)

    def save_lessons(self, lessons: Iterable[Lesson]) -> None:
        """See `LessonStore.save_lessons`; the last 1,000 of one host are kept.

        Not synced to disk: what a power failure loses is learned again.
        """
        with self._writing(durable=False) as transaction:
            saved = list(lessons)
            save_lessons(self._db, saved)
            if over := [lesson for lesson in saved if lesson.lapsed]:
                transaction.let_in(over)

    def drop_lessons(self, lessons: Iterable[Lesson]) -> int:
        """Deletes lessons as if they had never been learned, and makes the URLs ready that they had left out; returns
        how many."""
        with self._writing() as transaction:
            dropped = list(lessons)
            drop_lessons(self._db, dropped)
            return transaction.let_in(dropped)

    def bar_host(self, host: str) -> bool:
        """Bars a host (`Url.host_key`): from now on none of its URLs is leased or added. Returns False if the host is
        unknown, so there is nothing to remove."""
        with self._writing():
            return forgetting.bar(self._db, host, self._now())

    def unbar_host(self, host: str) -> bool:
        """Allows URLs of the host to be added again; False if it was not barred."""
        with self._writing():
            return forgetting.unbar(self._db, host)

    def remove_host(self, host: str) -> int:
        """Removes everything about a barred host from the file, except its courtesy record; returns how many URLs were
        removed. Pages on other hosts that were copies of its pages become ready again."""
        with translated(self._path):
            self._db.execute("PRAGMA secure_delete = ON")
        with self._writing() as transaction:
            copies = forgetting.copies_elsewhere(self._db, host)
            removed = forgetting.remove(self._db, host)
            for url in copies:
                transaction.requeue(url)
        self._recent.clear()
        with translated(self._path):  # until the checkpoint the journal still has what was overwritten
            self._db.execute("PRAGMA secure_delete = OFF")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        _LOG.info("removed %d URLs of %s from %s", removed, host, self._path)
        return removed

    def purge(self) -> None:
        """Rewrites the file, because its free space still contains rows that were moved or removed."""
        with translated(self._path):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _transaction(self) -> Transaction:
        return Transaction(self._db, self._recent, self._host_pages, self._revisit_until, self._host_lists)

    @contextmanager
    def together(self) -> Iterator[None]:
        """See `Frontier.together`."""
        with self._writing():
            yield

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Runs one transaction, all or nothing; if it is `durable`, it is on disk when the block ends. Within
        `together`, the block is a part of the transaction of that call."""
        if self._open is not None:
            yield self._open
            self._open.finish()
            return
        if self._lock is None:
            raise RunError(f"{self._path} is open for reading only")
        with translated(self._path):
            self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._open = self._transaction()
                yield self._open
                self._open.finish()
                self._db.execute("COMMIT")
            except BaseException:
                self._recent.clear()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._open = None
