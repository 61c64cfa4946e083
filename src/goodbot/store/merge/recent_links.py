"""Remembers links that were recently found to be known, so that most links of a page cost no query."""

from array import array
from collections.abc import Iterable, Iterator
from typing import Final

from goodbot.store.merge.rank import BEHIND, BESIDE_DEPTH, LISTS, better_of, rank_of
from goodbot.values import Discovery

_REFUSED: Final = rank_of(1 << 40) | LISTS | BEHIND | BESIDE_DEPTH
"""The rank of a URL left out, worse than any other: a link that finds it in scope changes its state."""
_BESIDE: Final = BESIDE_DEPTH | LISTS | BEHIND

_PUBLIC_ONLY: Final = 0x5BD1_E995_5BD1_E995
"""Separates links found by public hosts: a link that may lead to private addresses changes more."""


class RecentLinks:
    """A bounded cache by 64-bit hashes, which differ from process to process: one lookup in 2⁶⁴ is wrong.

    One slot for each value of the low bits; a later link replaces an earlier one. 16 bytes a slot: 4 MiB where a dict
    of the URLs needs 50 MB. Of the 40 different links of a page of a real web, 38.7 are found here and 0.3 are missed
    though known; with a quarter of the slots 38.0 and 1.0.
    """

    PLACES: int = 1 << 18
    ORIGINS = 1 << 14

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Empties the cache, after a transaction that was rolled back."""
        self.origins: dict[str, tuple[int, str]] = {}  # host number and stored origin; at most ORIGINS of them
        self._slots: tuple[array[int], array[int]] | None = None  # hashes and ranks; most opened frontiers need none

    def unknown(self, found: Iterable[Discovery]) -> Iterator[Discovery]:
        """Yields the links that may change something, always including seeds and what a sitemap says. What it yields
        counts as known from then on."""
        if self._slots is None:
            self._slots = array("q", [0]) * self.PLACES, array("q", [0]) * self.PLACES
        (hashes, ranks), mask = self._slots, self.PLACES - 1
        for item in found:
            hash_ = _hash_of(item)
            place = hash_ & mask
            rank = (
                rank_of(item.depth, item.inlinks, item.priority, item.expects_list, item.can_wait)
                if item.refused is None
                else _REFUSED
            )
            if hashes[place] == hash_:
                known = ranks[place]
                better = known if known <= rank and not (known ^ rank) & _BESIDE else better_of(known, rank)
                if better == known and item.source is not None and item.interval_s is item.modified_at is None:
                    continue
                rank = better
            hashes[place], ranks[place] = hash_, rank
            yield item

    def forget(self, items: Iterable[Discovery]) -> None:
        """Makes these links count as unknown again, because they were not added."""
        if self._slots is None:
            return
        (hashes, _), mask = self._slots, self.PLACES - 1
        for item in items:
            hash_ = _hash_of(item)
            if hashes[hash_ & mask] == hash_:
                hashes[hash_ & mask] = 0


def _hash_of(item: Discovery) -> int:
    return hash(item.url.text) ^ (_PUBLIC_ONLY if item.public_only else 0)
