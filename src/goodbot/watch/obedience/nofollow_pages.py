"""Which pages asked robots not to follow their links, and when."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from goodbot.exclusion import Directives
from goodbot.watch.obedience.rules_in_force import GRACE_S

_WORDS: Final = ("nofollow", "none")


class PageCopy(NamedTuple):
    """What a page said to robots when it was fetched."""

    url: str
    at: float
    """Unix seconds."""
    metas: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]


class NofollowPages:
    """The pages of which a copy has nofollow, with all their copies.

    A log shows that a robot followed a link only if the robot sends a Referer.
    """

    def __init__(self, copies: Iterable[PageCopy]) -> None:
        by_url: dict[str, list[PageCopy]] = {}
        for copy in sorted(copies, key=lambda copy: copy.at):
            by_url.setdefault(copy.url, []).append(copy)
        self._copies = {url: found for url, found in by_url.items() if any(map(_may_forbid, found))}
        self._answers: dict[tuple[PageCopy, str], bool] = {}

    @property
    def urls(self) -> frozenset[str]:
        """The URLs of these pages."""
        return frozenset(self._copies)

    def forbids(self, url: str, robot: str, at: float) -> bool:
        """Whether a robot (its product token) may not follow the links of a page at a time, Unix seconds. All copies
        count that the robot may have read: the last one before, the next one, and those of the last 24 hours."""
        copies = self._copies.get(url, [])
        last = bisect_right(copies, at, key=lambda copy: copy.at) - 1
        if last < 0:
            return False
        first = max(bisect_right(copies, at - GRACE_S, key=lambda copy: copy.at) - 1, 0)
        return all(self._says_nofollow(copy, robot) for copy in copies[first : last + 2])

    def _says_nofollow(self, copy: PageCopy, robot: str) -> bool:
        answer = self._answers.get((copy, robot))
        if answer is None:
            answer = not Directives.parse(copy.metas, copy.headers, robot).follow
            self._answers[copy, robot] = answer
        return answer


def _may_forbid(copy: PageCopy) -> bool:
    return any(word in value.lower() for _, value in (*copy.metas, *copy.headers) for word in _WORDS)
