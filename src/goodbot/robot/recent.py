"""A bounded memory: what was looked at longest ago is forgotten first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


_PART_LEAST: Final = 8


def part_of(most: int, processes: int) -> int:
    """What one of so many robot processes may keep where a crawl may keep `most`: each host belongs to one of them. An
    eighth at least, since hosts are not alike."""
    return -(-most // min(processes, _PART_LEAST))


class Recent(Generic[Key, Value]):
    """Up to `most` values by key, of at most `limit_bytes` together, as `weigh` has it when they are put; the last one
    put is kept whatever it weighs.

    Of a key only its hash is kept: of 64 bits, and for text another one in each process, so that nobody can choose two
    keys that are confused. So a key weighs the same however long a URL is.
    """

    def __init__(
        self, most: int, *, limit_bytes: float = float("inf"), weigh: Callable[[Value], int] | None = None
    ) -> None:
        self._most = most
        self._limit_bytes = limit_bytes
        self._weigh = weigh
        self._bytes = 0
        self._values: OrderedDict[int, Value] = OrderedDict()
        self._weights: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """What is known, and was looked at now; None if nothing is."""
        mark = hash(key)
        known = self._values.get(mark)
        if known is not None:
            self._values.move_to_end(mark)
        return known

    def values(self) -> Iterator[Value]:
        """All of them, not looked at by this."""
        return iter(self._values.values())

    def get_or(self, key: Key, make: Callable[[], Value]) -> Value:
        """What is known, or else made now and known from now on."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        """In place of what was known."""
        self.pop(key)
        mark = hash(key)
        self._values[mark] = value
        if self._weigh is not None:
            self._weights[mark] = weight = self._weigh(value)
            self._bytes += weight
        while len(self._values) > self._most or (self._bytes > self._limit_bytes and len(self._values) > 1):
            oldest, _ = self._values.popitem(last=False)
            self._bytes -= self._weights.pop(oldest, 0)

    def pop(self, key: Key) -> Value | None:
        """Forgets it; what was known, or None."""
        mark = hash(key)
        self._bytes -= self._weights.pop(mark, 0)
        return self._values.pop(mark, None)
