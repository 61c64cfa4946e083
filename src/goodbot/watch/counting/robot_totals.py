"""The counts of one robot, and of all requests together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from goodbot.registry import Tier
from goodbot.watch.counting.distinct import DistinctCount
from goodbot.watch.counting.frequent import FrequentItems
from goodbot.watch.counting.rates import Busy, Rates
from goodbot.watch.counting.request_kinds import KINDS
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.counting.timeline import Timeline
from goodbot.watch.log_entries import SkipReason
from goodbot.watch.obedience.counts import ObedienceBlock, ObedienceCounts

ROBOT_PATHS: Final = 200
"""How many request lines and addresses of one robot are counted exactly or nearly so."""

SLOW_S: Final = 1.0
"""Seconds from which an answer counts as slow."""


Item = TypeVar("Item", int, str, SkipReason)


class RobotKey(NamedTuple):
    """A known robot, and whether it is genuine: requests of each tier are counted apart."""

    name: str
    tier: Tier


@dataclass(slots=True)
class RequestCounts:
    """What is counted of any set of requests."""

    requests: int = 0
    bytes: int = 0
    kinds: list[int] = field(default_factory=lambda: [0] * KINDS)
    """Requests by `RequestKind`."""
    statuses: dict[int, int] = field(default_factory=dict)
    hours: list[int] = field(default_factory=lambda: [0] * 24)
    """Requests by the hour of the day as logged."""
    first_at: int | None = None
    last_at: int | None = None

    def merge(self, other: "RequestCounts") -> None:
        """Adds the counts of other requests."""
        self.requests += other.requests
        self.bytes += other.bytes
        self.kinds = [mine + more for mine, more in zip(self.kinds, other.kinds, strict=True)]
        self.hours = [mine + more for mine, more in zip(self.hours, other.hours, strict=True)]
        add_counts(self.statuses, other.statuses)
        times = [at for at in (self.first_at, other.first_at) if at is not None]
        self.first_at = min(times, default=None)
        times = [at for at in (self.last_at, other.last_at) if at is not None]
        self.last_at = max(times, default=None)


@dataclass(slots=True)
class Durations:
    """How long answers took, where the log says."""

    timed: int = 0
    total_s: float = 0.0
    slow: int = 0
    """Answers that took `SLOW_S` or longer."""
    longest_s: float = 0.0

    def merge(self, other: "Durations") -> None:
        """Adds other answers."""
        self.timed += other.timed
        self.total_s += other.total_s
        self.slow += other.slow
        self.longest_s = max(self.longest_s, other.longest_s)


@dataclass(slots=True)
class RobotBlock:
    """What one robot did in one block."""

    counts: RequestCounts = field(default_factory=RequestCounts)
    durations: Durations = field(default_factory=Durations)
    robots_txt: dict[int, int] = field(default_factory=dict)
    seconds: dict[int, int] = field(default_factory=dict)
    busy: dict[int, Busy] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Request lines, at most `ROBOT_PATHS`, with their counts."""
    lines_error: int = 0
    addresses: dict[str, int] = field(default_factory=dict)
    agents: dict[str, int] = field(default_factory=dict)
    obedience: ObedienceBlock | None = None
    """None without a robots.txt."""


@dataclass(slots=True)
class RobotTotals:
    """What one robot did. All counts are exact, but those of its request lines, addresses and User-Agents: see
    `FrequentItems`."""

    counts: RequestCounts = field(default_factory=RequestCounts)
    durations: Durations = field(default_factory=Durations)
    robots_txt: dict[int, int] = field(default_factory=dict)
    """Answers to requests for robots.txt, by status."""
    rates: Rates = field(default_factory=Rates)
    lines: FrequentItems = field(default_factory=lambda: FrequentItems(ROBOT_PATHS))
    addresses: FrequentItems = field(default_factory=lambda: FrequentItems(ROBOT_PATHS))
    agents: FrequentItems = field(default_factory=lambda: FrequentItems(20))
    visitors: DistinctCount = field(default_factory=DistinctCount)
    """Its different addresses."""
    timeline: Timeline = field(default_factory=Timeline)
    obedience: ObedienceCounts = field(default_factory=ObedienceCounts)
    signatures: SignatureCounts = field(default_factory=SignatureCounts)

    def add(self, block: RobotBlock, hashes: list[int]) -> None:
        """Adds a block; `hashes` are those of its addresses."""
        self.counts.merge(block.counts)
        self.durations.merge(block.durations)
        add_counts(self.robots_txt, block.robots_txt)
        self.rates.add(block.seconds, block.busy)
        self.lines.add(block.lines, block.lines_error)
        self.addresses.add(block.addresses)
        self.agents.add(block.agents)
        self.visitors.update(hashes)
        self.timeline.add(block.seconds)
        if block.obedience is not None:
            self.obedience.add(block.obedience)


def add_counts(mine: dict[Item, int], more: Mapping[Item, int]) -> None:
    """Adds counts to others."""
    for item, count in more.items():
        mine[item] = mine.get(item, 0) + count
