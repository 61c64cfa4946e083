"""Measures the time between the requests of a robot, against what robots.txt asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

OPEN_S: Final = 300
"""Seconds that stay open, since a log may be out of order by as much."""

MANY_OPEN: Final = 2 * OPEN_S
"""Open seconds above which old ones are closed."""

GAP_SIZES: Final = 33
"""Gaps are counted by their size: 0 s, 1 s, 2 to 3 s, 4 to 7 s, and so on."""


class Limit(NamedTuple):
    """At most `documents` in `seconds`. A Crawl-delay is a limit of one document."""

    documents: int
    seconds: float


@dataclass(slots=True)
class Pace:
    """How a robot kept one limit.

    With one document, the gaps between requests are measured. A log has whole seconds, so a gap is only called short
    if it certainly was: if it is shorter by at least a second. With several documents, the requests in each span of
    `seconds` are counted.
    """

    limit: Limit
    judged: int = 0
    """Gaps, or spans with a request."""
    broken: int = 0
    """Short gaps, or spans with too many requests."""
    sizes: list[int] = field(default_factory=lambda: [0] * GAP_SIZES)
    """Gaps by size."""
    last_at: int | None = None
    """The last second or span that was counted."""
    open: dict[int, int] = field(default_factory=dict)
    """Requests by second or span, of those that are not counted yet."""

    def add(self, seconds: Mapping[int, int]) -> None:
        """Adds requests by the second in which they are logged. Requests that are logged more than `OPEN_S` too late
        are left out."""
        span = 1 if self.limit.documents == 1 else int(max(self.limit.seconds, 1))
        for second, count in seconds.items():
            place = second // span
            if self.last_at is None or place > self.last_at:
                self.open[place] = self.open.get(place, 0) + count
        if len(self.open) > MANY_OPEN // span + 1:
            self._close((max(seconds, default=0) - OPEN_S) // span)

    def closed(self) -> "Pace":
        """Returns the final figures, with the last gaps and spans counted."""
        whole = Pace(self.limit, self.judged, self.broken, [*self.sizes], self.last_at, dict(self.open))
        whole._close(max(self.open, default=0) + 1)
        return whole

    def _close(self, until: int) -> None:
        for place in sorted(place for place in self.open if place < until):
            count = self.open.pop(place)
            if self.limit.documents == 1:
                self._measure(0, count - 1)
                if self.last_at is not None:
                    self._measure(place - self.last_at, 1)
            else:
                self.judged += 1
                self.broken += count > self.limit.documents
            self.last_at = place

    def _measure(self, gap_s: int, times: int) -> None:
        self.judged += times
        self.sizes[min(gap_s.bit_length(), GAP_SIZES - 1)] += times
        if gap_s + 1 <= self.limit.seconds:
            self.broken += times
