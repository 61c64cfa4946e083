"""The paths whose verdicts change, in bounded memory: the most frequent are kept."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from goodbot.watch.counting.distinct import DistinctCount, address_hash
from goodbot.watch.impact.impact import PathImpact, RobotLabel
from goodbot.watch.impact.rule_changes import Change
from goodbot.watch.wire_text import to_wire

KEPT: Final = 10_000
"""How many pairs of a path and a rule are kept at least."""

MARGIN: Final = 2
"""How many times `KEPT` pairs are held before they are reduced."""

ROBOTS: Final = 30
"""How many robots of one pair are counted one by one."""


@dataclass(slots=True)
class _Counts:
    requests: int = 0
    bytes: int = 0
    robots: dict[RobotLabel, int] = field(default_factory=dict)


class ChangedPaths:
    """Counts requests by path and deciding rule. A count is exact until more than `MARGIN * kept` pairs come, and then
    too low by `error` at most."""

    def __init__(self, kept: int = KEPT) -> None:
        self.error = 0
        self._kept = kept
        self._held: dict[Change, _Counts] = {}
        self._paths = DistinctCount()
        self._pairs = DistinctCount()

    def add(self, change: Change, robots: Iterable[RobotLabel], size: int = 0) -> None:
        """Adds a request of each of these robots, or a page; `size` is its bytes."""
        counts = self._held.get(change)
        if counts is None:
            counts = self._hold(change)
        counts.requests += 1
        counts.bytes += size
        for robot in robots:
            if robot in counts.robots or len(counts.robots) < ROBOTS:
                counts.robots[robot] = counts.robots.get(robot, 0) + 1

    def _hold(self, change: Change) -> _Counts:
        if len(self._held) >= MARGIN * self._kept:
            largest = nlargest(self._kept + 1, self._held.items(), key=lambda pair: pair[1].requests)
            self.error += largest[-1][1].requests
            self._held = dict(largest[:-1])
        self._paths.update([address_hash(to_wire(change.path))])
        self._pairs.update([address_hash(to_wire(repr(change)))])
        counts = self._held[change] = _Counts()
        return counts

    @property
    def paths(self) -> tuple[int, bool]:
        """How many different paths there were, and whether that is exact or an estimate."""
        if self.error:
            return self._paths.count(), False
        return len({change.path for change in self._held}), True

    @property
    def pairs(self) -> int:
        """How many pairs of a path and a rule there were: exact, or estimated like `paths`."""
        return max(self._pairs.count(), len(self._held)) if self.error else len(self._held)

    def top(self, most: int, *, has_bytes: bool = True) -> tuple[PathImpact, ...]:
        """Returns the pairs with most requests, equal ones by path."""
        found = sorted(self._held.items(), key=lambda pair: (-pair[1].requests, pair[0].path, pair[0].line or 0))
        return tuple(self._impact(change, counts, has_bytes) for change, counts in found[:most])

    def _impact(self, change: Change, counts: _Counts, has_bytes: bool) -> PathImpact:
        robots = sorted(counts.robots.items(), key=lambda pair: (-pair[1], pair[0].name, pair[0].tier or ""))
        return PathImpact(
            change.path,
            change.closes,
            change.rule,
            change.line,
            counts.requests,
            counts.requests + self.error,
            counts.bytes if has_bytes else None,
            tuple(robots),
        )
