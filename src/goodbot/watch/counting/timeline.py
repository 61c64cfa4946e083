"""Counts requests over time, in bounded memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MOST_SPANS: Final = 2000
"""Spans above which they are made longer."""

HOUR_S: Final = 3600
DAY_S: Final = 24 * HOUR_S

_LONGER: Final = {HOUR_S: 6 * HOUR_S, 6 * HOUR_S: DAY_S, DAY_S: 7 * DAY_S}


@dataclass(slots=True)
class Timeline:
    """Requests by span of time: of an hour at first, and longer if there are more than `MOST_SPANS`."""

    span_s: int = HOUR_S
    """Seconds of a span: an hour, 6 hours, a day, a week, and then twice as long each time."""
    counts: dict[int, int] = field(default_factory=dict)
    """Requests by the number of the span: Unix seconds divided by `span_s`."""

    def add(self, seconds: Mapping[int, int]) -> None:
        """Adds requests by second."""
        for second, count in seconds.items():
            place = second // self.span_s
            self.counts[place] = self.counts.get(place, 0) + count
        while len(self.counts) > MOST_SPANS:
            self._lengthen(_LONGER.get(self.span_s, 2 * self.span_s))

    def _lengthen(self, span_s: int) -> None:
        counts: dict[int, int] = {}
        for place, count in self.counts.items():
            longer = place * self.span_s // span_s
            counts[longer] = counts.get(longer, 0) + count
        self.span_s, self.counts = span_s, counts

    def in_spans(self, span_s: int) -> dict[int, int]:
        """Returns the requests by the beginning of longer spans (Unix seconds); `span_s` is a multiple of the own."""
        counts: dict[int, int] = {}
        for place, count in self.counts.items():
            start = place * self.span_s // span_s * span_s
            counts[start] = counts.get(start, 0) + count
        return dict(sorted(counts.items()))
