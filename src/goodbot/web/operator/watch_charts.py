"""The charts of the report on access logs, as shapes: requests over time, by hour, and the gaps between requests.

Every chart comes with the figures it draws, so that a page can also write them into a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from goodbot.watch.counting.timeline import DAY_S, HOUR_S
from goodbot.watch.obedience.pace import GAP_SIZES
from goodbot.watch.report import LimitReport, RobotReport

ROBOTS_DRAWN: Final = 8
"""Robots with a row of their own, those with most requests; the others have one together."""

MOST_BARS: Final = 96
"""Bars of a row: four days of hours, 24 days of quarter days, three months of days."""

GAP_BARS: Final = 8
GAPS_BELOW: Final = 4
"""Bars to the left of the one with the asked delay; shorter gaps are added to the first one."""

BAR_WIDTH: Final = 38
BAR_HEIGHT: Final = 110
"""The size of the largest bar of a gap chart, in units of its picture."""

_LEAST: Final = 0.02
"""The share of the height that the smallest bar has, so that it is seen."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """The requests of one robot, or of several together, by span of time or by hour."""

    label: str
    requests: int
    counts: tuple[int, ...]

    @property
    def most(self) -> int:
        """The largest count."""
        return max(self.counts, default=0)

    @property
    def busiest(self) -> int:
        """The place of the largest count."""
        return self.counts.index(self.most)

    @property
    def bars(self) -> str:
        """The bars as an SVG path, in a picture of one unit for each count and a height of 100."""
        most = self.most
        heights = ((place, 100 * max(count / most, _LEAST)) for place, count in enumerate(self.counts) if count)
        return "".join(f"M{place}.1 100v-{height:.1f}h.8v{height:.1f}z" for place, height in heights)

    @property
    def cells(self) -> tuple["Cell", ...]:
        """One rectangle for each count above 0, in a picture of 10 units for each count and a height of 10. Its area is
        in proportion to the count."""
        most = self.most
        return tuple(_cell(place, count / most) for place, count in enumerate(self.counts) if count)


@dataclass(frozen=True, slots=True)
class Cell:
    """A square of the heat map. `opacity` is 0.7 to 1."""

    x: float
    y: float
    side: float
    opacity: float


def _cell(place: int, share: float) -> Cell:
    side = round(max(9.6 * sqrt(share), 1.6), 2)
    margin = (10 - side) / 2
    return Cell(round(10 * place + margin, 2), round(margin, 2), side, round(0.7 + 0.3 * share, 2))


@dataclass(frozen=True, slots=True)
class TimeChart:
    """Requests over time. `starts` are the beginnings of the spans, Unix seconds."""

    span_s: int
    starts: tuple[int, ...]
    rows: tuple[ChartRow, ...]


def time_chart(robots: Sequence[RobotReport]) -> TimeChart | None:
    """Draws requests over time, in the shortest spans that give at most `MOST_BARS` bars. None if all requests came in
    one span, or there are none."""
    timelines = [robot.timeline for robot in robots if robot.timeline.counts]
    if not timelines:
        return None
    span_s = max(timeline.span_s for timeline in timelines)
    first = min(min(timeline.counts) * timeline.span_s for timeline in timelines)
    last = max(max(timeline.counts) * timeline.span_s for timeline in timelines)
    while last // span_s - first // span_s >= MOST_BARS:
        span_s = _longer(span_s)
    starts = tuple(range(first // span_s * span_s, last + 1, span_s))
    if len(starts) < 2:
        return None

    def counts(robot: RobotReport) -> Sequence[int]:
        found = robot.timeline.in_spans(span_s)
        return [found.get(start, 0) for start in starts]

    return TimeChart(span_s, starts, _rows(robots, [counts(robot) for robot in robots]))


def _longer(span_s: int) -> int:
    return {HOUR_S: 6 * HOUR_S, 6 * HOUR_S: DAY_S, DAY_S: 7 * DAY_S}.get(span_s, 2 * span_s)


def hour_rows(robots: Sequence[RobotReport]) -> tuple[ChartRow, ...]:
    """Draws the requests of each hour of the day, as logged."""
    return _rows(robots, [robot.counts.hours for robot in robots])


def _rows(robots: Sequence[RobotReport], counts: Sequence[Sequence[int]]) -> tuple[ChartRow, ...]:
    """Makes a row of each of the busiest robots, and one of the others. `robots` are sorted by requests."""
    own = ROBOTS_DRAWN if len(robots) > ROBOTS_DRAWN + 1 else len(robots)
    rows = [ChartRow(label_of(robot), sum(row), tuple(row)) for robot, row in zip(robots[:own], counts, strict=False)]
    if robots[own:]:
        together = tuple(map(sum, zip(*counts[own:], strict=True)))
        rows.append(ChartRow(f"{len(robots) - own:,} other robots", sum(together), together))
    return tuple(rows)


def label_of(robot: RobotReport) -> str:
    """Names a robot. An impostor must not be taken for the robot that it imitates."""
    return f"{robot.name} (impostor)" if robot.tier == "impostor" else robot.name


# ---- gaps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GapBar:
    """Gaps of `low` to less than `high` seconds; `high` None: all longer ones. `x` and `height` are units of the
    picture."""

    x: int
    low: int
    high: int | None
    gaps: int
    height: float
    is_short: bool
    """Whether all gaps of this size are shorter than the asked delay."""
    short: int
    """How many of the gaps are shorter. The bar with the delay has gaps of both kinds."""


@dataclass(frozen=True, slots=True)
class GapChart:
    """The gaps between the requests of a robot, by size, and the delay that robots.txt asks for. `line` is the place of
    the delay, in units of the picture."""

    label: str
    limit: LimitReport
    bars: tuple[GapBar, ...]
    line: float


def gap_charts(robots: Iterable[RobotReport]) -> tuple[GapChart, ...]:
    """Draws the gaps of each robot that robots.txt asks for a delay, and that is not imitated and not triggered by
    users."""
    return tuple(
        _gap_chart(robot.name, limit)
        for robot in robots
        if robot.tier != "impostor" and robot.obedience is not None and not robot.obedience.user_triggered
        for limit in robot.obedience.limits
        if limit.limit.documents == 1 and limit.judged
    )


def _gap_chart(label: str, limit: LimitReport) -> GapChart:
    asked = min(limit.limit.seconds, float(2 ** (GAP_SIZES - 1) - 1))
    place = int(asked).bit_length()
    first = max(0, min(place - GAPS_BELOW, GAP_SIZES - GAP_BARS))
    last = first + GAP_BARS - 1
    sizes = [sum(limit.sizes[: first + 1]), *limit.sizes[first + 1 : last], sum(limit.sizes[last:])]
    most = max(sizes)
    bars = []
    left = limit.broken
    for number, gaps in enumerate(sizes):
        low = _least(first + number) if number else 0
        high = _least(first + number + 1)
        height = round(BAR_HEIGHT * max(gaps / most, _LEAST), 1) if gaps else 0.0
        short = min(gaps, left)  # the shortest gaps come first
        left -= short
        end = high if number + 1 < GAP_BARS else None
        bars.append(GapBar(number * BAR_WIDTH, low, end, gaps, height, high <= asked, short))
    low, high = (_least(place), _least(place + 1)) if place > first else (0, _least(first + 1))
    within = min((asked - low) / (high - low), 1.0)
    return GapChart(label, limit, tuple(bars), round(BAR_WIDTH * (place - first + within), 1))


def _least(size: int) -> int:
    """Returns the shortest gap of a size of `Pace.sizes`, in seconds."""
    return 1 << (size - 1) if size else 0
