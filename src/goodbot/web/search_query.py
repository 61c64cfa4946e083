"""Reads the parameters of a search, within limits."""

from collections.abc import Mapping
from dataclasses import dataclass

from goodbot.errors import InputError

HITS_PER_PAGE = 10
MAX_QUERY_CHARS = 1000
MAX_PAGE = 100
"""The last page of results that is shown. A search ranks every document up to the page requested."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query, not empty and without surrounding spaces, and a page from 1 to `MAX_PAGE`."""

    query: str
    page: int

    @property
    def offset(self) -> int:
        """The number of hits before this page."""
        return (self.page - 1) * HITS_PER_PAGE


def read_search_query(parameters: Mapping[str, str]) -> SearchQuery:
    """Reads `q` and `page` (1 if missing).

    Raises InputError if the query is empty or too long, or if the page is not a number from 1 to `MAX_PAGE`.
    """
    query = parameters.get("q", "").strip()
    if not query:
        raise InputError("the query is empty: type a word to search for")
    if len(query) > MAX_QUERY_CHARS:
        raise InputError(f"the query is too long: {len(query):,} characters, {MAX_QUERY_CHARS:,} at most")
    return SearchQuery(query, _page(parameters.get("page", "") or "1"))


def _page(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MAX_PAGE:
        return int(text)
    raise InputError(f"the page must be a whole number from 1 to {MAX_PAGE}")


def page_count(total: int) -> int:
    """Returns how many pages `total` hits fill, at most `MAX_PAGE`."""
    return min(-(-total // HITS_PER_PAGE), MAX_PAGE)
