"""The search of a crawl that keeps no index."""

from goodbot.errors import InputError
from goodbot.search_values import Results


class NoSearch:
    """`Search` that finds nothing, and says why."""

    def __init__(self, why: str) -> None:
        self._why = why

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Raises InputError, always."""
        raise InputError(self._why)

    def count(self) -> int:
        """None can be found."""
        return 0
