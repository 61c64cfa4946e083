"""Orders the URLs of a host by one number: a smaller rank is fetched first.

Pages that can wait come after all others. Then depth decides, then how often a URL was linked to, then the hint given
with its links, then the order found, which is stored separately. All but the last are packed into one column, so that
one index yields the next URLs of a host. URLs where a sitemap is expected have a range of ranks of their own, after all
others, so that the two kinds can be read separately and take turns."""

from functools import lru_cache

MAX_PRIORITY = 127
"""Hints are cut to ±127; higher ones come first."""

_DEPTH_SHIFT = 13
BESIDE_DEPTH = 0x1FFF
"""The bits of in-links and hint."""

BEHIND = 1 << 47
"""The bit of pages that can wait; depth stays below it."""
LISTS = 1 << 48
"""URLs where a list is expected have ranks from here on."""

_INLINKS = 0x1F00
_PRIORITY = 0x00FF


@lru_cache(maxsize=4096)
def rank_of(depth: int, inlinks: int = 1, priority: int = 0, expects_list: bool = False, can_wait: bool = False) -> int:
    """Packs `depth`, the order of magnitude of in-links (1, 2–3, 4–7 …, one from 2³¹ on), and the hint, cut."""
    magnitude = min(max(inlinks, 1).bit_length() - 1, 31)
    hint = min(max(priority, -MAX_PRIORITY), MAX_PRIORITY)
    apart = (LISTS if expects_list else 0) | (BEHIND if can_wait else 0)
    return apart | depth << _DEPTH_SHIFT | (31 - magnitude) << 8 | (MAX_PRIORITY - hint)


def better_of(one: int, other: int) -> int:
    """Combines the smaller depth, the larger number of in-links and the higher hint of both ranks. The result expects a
    list only if both do."""
    depth = min(depth_of(one), depth_of(other)) << _DEPTH_SHIFT
    return (
        one & other & (LISTS | BEHIND)
        | depth
        | min(one & _INLINKS, other & _INLINKS)
        | min(one & _PRIORITY, other & _PRIORITY)
    )


def depth_of(rank: int) -> int:
    """Returns the depth in a rank."""
    return (rank & ~(LISTS | BEHIND)) >> _DEPTH_SHIFT
