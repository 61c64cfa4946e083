"""What was asked: the parameters of a search, read and bounded."""

from collections.abc import Mapping
from dataclasses import dataclass

from goodbot.errors import InputError

HITS_PER_PAGE = 10
MAX_QUERY_CHARS = 1000
MAX_PAGE = 100
"""1,000 hits can be looked at: a search ranks as many documents as lie before the page asked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query without surrounding blanks, not empty, and a page from 1 to `MAX_PAGE`."""

    query: str
    page: int

    @property
    def offset(self) -> int:
        """How many hits lie before this page."""
        return (self.page - 1) * HITS_PER_PAGE


def read_question(parameters: Mapping[str, str]) -> Question:
    """The question in `q` and `page` (1 if missing).

    Raises InputError if the query is empty or too long, or the page is none that can be shown.
    """
    query = parameters.get("q", "").strip()
    if not query:
        raise InputError("the query is empty: type a word to search for")
    if len(query) > MAX_QUERY_CHARS:
        raise InputError(f"the query is too long: {len(query):,} characters, {MAX_QUERY_CHARS:,} at most")
    return Question(query, _page(parameters.get("page", "") or "1"))


def _page(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MAX_PAGE:
        return int(text)
    raise InputError(f"the page must be a whole number from 1 to {MAX_PAGE}")


def page_count(total: int) -> int:
    """How many pages so many hits fill, `MAX_PAGE` at most."""
    return min(-(-total // HITS_PER_PAGE), MAX_PAGE)
