"""Keeps robots.txt files of many origins in bounded memory, for programs that store nothing."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from goodbot.exclusion import Access
from goodbot.lru import LruCache

MEMORY_BYTES: Final = 64 * 1024 * 1024
"""Limit for the files kept; each counts 1 kB more than its size."""


class MemoryRobots:
    """A `RobotsStore`. A file that was dropped is fetched again."""

    def __init__(self, limit_bytes: int = MEMORY_BYTES) -> None:
        self._kept: LruCache[str, Access] = LruCache(limit_bytes=limit_bytes, weigh=_weight)

    def load_robots(self, origin: str) -> Access | None:
        """See `RobotsStore.load_robots`."""
        access = self._kept.get(origin)
        return None if access is None else replace(access)

    def load_all_robots(self, origins: Iterable[str]) -> dict[str, Access]:
        """See `RobotsStore.load_all_robots`."""
        found = ((origin, self.load_robots(origin)) for origin in dict.fromkeys(origins))
        return {origin: access for origin, access in found if access is not None}

    def save_robots(self, origin: str, access: Access) -> None:
        """See `RobotsStore.save_robots`."""
        self._kept.put(origin, replace(access))  # without the compiled rules, which take up to 50 times as much memory


def _weight(access: Access) -> int:
    return len(access.body) + 1024
