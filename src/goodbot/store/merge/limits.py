"""Limits that every frontier keeps, and the reasons it gives. Pure."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, TypeVar

from goodbot.human import counted
from goodbot.values import Event

MAX_DUE: Final = 1000
"""Pages of one host that become ready for a revisit at a time, those due longest first."""
MAX_INDEXED_PAGES: Final = 2000
"""Indexed pages of one host that a run loads, so that it recognizes their copies."""
MAX_LOOKED_AT: Final = 10_000
"""How many visited URLs of a host are looked through to find its indexed pages: more than are loaded, because there are
redirects and copies among them, which are not indexed. Takes at most 40 ms, once a run."""
MAX_LESSONS: Final = 1000
"""Lessons kept for one host; the oldest go first."""
MAX_VERSIONS: Final = 10
"""How many versions of one origin's robots.txt are kept."""
FIRST_URLS: Final = 2
"""How many URLs the first lease of a host has. It has only a few because a new host may use few: in a broad crawl most
hosts are new, and their robots.txt has to be fetched first."""
LISTS_S: Final = 86_400.0
"""Length of the period for which the limit of sitemaps and feeds holds. By default a sitemap index is visited again
after a day."""

_T = TypeVar("_T")


def lease_limit(most: int, can_use: int | None, *, sized: bool) -> int:
    """Returns how many URLs a lease may have: at most `most`. If leases are `sized`, also at most `can_use`, which the
    last `Release` of the host stated (None: nothing stated yet)."""
    return min(most, FIRST_URLS if can_use is None else can_use) if sized else most


def by_turns(pages: Sequence[_T], lists: Sequence[_T], turn: int) -> list[_T]:
    """Mixes both kinds one by one, then adds the rest of the longer one. Begins with a list if `turn` is 1."""
    pairs = zip_longest(lists, pages) if turn else zip_longest(pages, lists)
    return [item for pair in pairs for item in pair if item is not None]


def within(rows: Sequence[tuple[Any, ...]], most: int) -> list[tuple[Any, ...]]:
    """Returns the rows of URLs that are being revisited, and the first `most` of the others. The third column is the
    state before the revisit, 0 or None if there is none."""
    left = iter(range(most))
    return [row for row in rows if row[2] or next(left, None) is not None]


def budget_reason(most: int) -> str:
    """Returns why a URL is out of scope when its host has reached its limit of pages."""
    return f"its host has reached its limit of {counted(most, 'page')} (--host-pages {most})"


def lists_reason(most: int) -> str:
    """Returns why a sitemap or a feed is out of scope when its host has reached its limit of lists."""
    return (
        f"{most} sitemaps and feeds of its host were read within a day; this one is read in the next run, or when the"
        " sitemap index that names it is visited again"
    )


def found_events(
    at: float, source: str | None, depth: int, refused: str | None, *, public_only: bool = False
) -> tuple[Event, ...]:
    """Returns how a URL became known, and why it was left out if it was. A URL without a source that is `public_only`
    is from a visitor; other submissions are like seeds."""
    origin = f"{_LINKED_FROM}{source}" if source else "submitted by a visitor" if public_only else "seed or submitted"
    found = Event(at, "found", "known", f"{origin}, depth {depth}")
    return (found,) if refused is None else (found, Event(at, "scope", "out-of-scope", refused))


_LINKED_FROM: Final = "linked from "


def found_on(event: Event) -> str | None:
    """Returns the page, the sitemap or the robots.txt at which a URL was found, if the event (see `found_events`) names
    it."""
    if event.step != "found" or not event.reason.startswith(_LINKED_FROM):
        return None
    return event.reason.removeprefix(_LINKED_FROM).rpartition(", depth ")[0] or None
