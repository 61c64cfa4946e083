"""A cache of bounded size that removes the least recently used values first."""

import sys
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_MIN_SHARE: Final = 8


def share_of(most: int, processes: int) -> int:
    """Returns how many values each of `processes` worker processes may keep, if a crawl may keep `most`. Each host
    belongs to one process, and some hosts need much more than others, so the share is never less than an eighth."""
    return -(-most // min(processes, _MIN_SHARE))


class LruCache(Generic[Key, Value]):
    """Keeps up to `most` values by key, of at most `limit_bytes` together. `weigh` returns the bytes of a value when it
    is put. The last value put is kept, whatever it weighs.

    When a limit is exceeded, the least recently used values are removed until an eighth of the limit is free. So a
    plain dict can keep the values in the order of use: an entry takes 110 bytes, in an `OrderedDict` 170. (Removing
    only the first entry each time would be slow, since a dict finds it by passing the places of all those removed
    before.)

    The cache stores only a 64-bit hash of each key, so a long URL takes no more memory than a short one. Python chooses
    the hashes of text at random when it starts, so a site cannot choose two keys with the same hash.
    """

    def __init__(
        self, most: int = sys.maxsize, *, limit_bytes: int = sys.maxsize, weigh: Callable[[Value], int] | None = None
    ) -> None:
        self._most = most
        self._limit_bytes = limit_bytes
        self._weigh = weigh
        self._values: dict[int, Value] = {}
        self._weights: dict[int, int] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return hash(key) in self._values

    def get(self, key: Key) -> Value | None:
        """Returns the value and marks it as used now; None if there is none."""
        key_hash = hash(key)
        known = self._values.pop(key_hash, None)
        if known is not None:
            self._values[key_hash] = known
        return known

    def values(self) -> Iterator[Value]:
        """Returns all values without marking them as used."""
        return iter(self._values.values())

    def get_or(self, key: Key, make: Callable[[], Value]) -> Value:
        """Returns the value; if there is none, makes one and keeps it."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keeps a value; it replaces an earlier one of the key. Put a value again when its weight has changed."""
        self.pop(key)
        key_hash = hash(key)
        self._values[key_hash] = value
        if self._weigh is not None:
            self._weights[key_hash] = weight = self._weigh(value)
            self.bytes += weight
        if len(self._values) > self._most or self.bytes > self._limit_bytes:
            self._make_room()

    def clear(self) -> None:
        """Removes all values."""
        self._values.clear()
        self._weights.clear()
        self.bytes = 0

    def pop(self, key: Key) -> Value | None:
        """Removes a value and returns it; None if there is none."""
        key_hash = hash(key)
        self.bytes -= self._weights.pop(key_hash, 0)
        return self._values.pop(key_hash, None)

    def _make_room(self) -> None:
        most, limit_bytes = (limit - limit // 8 for limit in (self._most, self._limit_bytes))
        for oldest in list(self._values)[:-1]:
            if len(self._values) <= most and self.bytes <= limit_bytes:
                return
            del self._values[oldest]
            self.bytes -= self._weights.pop(oldest, 0)
