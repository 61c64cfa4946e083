"""A bounded memory: what was looked at longest ago is forgotten first."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Up to `most` values by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """What is known, and was looked at now; None if nothing is."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def get_or(self, key: Key, make: Callable[[], Value]) -> Value:
        """What is known, or else made now and known from now on."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        """In place of what was known."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def pop(self, key: Key) -> Value | None:
        """Forgets it; what was known, or None."""
        return self._values.pop(key, None)
