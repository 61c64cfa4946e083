"""A bounded memory: the value that was used longest ago is forgotten first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from math import inf
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_SHARE_LEAST: Final = 8


def share_of(most: int, processes: int) -> int:
    """What one of several robot processes may keep of what a crawl may keep. Each host belongs to one process, and
    hosts differ, so it is never less than an eighth."""
    return -(-most // min(processes, _SHARE_LEAST))


class LruCache(Generic[Key, Value]):
    """Keeps up to `most` values by key, of at most `limit_bytes` together. `weigh` gives the bytes of a value when it
    is put. The last value put is kept, whatever it weighs.

    Only a hash of a key is kept, of 64 bits. For text it differs from process to process, so a site cannot choose two
    keys that are confused. So a key weighs the same, however long its URL is.
    """

    def __init__(
        self, most: float = inf, *, limit_bytes: float = inf, weigh: Callable[[Value], int] | None = None
    ) -> None:
        self._most = most
        self._limit_bytes = limit_bytes
        self._weigh = weigh
        self._values: OrderedDict[int, Value] = OrderedDict()
        self._weights: dict[int, int] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return hash(key) in self._values

    def get(self, key: Key) -> Value | None:
        """Returns the value, which counts as used now; None if there is none."""
        mark = hash(key)
        known = self._values.get(mark)
        if known is not None:
            self._values.move_to_end(mark)
        return known

    def values(self) -> Iterator[Value]:
        """Returns all values, which does not count as using them."""
        return iter(self._values.values())

    def get_or(self, key: Key, make: Callable[[], Value]) -> Value:
        """Returns the value; makes and keeps one if there is none."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keeps a value in place of the one before. A value whose weight has changed is put again."""
        self.pop(key)
        mark = hash(key)
        self._values[mark] = value
        if self._weigh is not None:
            self._weights[mark] = weight = self._weigh(value)
            self.bytes += weight
        while len(self._values) > self._most or (self.bytes > self._limit_bytes and len(self._values) > 1):
            oldest, _ = self._values.popitem(last=False)
            self.bytes -= self._weights.pop(oldest, 0)

    def clear(self) -> None:
        """Forgets all values."""
        self._values.clear()
        self._weights.clear()
        self.bytes = 0

    def pop(self, key: Key) -> Value | None:
        """Forgets a value and returns it; None if there is none."""
        mark = hash(key)
        self.bytes -= self._weights.pop(mark, 0)
        return self._values.pop(mark, None)
