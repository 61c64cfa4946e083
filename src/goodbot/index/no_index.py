"""Implements `Search` for a crawl that keeps no index, and for one whose index does not exist yet."""

from collections.abc import Callable, Sequence

from goodbot.errors import NoIndexError
from goodbot.index.filters import read_filters, with_filters
from goodbot.index.query import check_asked, explain_query, parse_query
from goodbot.ports import Search
from goodbot.search_values import NO_FILTERS, Choices, Explanation, Filters, Results


class EmptySearch:
    """A `Search` of an index without documents."""

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Finds nothing. Raises InputError as any search does."""
        check_asked(query, limit, offset)
        parsed = with_filters(parse_query(query), read_filters(filters))
        return Results(query, 0, 0.0, listed=0, searched_for=explain_query(parsed), notes=parsed.notes)

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Returns None. Raises InputError as `search` does."""
        self.search(query, filters=filters)
        return None

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns nothing."""
        return ()

    def choices(self) -> Choices:
        """Returns no choices."""
        return Choices()

    def count(self) -> int:
        """Returns 0."""
        return 0


class NoSearch(EmptySearch):
    """The same, except that searches and explanations raise NoIndexError with the reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Always raises NoIndexError."""
        raise NoIndexError(self._reason)

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Always raises NoIndexError."""
        raise NoIndexError(self._reason)


class AwaitedSearch:
    """A `Search` of an index that a crawl has yet to make: until then it finds nothing. `open_index` opens the index;
    it returns None if there is none yet, and raises what `Search` may raise. Several threads may use it."""

    def __init__(self, open_index: Callable[[], Search | None]) -> None:
        self._open = open_index
        self._opened: Search | None = None

    def _search(self) -> Search:
        if self._opened is not None:
            return self._opened
        opened = self._open()
        if opened is None:
            return EmptySearch()
        self._opened = opened
        return opened

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Searches the index, if there is one."""
        return self._search().search(query, limit, offset, languages, filters)

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Explains the place of a page, if there is an index."""
        return self._search().explain(query, url, languages, filters)

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns completions, if there is an index."""
        return self._search().suggest(typed, limit)

    def choices(self) -> Choices:
        """Returns the values that filters may have, if there is an index."""
        return self._search().choices()

    def count(self) -> int:
        """Returns the number of documents; 0 while there is no index."""
        return self._search().count()
