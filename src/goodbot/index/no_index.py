"""Implements `Search` for a crawl without an index."""

from collections.abc import Sequence

from goodbot.errors import NoIndexError
from goodbot.search_values import Results


class NoSearch:
    """A `Search` whose searches raise NoIndexError with the reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def search(self, query: str, limit: int = 10, offset: int = 0, languages: Sequence[str] = ()) -> Results:
        """Always raises NoIndexError."""
        raise NoIndexError(self._reason)

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns nothing."""
        return ()

    def count(self) -> int:
        """Returns 0."""
        return 0
