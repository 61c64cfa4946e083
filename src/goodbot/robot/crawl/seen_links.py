"""Which URLs were found lately: most links of a page were, and need not be judged or sent to the frontier again."""

from collections.abc import Iterable
from typing import Final

from goodbot.url import Url

LATELY_MOST: Final = 1 << 15
"""Of each of two generations; the older goes when the younger is full, and what one page adds may be more. About 9 MB
for both, however long the URLs are."""

_COUNT_BITS: Final = 32
_COUNT_MASK: Final = (1 << _COUNT_BITS) - 1


class SeenLinks:
    """A bounded memory of URLs: how deep they were found at least, and how often.

    URLs are known by a hash of 64 bits that differs from process to process: nobody can choose two that are confused.
    It knows nothing of what was committed. That is sound as long as what one process finds is committed in the order
    found, and a process that fails to commit ends.
    """

    def __init__(self, most: int = LATELY_MOST) -> None:
        self._most = most
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def news(self, urls: Iterable[Url], depth: int) -> list[tuple[Url, int]]:
        """Those the frontier is to hear of, found `depth` links away from a seed, and how often each was found so far.

        It is to hear of a URL found for the first time, found less deep than before, or found for the 2nd, 4th, 8th…
        time.
        """
        # One loop, since it is passed for every link of every page: 0.35 µs each, with a call 0.8.
        news = []
        young, old, place = self._young, self._old, depth << _COUNT_BITS
        for url in urls:
            key = hash(url.text)
            known = young.get(key)
            if known is None and (known := old.get(key)) is None:
                young[key] = place | 1
                news.append((url, 1))
                continue
            count = (known & _COUNT_MASK) + 1
            if place < known - count + 1:  # less deep
                young[key] = place | count
                news.append((url, count))
                continue
            young[key] = known + 1
            if not count & (count - 1):
                news.append((url, count))
        if len(young) >= self._most:
            self._old, self._young = young, {}
        return news
