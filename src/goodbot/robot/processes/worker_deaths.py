"""Decides which page to charge for the death of a worker, and when the crawl gives up.

The page that the worker was reading when it died is charged: the death counts as a failed try of it. If the worker was
reading none, its leased URLs are not charged, unless several workers died while the same URL was leased to them.
"""

from collections import deque
from dataclasses import replace
from signal import Signals
from typing import Final

from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.lru import LruCache
from goodbot.values import Event, LeasedUrl, Outcome

MAX_DEATHS: Final = 20
DEATHS_PERIOD_S: Final = 600.0
"""The crawl ends after more than `MAX_DEATHS` deaths in this many seconds, if no page was visited and no deadly page
was found in between: then the cause is not a page."""

MAX_KILLS: Final = 2
"""A page that killed this many workers is not read again."""

MAX_UNEXPLAINED_DEATHS: Final = 5
"""A URL that was leased at this many deaths without a known cause is charged a try for each further death."""

KILLS_THE_READER: Final = "kills the reader"
"""The reason in the outcome of a page that is not read again begins with these words."""

_MAX_REMEMBERED: Final = 4096


class WorkerDeaths:
    """Counts the deaths of one run, in bounded memory and without I/O. Times are Unix seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last: deque[tuple[float, int]] = deque(maxlen=MAX_DEATHS + 1)
        self._failed_starts = 0
        self._failed_pages = 0
        self._kills: LruCache[str, int] = LruCache(_MAX_REMEMBERED)
        self._host_kills: LruCache[str, int] = LruCache(_MAX_REMEMBERED)
        self._unexplained: LruCache[str, int] = LruCache(_MAX_REMEMBERED)

    def count(self, now: float, visited: int, status: int | None, *, has_begun: bool) -> None:
        """Counts a death. `visited`: how many pages the crawl has visited in this run. Raises RunError if this death is
        one too many."""
        progress = visited + self._failed_pages
        self._last.append((now, progress))
        self._failed_starts = 0 if has_begun else self._failed_starts + 1
        since, before = self._last[0]
        stuck = len(self._last) > MAX_DEATHS and now - since <= DEATHS_PERIOD_S and progress == before
        if self._failed_starts > MAX_DEATHS:
            raise RunError(
                f"{self._failed_starts} worker processes in a row ended while they started, "
                f"the last with {exit_description(status)}"
            )
        if stuck:
            raise RunError(
                f"{MAX_DEATHS + 1} worker processes died and no page was visited in between, the last process with "
                f"{exit_description(status)}: giving up"
            )

    def killed(self, leased: LeasedUrl, status: int | None, now: float, ready_at: float) -> Outcome:
        """Returns the outcome of the page that a worker was reading when it died."""
        kills = _increment(self._kills, leased.url.text)
        why = f"the worker process ended while reading it ({exit_description(status)})"
        if kills < MAX_KILLS:
            return self._charged(leased, why, now, ready_at)
        self._failed_pages += 1
        return _failed(leased, f"{KILLS_THE_READER}: {why}, {kills} times", now)

    def host_kills(self, host: str) -> int:
        """Counts a worker that a page of this host killed, and returns how many there were."""
        return _increment(self._host_kills, host)

    def died_otherwise(self, leased: LeasedUrl, status: int | None, now: float, ready_at: float) -> Outcome | None:
        """Returns the outcome of a URL that was leased to a worker that died while it read no page; None: the URL is
        not charged."""
        if _increment(self._unexplained, leased.url.text) <= MAX_UNEXPLAINED_DEATHS:
            return None
        why = f"the worker process ended again while the URL was leased to it ({exit_description(status)})"
        return self._charged(leased, why, now, ready_at)

    def _charged(self, leased: LeasedUrl, why: str, now: float, ready_at: float) -> Outcome:
        outcome = _failed(leased, why, now)
        return outcome if outcome.tries >= self._settings.tries else replace(outcome, state="ready", ready_at=ready_at)


def exit_description(status: int | None) -> str:
    """Says how a process ended: `signal SIGKILL`, or `status 1`."""
    if status is not None and -status in set(Signals):
        return f"signal {Signals(-status).name}"
    return f"status {status}"


def _failed(leased: LeasedUrl, why: str, now: float) -> Outcome:
    event = Event(now, "read", "lost", why)
    return Outcome(leased.url, "failed", now, why, tries=leased.tries + 1, events=(event,))


def _increment(counts: LruCache[str, int], key: str) -> int:
    count = (counts.get(key) or 0) + 1
    counts.put(key, count)
    return count
