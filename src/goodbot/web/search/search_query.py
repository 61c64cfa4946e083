"""Reads the parameters of a search, and the languages of the reader, within limits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from goodbot.errors import InputError
from goodbot.search_values import NO_FILTERS, Filters, Results

HITS_PER_PAGE = 10
MAX_PAGE = 100
"""The last page of results that is shown. A search ranks every document up to the page requested."""


PARAMETERS: Final = MappingProxyType(
    {"site": "site", "lang": "language", "type": "filetype", "after": "after", "before": "before"}
)
"""The parameters of a URL that are filters, each with its name in `Filters`."""
OTHERS: Final = "others"
"""The parameter of a URL that includes other services in a search, if it is 1."""
WITHIN: Final = "within"
"""The form's shorthand for dates: see `settled_filters`."""
PERIODS: Final = MappingProxyType({"day": 1, "week": 7, "month": 30, "year": 365})
"""The values of `WITHIN`, in days."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query, not empty and without surrounding spaces, a page from 1 to `MAX_PAGE`, and the filters. The values of
    filters are as typed. `others`: the visitor wants other services to be searched too."""

    query: str
    page: int
    filters: Filters = NO_FILTERS
    others: bool = False

    @property
    def offset(self) -> int:
        """The number of hits before this page."""
        return (self.page - 1) * HITS_PER_PAGE

    @property
    def state(self) -> dict[str, str]:
        """The parameters of the URL of the first page."""
        return search_state(self.query, self.filters, others=self.others)


def search_state(query: str, filters: Filters, *, others: bool = False) -> dict[str, str]:
    """Returns the parameters of the URL of a search."""
    given = {name: getattr(filters, field) for name, field in PARAMETERS.items()}
    return {"q": query, **{name: value for name, value in given.items() if value}, **({OTHERS: "1"} if others else {})}


def read_search_query(parameters: Mapping[str, str]) -> SearchQuery:
    """Reads `q`, `page` (1 if missing), the filters and `others`.

    Raises InputError if the query is empty, if the page is not a number from 1 to `MAX_PAGE`, or if `others` has
    another value than 1. The search checks the values of filters.
    """
    query = parameters.get("q", "").strip()
    if not query:
        raise InputError("the query is empty: type a word to search for")
    page = _page(parameters.get("page", "") or "1")
    return SearchQuery(query, page, read_filters(parameters), read_others(parameters))


def read_others(parameters: Mapping[str, str]) -> bool:
    """Reads whether other services are to be searched too. Raises InputError for any value but 1."""
    value = parameters.get(OTHERS, "").strip()
    if value not in ("", "1"):
        raise InputError("others must be 1, or left out")
    return bool(value)


def read_filters(parameters: Mapping[str, str]) -> Filters:
    """Reads the filters, without surrounding spaces."""
    return Filters(**{field: parameters.get(name, "").strip() for name, field in PARAMETERS.items()})


def settled_filters(parameters: Mapping[str, str], today: date) -> Filters | None:
    """Returns the filters of a form, with dates instead of a period such as `week`, which would mean other days
    tomorrow. None if the form of filters was not sent. Raises InputError for an unknown period."""
    if WITHIN not in parameters:
        return None
    filters, period = read_filters(parameters), parameters[WITHIN].strip()
    if not period:
        return filters
    if period not in PERIODS:
        raise InputError("the period must be day, week, month or year")
    return replace(filters, after=(today - timedelta(days=PERIODS[period])).isoformat(), before="")


def _page(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= MAX_PAGE:
        return int(text)
    raise InputError(f"the page must be a whole number from 1 to {MAX_PAGE}")


def page_count(total: int) -> int:
    """Returns how many pages `total` hits fill, at most `MAX_PAGE`."""
    return min(-(-total // HITS_PER_PAGE), MAX_PAGE)


def pages_of(found: Results) -> int:
    """Returns the number of pages of results. Translations and copies, which are one hit, count once if it is known how
    many hits there are."""
    return page_count(found.total if found.listed is None else found.listed)
