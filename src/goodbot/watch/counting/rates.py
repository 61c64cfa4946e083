"""How fast a robot was: requests per second and minute, bursts, requests answered at the same time."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

OPEN_S: Final = 300
"""Rates stay open for this many seconds, since a log may be out of order by as much."""

MANY_OPEN: Final = 2 * OPEN_S
"""Open seconds above which old ones are closed."""

BURST_PER_MINUTE: Final = 60
"""Requests in one clock minute that make it a burst."""

Busy = tuple[float, float]
"""The durations of the requests that ended in one second: their sum, and the longest."""


@dataclass(slots=True)
class Rates:
    """Rates of closed minutes, and the requests of the seconds that are still open.

    A minute is closed when a request comes that is `OPEN_S` later. Requests that are logged later still open a minute
    of their own, so rates are exact for logs that are out of order by less than that.
    """

    peak_second: int = 0
    peak_minute: int = 0
    active_minutes: int = 0
    bursts: int = 0
    parallel: int = 0
    """How many requests were answered at the same time, at least; 0 if the log has no durations."""
    seconds: dict[int, int] = field(default_factory=dict)
    busy: dict[int, Busy] = field(default_factory=dict)

    def add(self, seconds: Mapping[int, int], busy: Mapping[int, Busy]) -> None:
        """Adds requests by second, and their durations by the second in which they ended."""
        mine = self.seconds
        for second, count in seconds.items():
            mine[second] = mine.get(second, 0) + count
        _add_busy(self.busy, busy)
        if len(mine) > MANY_OPEN:
            self._close((max(mine) - OPEN_S) // 60 * 60)

    def _close(self, until: int) -> None:
        """Counts the minutes before `until`."""
        old = {second: count for second, count in self.seconds.items() if second < until}
        self._count(old, {second: spent for second, spent in self.busy.items() if second < until})
        for second in old:
            del self.seconds[second]
            self.busy.pop(second, None)

    def _count(self, seconds: Mapping[int, int], busy: Mapping[int, Busy]) -> None:
        minutes: dict[int, int] = {}
        for second, count in seconds.items():
            minutes[second // 60] = minutes.get(second // 60, 0) + count
        self.peak_second = max([self.peak_second, *seconds.values()])
        self.peak_minute = max([self.peak_minute, *minutes.values()])
        self.active_minutes += len(minutes)
        self.bursts += sum(count >= BURST_PER_MINUTE for count in minutes.values())
        self.parallel = max(self.parallel, _parallel(busy, 1), _parallel(busy, 60))

    def closed(self) -> "Rates":
        """Returns the rates with every minute closed."""
        whole = Rates(self.peak_second, self.peak_minute, self.active_minutes, self.bursts, self.parallel)
        whole._count(self.seconds, self.busy)
        return whole


def busy_seconds(ends: Iterable[tuple[int, float | None]]) -> dict[int, Busy]:
    """Adds up durations, each given with the second in which it ended."""
    busy: dict[int, Busy] = {}
    for end, duration in ends:
        if duration:
            spent, longest = busy.get(end, (0.0, 0.0))
            busy[end] = (spent + duration, max(longest, duration))
    return busy


def _add_busy(mine: dict[int, Busy], more: Mapping[int, Busy]) -> None:
    for end, (spent, longest) in more.items():
        had, long = mine.get(end, (0.0, 0.0))
        mine[end] = (had + spent, max(long, longest))


def _parallel(busy: Mapping[int, Busy], window_s: int) -> int:
    """Returns a lower bound of concurrent requests.

    Requests that ended within a window were answered within the window, extended back by the longest duration. If their
    durations add up to n times as much, n of them were being answered at some moment.
    """
    windows: dict[int, Busy] = {}
    for end, (spent, longest) in busy.items():
        had, long = windows.get(end // window_s, (0.0, 0.0))
        windows[end // window_s] = (had + spent, max(long, longest))
    return max((math.ceil(round(spent / (window_s + longest), 9)) for spent, longest in windows.values()), default=0)
