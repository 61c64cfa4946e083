"""The stores that pass the contract suites: in memory, in a file, in PostgreSQL. Each can be opened again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.cluster.postgres.reader import PostgresReader
from goodbot.lesson_values import Lesson
from goodbot.ports import CourtesyStore, CrawlReader, Frontier, IndexQueue, Ledger, LessonStore, RobotsStore
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url

KINDS: Final = ("memory", "sqlite", "postgres")


class Store(Frontier, Ledger, IndexQueue, RobotsStore, LessonStore, CourtesyStore, Protocol):
    """The ports that one object implements."""

    def copies_of(self, url: Url, most: int = 100) -> list[Url]: ...

    def drop_lessons(self, lessons: list[Lesson]) -> int: ...


class Stores:
    """One store of a kind. `open` closes it, if it is open, and opens it again; one in memory stays as it is."""

    def __init__(
        self,
        kind: str,
        path: Path,
        request: pytest.FixtureRequest,
        now: Callable[[], float],
        postgres: str = "postgres_dsn",
    ) -> None:
        self.kind = kind
        self.now = now
        self._path = path
        self._dsn: str | None = request.getfixturevalue(postgres) if kind == "postgres" else None
        self._store: Any = None

    def open(self, **limits: Any) -> Store:
        """Opens it with these limits: `host_pages`, `host_lists`, `revisit_until`."""
        if self.kind == "memory":
            self._store = self._in_memory(**limits)
        else:
            self.close()
            self._store = self._in_postgres(**limits) if self._dsn is not None else self._in_file(**limits)
        store: Store = self._store
        return store

    def take_away(self) -> Store:
        """Opens it after the process that held its leases has died."""
        if isinstance(self._store, MemoryFrontier):
            self._store.take_away_leases(self.now())
            return self._store
        if isinstance(self._store, PostgresFrontier):
            self._store._transactions.close()
            self._store = None
        return self.open()

    @contextmanager
    def reading(self) -> Iterator[CrawlReader]:
        """Opens it for reading, beside the one that is open; not in memory."""
        if self._dsn is not None:
            with PostgresReader.open(self._dsn, "writer") as shared:
                yield shared
            return
        with SqliteFrontier.open(self._path, read_only=True) as reader:
            yield reader

    def close(self) -> None:
        if self._store is not None and not isinstance(self._store, MemoryFrontier):
            self._store.close()

    def _in_memory(self, **limits: Any) -> MemoryFrontier:
        fresh = MemoryFrontier(now=self.now, **limits)
        known = self._store
        if known is None:
            return fresh
        known._until, known._host_pages, known._host_lists = fresh._until, fresh._host_pages, fresh._host_lists
        for host in known._hosts.values():
            known._offer(host)
        opened: MemoryFrontier = known
        return opened

    def _in_file(self, **limits: Any) -> SqliteFrontier:
        return SqliteFrontier.open(self._path, create=True, now=self.now, **limits)

    def _in_postgres(self, **limits: Any) -> PostgresFrontier:
        assert self._dsn is not None
        store = PostgresFrontier.open(self._dsn, Identity("writer", "test", 1), now=self.now, parts=2, **limits)
        store.take_part()
        return store
