"""Reads the parameters of a search, and the languages of the reader, within limits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goodbot.errors import InputError

HITS_PER_PAGE = 10
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

    Raises InputError if the query is empty, or if the page is not a number from 1 to `MAX_PAGE`.
    """
    query = parameters.get("q", "").strip()
    if not query:
        raise InputError("the query is empty: type a word to search for")
    return SearchQuery(query, _page(parameters.get("page", "") or "1"))


def _page(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MAX_PAGE:
        return int(text)
    raise InputError(f"the page must be a whole number from 1 to {MAX_PAGE}")


def page_count(total: int) -> int:
    """Returns how many pages `total` hits fill, at most `MAX_PAGE`."""
    return min(-(-total // HITS_PER_PAGE), MAX_PAGE)


MAX_LANGUAGES = 10

_RANGE = re.compile(r"\s*([A-Za-z]{2})(?:-[A-Za-z0-9-]{1,32})?\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?")


def readers_languages(header: str) -> tuple[str, ...]:
    """Returns the languages of an Accept-Language header (RFC 9110 §12.5.4) as two-letter codes, the preferred one
    first, without regions."""
    found = [match for part in header.split(",")[: 4 * MAX_LANGUAGES] if (match := _RANGE.fullmatch(part))]
    wanted = sorted((match for match in found if float(match[2] or 1)), key=lambda match: -float(match[2] or 1))
    return tuple(dict.fromkeys(match[1].lower() for match in wanted))[:MAX_LANGUAGES]
