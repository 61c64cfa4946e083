"""Remembers the URLs found recently. Most links of a page are among them, and need not be judged or sent to the
frontier again."""

from collections.abc import Iterable
from typing import Final

from goodbot.url import Url

MAX_RECENT_URLS: Final = 1 << 15
"""URLs in each of two generations. The older one is dropped when the younger is full; one page may exceed the limit.
Both take about 5 MB, however long the URLs are."""

_COUNT_BITS: Final = 32
_COUNT_MASK: Final = (1 << _COUNT_BITS) - 1


class SeenLinks:
    """Remembers, for a bounded number of URLs, their lowest depth and how often they were found.

    URLs are represented by a 64-bit hash that differs between processes, so no site can choose two URLs that collide.
    The memory does not depend on commits. That is sound as long as the links found by one process are committed in the
    order found, and a process that fails to commit ends.
    """

    def __init__(self, most: int = MAX_RECENT_URLS) -> None:
        self._most = most
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def new(self, urls: Iterable[Url], depth: int) -> list[tuple[Url, int]]:
        """Returns the URLs to send to the frontier, found `depth` links away from a seed, with how often each was
        found.

        These are the URLs found for the first time, at a lower depth than before, or for the 2nd, 4th, 8th… time.
        """
        # One loop without calls, since it runs for every link of every page: 0.35 µs each; with a call 0.8.
        new = []
        young, old, place = self._young, self._old, depth << _COUNT_BITS
        once = place | 1  # one object for all: most URLs are found once
        for url in urls:
            key = hash(url.text)
            known = young.get(key)
            if known is None and (known := old.get(key)) is None:
                young[key] = once
                new.append((url, 1))
                continue
            count = (known & _COUNT_MASK) + 1
            if place < known - count + 1:  # at a lower depth
                young[key] = place | count
                new.append((url, count))
                continue
            young[key] = known + 1
            if not count & (count - 1):
                new.append((url, count))
        if len(young) >= self._most:
            self._old, self._young = young, {}
        return new
