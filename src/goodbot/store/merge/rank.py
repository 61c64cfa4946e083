"""The order of URLs within a host, as one number: the smaller is asked first.

Pages that can wait come behind all others. Then depth decides, then how often a URL was linked to, then the hint given
with its links, then the order found, which is kept beside it. All are merged into one column, so that one index gives
the next URLs of a host. URLs where a sitemap is expected are ranked apart, behind all others: they take turns with
these.
"""

from functools import lru_cache

PRIORITY_MOST = 127
"""Hints are cut to ±127, the higher first."""

_DEPTH_SHIFT = 13
BESIDE_DEPTH = 0x1FFF
"""The bits of in-links and hint."""

BEHIND = 1 << 47
"""The bit of pages that can wait; depth stays below."""
LISTS = 1 << 48
"""From here on the ranks of URLs where a list is expected."""

_INLINKS = 0x1F00
_PRIORITY = 0x00FF


@lru_cache(maxsize=4096)
def rank_of(depth: int, inlinks: int = 1, priority: int = 0, expects_list: bool = False, can_wait: bool = False) -> int:
    """`depth` as it is, in-links by their order of magnitude (1, 2–3, 4–7 … from 2³¹ on one), the hint cut."""
    magnitude = min(max(inlinks, 1).bit_length() - 1, 31)
    hint = min(max(priority, -PRIORITY_MOST), PRIORITY_MOST)
    apart = (LISTS if expects_list else 0) | (BEHIND if can_wait else 0)
    return apart | depth << _DEPTH_SHIFT | (31 - magnitude) << 8 | (PRIORITY_MOST - hint)


def better_of(one: int, other: int) -> int:
    """The smallest depth, the most in-links and the highest hint of both; a page, unless both expect a list."""
    depth = min(depth_of(one), depth_of(other)) << _DEPTH_SHIFT
    return (
        one & other & (LISTS | BEHIND)
        | depth
        | min(one & _INLINKS, other & _INLINKS)
        | min(one & _PRIORITY, other & _PRIORITY)
    )


def depth_of(rank: int) -> int:
    """The depth a rank was made of."""
    return (rank & ~(LISTS | BEHIND)) >> _DEPTH_SHIFT
