"""Judges the requests of known robots by the rules of every phase, not only of the one in force."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from goodbot.registry import KnownRobot
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounts
from goodbot.watch.counting.collection import without_collection
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.entry_rows import LineBlocks
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.obedience.pace import Limit, Pace
from goodbot.watch.obedience.rules_in_force import GRACE_S
from goodbot.watch.robot_reading import reading_of
from goodbot.watch.study.phase_rules import NOT_JUDGED, ROBOTS_TXT, PhaseRules, RulesOfPhases
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Span, joined

_ENOUGH_ADDRESSES: Final = 2


@dataclass(slots=True)
class PhaseTotals:
    """The requests of one robot in the spans of one phase."""

    in_grace: int = 0
    """Requests in the first 24 hours of a span, which do not count."""
    requests: dict[int, int] = field(default_factory=dict)
    """Requests for URLs after the first 24 hours of a span, by the phases that disallow the URL, as bits."""
    robots_txt: dict[int, int] = field(default_factory=dict)
    """When it first requested robots.txt, Unix seconds, by span."""
    spans: set[int] = field(default_factory=set)
    """The places of the spans in which it came."""


@dataclass(slots=True)
class RobotInLogs:
    """The requests of one robot in a study."""

    robot: KnownRobot
    rules: PhaseRules
    phases: dict[int, PhaseTotals] = field(default_factory=dict)
    paces: dict[tuple[int, int, Limit], Pace] = field(default_factory=dict)
    """How it kept each limit, by the phase that asks for it, the span, and the limit."""
    addresses: set[str] = field(default_factory=set)
    """At most two of its addresses: enough to know whether there were several."""


_Seconds = dict[tuple[RobotKey, int, int, Limit], dict[int, int]]


class StudyCounter:
    """Counts block by block. It is a `BlockCounter`: the counts that it returns have the lines, and what was skipped or
    left out; the rest stays here, so it can be used in one process only."""

    def __init__(
        self, plan: StudyPlan, spans: Sequence[Span], identities: Identities, options: CountingOptions
    ) -> None:
        """`spans` are in order, and say which phase was in force when."""
        self.spans: Final = joined(spans)
        self.robots: Final[dict[RobotKey, RobotInLogs]] = {}
        self._plan = plan
        self._starts = [span.start for span in self.spans]
        self._rules = RulesOfPhases(plan)
        self._identities = identities
        self._lines = LineBlocks(options)

    def count(self, block: Block) -> BlockCounts:
        """Judges the requests of a block."""
        with without_collection():
            return self._count(block)

    def _count(self, block: Block) -> BlockCounts:
        self._rules.trim()
        read = self._lines.read(block)
        robot_of, key_of = self._identities.robot_of, self._identities.key_of
        senders = {agent: robot_of(agent) if agent else None for agent in {entry[7] for entry in read.entries}}
        outside, seconds = 0, _Seconds()
        for address, at, _, request, _, _, _, agent, _, _ in read.entries:
            place = bisect_right(self._starts, at) - 1
            if place < 0 or at >= self.spans[place].end:
                outside += 1
                continue
            robot = senders[agent]
            if robot is None:
                continue
            key = key_of(robot, address, at)
            found = self.robots.get(key) or self._add(key, robot)
            if len(found.addresses) < _ENOUGH_ADDRESSES:
                found.addresses.add(address)
            self._judge(key, found, place, at, request, seconds)
        for (key, phase, place, limit), counts in seconds.items():
            self.robots[key].paces.setdefault((phase, place, limit), Pace(limit)).add(counts)
        return BlockCounts(lines=read.lines, skipped=read.skipped, formats=read.formats, outside=outside)

    def _add(self, key: RobotKey, robot: KnownRobot) -> RobotInLogs:
        found = self.robots[key] = RobotInLogs(robot, self._rules.of(reading_of(robot)))
        return found

    def _judge(self, key: RobotKey, found: RobotInLogs, place: int, at: int, request: str, seconds: _Seconds) -> None:
        span = self.spans[place]
        totals = found.phases.get(span.phase)
        if totals is None:
            totals = found.phases[span.phase] = PhaseTotals()
        totals.spans.add(place)
        closed = found.rules[request]
        if closed == ROBOTS_TXT:
            totals.robots_txt.setdefault(place, at)
        elif at < span.start + GRACE_S:
            totals.in_grace += 1
        elif closed != NOT_JUDGED:
            totals.requests[closed] = totals.requests.get(closed, 0) + 1
            asked_by = range(len(self._plan.phases)) if span.phase == self._plan.control else (span.phase,)
            for phase in asked_by:
                limit = found.rules.gap(phase, at)
                if limit is not None:
                    times = seconds.setdefault((key, phase, place, limit), {})
                    times[at] = times.get(at, 0) + 1
