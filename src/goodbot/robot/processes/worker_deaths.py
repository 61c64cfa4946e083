"""Decides which page to charge for the death of a robot process, and when the crawl gives up.

The page that the process was reading when it died is charged. If it was reading none, its leased URLs are not charged,
unless the same URL was leased to one process after another that died so.
"""

from collections import deque
from dataclasses import replace
from signal import Signals
from typing import Final

from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.lru import LruCache
from goodbot.values import Event, LeasedUrl, Outcome

DEATHS_MOST: Final = 20
DEATHS_S: Final = 600.0
"""The crawl ends after more deaths than this in so many seconds, if no page was visited and no deadly page was found
meanwhile: the cause is not a page."""

KILLS_MOST: Final = 2
"""A page that killed so many processes is not read again."""

PRESENT_MOST: Final = 5
"""A URL that was leased at so many deaths without a known cause is charged a try for each further one."""

KILLS_THE_READER: Final = "kills the reader"
"""So begins the reason of the outcome of such a page."""

_REMEMBERED: Final = 4096


class WorkerDeaths:
    """The deaths of one run. Bounded memory, no I/O. Times in Unix seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last: deque[tuple[float, int]] = deque(maxlen=DEATHS_MOST + 1)
        self._unborn = 0
        self._settled = 0
        self._kills: LruCache[str, int] = LruCache(_REMEMBERED)
        self._host_kills: LruCache[str, int] = LruCache(_REMEMBERED)
        self._present: LruCache[str, int] = LruCache(_REMEMBERED)

    def count(self, now: float, visited: int, status: int | None, *, has_begun: bool) -> None:
        """One more, after `visited` pages of this run. Raises RunError if that is one too many."""
        progress = visited + self._settled
        self._last.append((now, progress))
        self._unborn = 0 if has_begun else self._unborn + 1
        since, before = self._last[0]
        stuck = len(self._last) > DEATHS_MOST and now - since <= DEATHS_S and progress == before
        if self._unborn > DEATHS_MOST:
            raise RunError(
                f"{self._unborn} robot processes in a row ended while they started, the last with {named(status)}"
            )
        if stuck:
            raise RunError(
                f"{DEATHS_MOST + 1} robot processes died and no page was visited meanwhile, the last process with "
                f"{named(status)}: giving up"
            )

    def killed(self, leased: LeasedUrl, status: int | None, now: float, ready_at: float) -> Outcome:
        """What becomes of the page a process was reading when it died."""
        kills = _one_more(self._kills, leased.url.text)
        why = f"the robot process ended while reading it ({named(status)})"
        if kills < KILLS_MOST:
            return self._charged(leased, why, now, ready_at)
        self._settled += 1
        return _failed(leased, f"{KILLS_THE_READER}: {why}, {kills} times", now)

    def host_kills(self, host: str) -> int:
        """How many processes died of pages of this host, the one just told of included."""
        return _one_more(self._host_kills, host)

    def present(self, leased: LeasedUrl, status: int | None, now: float, ready_at: float) -> Outcome | None:
        """What becomes of a URL that was in hand when a process died of something else; None: nothing."""
        if _one_more(self._present, leased.url.text) <= PRESENT_MOST:
            return None
        why = f"the robot process ended again while the URL was in hand ({named(status)})"
        return self._charged(leased, why, now, ready_at)

    def _charged(self, leased: LeasedUrl, why: str, now: float, ready_at: float) -> Outcome:
        outcome = _failed(leased, why, now)
        return outcome if outcome.tries >= self._settings.tries else replace(outcome, state="ready", ready_at=ready_at)


def named(status: int | None) -> str:
    """How a process ended: the signal, or its exit status."""
    if status is not None and -status in set(Signals):
        return f"signal {Signals(-status).name}"
    return f"status {status}"


def _failed(leased: LeasedUrl, why: str, now: float) -> Outcome:
    event = Event(now, "read", "lost", why)
    return Outcome(leased.url, "failed", now, why, tries=leased.tries + 1, events=(event,))


def _one_more(counts: LruCache[str, int], key: str) -> int:
    count = (counts.get(key) or 0) + 1
    counts.put(key, count)
    return count
