"""Limits how fast requests may come, with a token bucket for each key and bounded memory.

A bucket is one number, the time at which it would be full again (generic cell rate algorithm, ITU-T I.371). So a bucket
that nobody uses changes nothing when it is forgotten once it is full.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from goodbot.lru import LruCache

_SMALLEST_S: Final = 1e-9


class Bucket(NamedTuple):
    """A token bucket: one request each `gap_s` seconds on average, and `burst` at once. A request may come `early_s`
    before its time: networks do not keep distances."""

    key: tuple[Any, ...]
    """Begins with the kind of the limit."""
    gap_s: float
    burst: int = 1
    early_s: float = 0.0


class RateLimits:
    """The buckets that were used last, `most` at most. Times are those of a clock that never goes back, in seconds."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._due: LruCache[Hashable, float] = LruCache(most)

    def __len__(self) -> int:
        return len(self._due)

    def resize(self, most: int) -> None:
        """Changes how many buckets are kept. If that is another number, all begin anew."""
        if most != self._most:
            self._most, self._due = most, LruCache(most)

    def take(self, buckets: Sequence[Bucket], now: float) -> float:
        """Takes one token out of each bucket and returns 0; if one has none, takes nothing, and returns after how many
        seconds all have one. Takes about 2 µs for a bucket."""
        waits = [self.wait_s(bucket, now) for bucket in buckets]
        if (longest := max(waits, default=0.0)) > _SMALLEST_S:
            return longest
        for bucket in buckets:
            self._due.put(bucket.key, max(self._due.get(bucket.key) or -math.inf, now) + bucket.gap_s)
        return 0.0

    def wait_s(self, bucket: Bucket, now: float) -> float:
        """Returns after how many seconds a bucket has a token; 0 or less if it has one."""
        due = self._due.get(bucket.key)
        if due is None:
            return 0.0
        return due - now - bucket.gap_s * (bucket.burst - 1) - bucket.early_s
