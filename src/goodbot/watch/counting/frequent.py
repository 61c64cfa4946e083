"""Keeps the most frequent items of a stream in bounded memory (Misra-Gries).

Misra, Gries: Finding repeated elements, 1982; Agarwal et al.: Mergeable Summaries, 2012. Whichever way a stream is cut
into blocks, an item with more than `requests / (kept + 1)` requests is kept, and its count is too low by `error` at
most.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

MARGIN: Final = 2
"""How many times `kept` items are held before they are reduced."""


@dataclass(slots=True)
class FrequentItems:
    """Counts of the most frequent items. Counts are exact as long as `error` is 0."""

    kept: int
    counts: dict[str, int] = field(default_factory=dict)
    error: int = 0

    def add(self, counts: Mapping[str, int], error: int = 0) -> None:
        """Adds counts, which may be too low by `error`."""
        mine, get = self.counts, self.counts.get
        for item, count in counts.items():
            mine[item] = get(item, 0) + count
        self.error += error
        if len(mine) > MARGIN * self.kept:
            self.counts, cut = reduced(mine, self.kept)
            self.error += cut

    def top(self, most: int) -> list[tuple[str, int]]:
        """Returns the most frequent items with their counts, equal ones by name."""
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]


def reduced(counts: Mapping[str, int], kept: int) -> tuple[dict[str, int], int]:
    """Returns at most `kept` of the counts, each reduced by the largest count that is left out, and that count."""
    if len(counts) <= kept:
        return dict(counts), 0
    cut = nlargest(kept + 1, counts.values())[-1]
    return {item: count - cut for item, count in counts.items() if count > cut}, cut
