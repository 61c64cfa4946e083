"""Sitemaps, feeds and the Sitemap records of robots.txt → discoveries. Pure.

What they list is as deep as they are: nobody clicks through a sitemap. Instead `hops` counts the lists in a row, as it
counts redirects, and lists nest as sitemaps.org has it: an index names sitemaps, a sitemap or a feed names pages.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from goodbot.page.entries import ListKind
from goodbot.url import Url
from goodbot.values import Discovery, LeasedUrl, ListedUrl

SITEMAP_DEPTH: Final = 1
"""Of a sitemap that robots.txt names: one step from the site, so that a crawl of the seeds alone stays that."""

LISTS_MOST: Final = 5
"""Lists and redirects in a row: robots.txt, an index and a sitemap need two, and two redirects beside."""

_IN_INDEX: Final = 1
_IN_LIST: Final = 2
"""`Discovery.lists` of what an index names, and of what a sitemap or a feed does."""

_AHEAD_S: Final = 86_400.0
"""By how much a clock may be wrong. What is said to change later than that has not been seen to change."""

_PRIORITY_SPAN: Final = 10
"""From the lowest hint to the highest. 0.5, what a URL has of which nothing is said, is no hint."""

Refuse = Callable[[Url, int], str | None]


def not_followed(leased: LeasedUrl, kind: ListKind) -> str | None:
    """Why the list found at `leased` is not followed; None if it is."""
    if leased.lists and kind == "sitemap index":
        inside = "a sitemap index" if leased.lists == _IN_INDEX else "a sitemap or feed"
        return f"a sitemap index inside {inside}: the protocol allows one level"
    if leased.lists > _IN_INDEX:
        return f"a {kind} inside a sitemap or feed: these name pages, not lists"
    if leased.hops >= LISTS_MOST:
        return f"more than {LISTS_MOST} sitemaps, feeds and redirects in a row"
    return None


def discoveries_of(
    leased: LeasedUrl, kind: ListKind, listed: Iterable[ListedUrl], at: float, refuse: Refuse
) -> tuple[Discovery, ...]:
    """What the list at `leased`, fetched at `at`, makes known, with its hints; each URL once, as first listed."""
    depth, hops, source = leased.depth, leased.hops + 1, leased.url
    is_index = kind == "sitemap index"
    lists = _IN_INDEX if is_index else _IN_LIST
    first: dict[str, ListedUrl] = {}
    for item in listed:
        first.setdefault(item.url.text, item)
    return tuple(
        Discovery(
            item.url,
            depth,
            source,
            refuse(item.url, depth),
            leased.public_only,
            hops,
            priority=_hint(item.priority),
            modified_at=_past(item.modified_at, at),
            interval_s=item.interval_s,
            lists=lists,
            expects_list=is_index,
        )
        for item in first.values()
    )


def sitemaps_of(
    robots_txt: Url, sitemaps: Sequence[Url], refuse: Refuse, public_only: bool = False
) -> tuple[Discovery, ...]:
    """The sitemaps that a robots.txt names. `public_only`: a public host gave it."""
    return tuple(
        Discovery(url, SITEMAP_DEPTH, robots_txt, refuse(url, SITEMAP_DEPTH), public_only, expects_list=True)
        for url in dict.fromkeys(sitemaps)
    )


def _hint(priority: float | None) -> int:
    return 0 if priority is None else round((priority - 0.5) * _PRIORITY_SPAN)


def _past(modified_at: float | None, at: float) -> float | None:
    return modified_at if modified_at is not None and modified_at <= at + _AHEAD_S else None
