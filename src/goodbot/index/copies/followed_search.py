"""Implements `Search` for copies of indexes that are replaced while searches go on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock

from goodbot.errors import AwaitedError
from goodbot.index.copies.copy_cache import LocalCopy, open_together
from goodbot.index.searcher import TantivySearch
from goodbot.search_values import NO_FILTERS, Choices, Explanation, Filters, Results


class _Opened:
    """A version, and how many searches use it."""

    def __init__(self, copy: LocalCopy, search: TantivySearch) -> None:
        self.copy = copy
        self.search = search
        self.users = 0


class CopiedSearch(ABC):
    """Searches what `_used` opens. No hit has a cached copy: the archive was not copied."""

    @abstractmethod
    def _used(self) -> AbstractContextManager[TantivySearch]:
        """Opens an index, which stays in place until the block ends. Raises AwaitedError while there is none."""

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Searches the index."""
        with self._used() as search:
            found = search.search(query, limit, offset, languages, filters)
        return replace(found, hits=tuple(replace(hit, has_copy=False) for hit in found.hits))

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Explains the place of a page in the index."""
        with self._used() as search:
            return search.explain(query, url, languages, filters)

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns completions from the index."""
        with self._used() as search:
            return search.suggest(typed, limit)

    def choices(self) -> Choices:
        """Returns the values that filters may have in the index."""
        with self._used() as search:
            return search.choices()

    def count(self) -> int:
        """Returns the number of documents in the index."""
        with self._used() as search:
            return search.count()


class FollowedSearch(CopiedSearch):
    """Searches the version that was swapped in last. A search that has begun ends in its own version. While there is
    none, everything raises AwaitedError. Several threads may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._current: _Opened | None = None
        self._retired: list[_Opened] = []

    def swap(self, copy: LocalCopy, search: TantivySearch) -> None:
        """Makes this the version for all searches that begin from now on."""
        with self._lock:
            if self._current is not None:
                self._retired.append(self._current)
            self._current = _Opened(copy, search)

    def renew(self, copy: LocalCopy) -> None:
        """Changes what is known of the current version."""
        with self._lock:
            if self._current is not None:
                self._current.copy = copy

    @property
    def copy(self) -> LocalCopy | None:
        """The current version."""
        with self._lock:
            return self._current.copy if self._current is not None else None

    def copies_in_use(self) -> list[LocalCopy]:
        """Returns the current version, and older ones in which searches have not ended yet."""
        with self._lock:
            self._retired = [opened for opened in self._retired if opened.users]
            current = [self._current] if self._current is not None else []
            return [opened.copy for opened in (*current, *self._retired)]

    @contextmanager
    def used(self) -> Iterator[tuple[LocalCopy, TantivySearch]]:
        """Opens the current version, which stays in place until the block ends. Raises AwaitedError if there is
        none."""
        with self._lock:
            opened = self._current
            if opened is None:
                raise AwaitedError("no copy of the index has been fetched yet")
            opened.users += 1
        try:
            yield opened.copy, opened.search
        finally:
            with self._lock:
                opened.users -= 1

    @contextmanager
    def _used(self) -> Iterator[TantivySearch]:
        with self.used() as (_, search):
            yield search


class FollowedTogether(CopiedSearch):
    """Searches the versions of several indexes as one. While one of them has none, everything raises AwaitedError. If
    two are the same index, everything raises InputError. Several threads may use it."""

    def __init__(self, parts: Sequence[FollowedSearch]) -> None:
        self._parts = tuple(parts)
        self._lock = Lock()
        self._opened: tuple[list[Path], TantivySearch] | None = None

    @contextmanager
    def _used(self) -> Iterator[TantivySearch]:
        with ExitStack() as stack:
            copies = [stack.enter_context(part.used())[0] for part in self._parts]
            folders = [copy.folder for copy in copies]
            with self._lock:
                if self._opened is None or self._opened[0] != folders:
                    self._opened = folders, open_together(copies)
                search = self._opened[1]
            yield search
