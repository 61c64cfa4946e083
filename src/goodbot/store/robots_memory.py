"""The robots.txt files of many origins in memory, within a bound: for programs that keep nothing."""

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from goodbot.exclusion import Access

MEMORY_BYTES: Final = 64 * 1024 * 1024
"""Of files kept, each counted with 1 kB for itself; those asked for longest ago are forgotten first."""


class RobotsMemory:
    """`RobotsStore`; what is forgotten is fetched again."""

    def __init__(self, limit_bytes: int = MEMORY_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[str, Access] = OrderedDict()
        self._bytes = 0

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        access = self._kept.get(origin)
        if access is None:
            return None
        self._kept.move_to_end(origin)
        return replace(access)

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        self._drop(origin)
        self._kept[origin] = replace(access)  # without the rules, which weigh up to 50 times as much
        self._bytes += _weight(access)
        while self._bytes > self._limit_bytes and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, origin: str) -> None:
        access = self._kept.pop(origin, None)
        if access is not None:
            self._bytes -= _weight(access)


def _weight(access: Access) -> int:
    return len(access.body) + 1024
