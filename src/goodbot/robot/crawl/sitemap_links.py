"""Turns sitemaps, feeds and the Sitemap records of robots.txt into discoveries. Pure.

The URLs of a list have the depth of the list, since readers do not click through a sitemap. Instead `hops` counts lists
in a row, as it counts redirects, and lists nest as sitemaps.org defines: an index names sitemaps, a sitemap or a feed
names pages.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from goodbot.page.entries import ListKind
from goodbot.url import Url
from goodbot.values import Discovery, LeasedUrl, ListedUrl

SITEMAP_DEPTH: Final = 1
"""The depth of a sitemap that robots.txt names. It is not 0, so that a crawl with depth 0 visits the seeds only."""

MAX_LISTS: Final = 5
"""Lists and redirects allowed in a row: an index and a sitemap are two, and some redirects may come in between."""

_IN_INDEX: Final = 1
_IN_LIST: Final = 2
"""`Discovery.lists` of the URLs in a sitemap index, and of those in a sitemap or feed."""

_MAX_CLOCK_ERROR_S: Final = 86_400.0
"""How far the clock of a server may be ahead. A change stated for later than that is ignored."""

_PRIORITY_SPAN: Final = 10
"""The range of hints. Priority 0.5, the default of sitemaps.org, is hint 0."""

Refuse = Callable[[Url, int], str | None]


def list_refusal(leased: LeasedUrl, kind: ListKind) -> str | None:
    """Why the URLs of the list at `leased` are not followed; None if they are."""
    if leased.lists and kind == "sitemap index":
        inside = "a sitemap index" if leased.lists == _IN_INDEX else "a sitemap or feed"
        return f"a sitemap index inside {inside}: the protocol allows one level"
    if leased.lists > _IN_INDEX:
        return f"a {kind} inside a sitemap or feed: these name pages, not lists"
    if leased.hops >= MAX_LISTS:
        return f"more than {MAX_LISTS} sitemaps, feeds and redirects in a row"
    return None


def discoveries_of(
    leased: LeasedUrl, kind: ListKind, listed: Iterable[ListedUrl], at: float, refuse: Refuse
) -> tuple[Discovery, ...]:
    """Returns the URLs of the list at `leased`, fetched at `at`, with their hints. Each URL counts once, as first
    listed."""
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
            priority=_priority_of(item.priority),
            modified_at=_plausible_change(item.modified_at, at),
            interval_s=item.interval_s,
            lists=lists,
            expects_list=is_index,
        )
        for item in first.values()
    )


def sitemaps_of(
    robots_txt: Url, sitemaps: Sequence[Url], refuse: Refuse, public_only: bool = False
) -> tuple[Discovery, ...]:
    """Returns the sitemaps that a robots.txt names, each once. `public_only`: a public host sent it."""
    return tuple(
        Discovery(url, SITEMAP_DEPTH, robots_txt, refuse(url, SITEMAP_DEPTH), public_only, expects_list=True)
        for url in dict.fromkeys(sitemaps)
    )


def _priority_of(priority: float | None) -> int:
    return 0 if priority is None else round((priority - 0.5) * _PRIORITY_SPAN)


def _plausible_change(modified_at: float | None, at: float) -> float | None:
    return modified_at if modified_at is not None and modified_at <= at + _MAX_CLOCK_ERROR_S else None
