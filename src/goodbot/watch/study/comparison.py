"""Compares what a robot did in a phase with what it did in the control phase."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal

from goodbot.registry import KnownRobot, Tier
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.obedience.pace import Limit
from goodbot.watch.obedience.shares import BROKEN_SHARE, Share, share_of
from goodbot.watch.report.obedience_report import USER_TRIGGERED
from goodbot.watch.study.phase_rules import PhaseRules
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Span
from goodbot.watch.study.study_counter import PhaseTotals, RobotInLogs

Answer = Literal["yes", "partly", "no", "cannot tell"]
"""Whether a robot obeyed. `partly`: it did so less than in the control phase, but did."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A count of hits (requests for what a phase closes, or gaps shorter than it asks for) and its total."""

    hits: int = 0
    total: int = 0

    @property
    def share(self) -> Share | None:
        return share_of(self.hits, self.total)


def _answer(control: Counted, then: Counted, *, is_broken: bool) -> Answer:
    """Answers by whether the rule was broken, and whether that was clearly less often than in the control phase."""
    before, after = control.share, then.share
    if after is None:
        return "cannot tell"
    is_less = before is not None and after.high < before.low
    if is_broken:
        return "partly" if is_less else "no"
    return "yes" if is_less else "cannot tell"


@dataclass(frozen=True, slots=True)
class PathsCompared:
    """The share of requests for URLs that a phase closes and that are open in the control phase."""

    phase: int
    control: Counted
    then: Counted

    @property
    def answer(self) -> Answer:
        return _answer(self.control, self.then, is_broken=self.then.hits > 0)


@dataclass(frozen=True, slots=True)
class GapsCompared:
    """The share of gaps between requests that are shorter than a phase asks for."""

    phase: int
    limit: Limit
    control: Counted
    then: Counted

    @property
    def answer(self) -> Answer:
        share = self.then.share
        return _answer(self.control, self.then, is_broken=share is not None and share.low > BROKEN_SHARE)


@dataclass(frozen=True, slots=True)
class PhaseOfRobot:
    """What a robot did in a phase, by the rules of that phase."""

    phase: int
    requests: Counted
    """The requests that count; the hits are those that the phase disallows."""
    in_grace: int
    visits: int
    """Times the phase was in force and the robot came."""
    reads: int
    """How many of the visits had a request for robots.txt."""
    read_after_s: float | None
    """Seconds from the change to its first request for robots.txt, the median of its visits; None without any."""


@dataclass(frozen=True, slots=True)
class RobotInStudy:
    """One robot, in one tier."""

    name: str
    tier: Tier
    robot: KnownRobot
    phases: tuple[PhaseOfRobot, ...]
    """The phases in which it came, in the order of the plan."""
    paths: tuple[PathsCompared, ...]
    gaps: tuple[GapsCompared, ...]

    @property
    def user_triggered(self) -> bool:
        return self.robot.purpose in USER_TRIGGERED

    @property
    def requests(self) -> int:
        return sum(phase.requests.total for phase in self.phases)


def compare(plan: StudyPlan, spans: list[Span], robots: Mapping[RobotKey, RobotInLogs]) -> tuple[RobotInStudy, ...]:
    """Compares all robots, those with most requests first. `spans` are those of the counter."""
    found = [_robot(plan, spans, key, one) for key, one in robots.items()]
    return tuple(sorted(found, key=lambda one: (-one.requests, one.name.lower(), one.tier)))


def _robot(plan: StudyPlan, spans: list[Span], key: RobotKey, found: RobotInLogs) -> RobotInStudy:
    phases = tuple(_phase(place, totals, spans) for place, totals in sorted(found.phases.items()))
    others = [place for place in range(len(plan.phases)) if place != plan.control]
    paths = tuple(
        _paths(place, plan.control, found.phases) for place in others if found.rules.closes_more(place, plan.control)
    )
    is_anyones = found.robot.purpose == "tool" and len(found.addresses) > 1  # several people may have run it
    gaps = () if is_anyones else tuple(_gaps(plan, spans, found))
    return RobotInStudy(key.name, key.tier, found.robot, phases, paths, gaps)


def _phase(place: int, totals: PhaseTotals, spans: list[Span]) -> PhaseOfRobot:
    disallowed = sum(count for closed, count in totals.requests.items() if closed >> place & 1)
    lags = [at - spans[span].start for span, at in totals.robots_txt.items()]
    return PhaseOfRobot(
        place,
        Counted(disallowed, sum(totals.requests.values())),
        totals.in_grace,
        len(totals.spans),
        len(lags),
        median(lags) if lags else None,
    )


def _paths(place: int, control: int, phases: Mapping[int, PhaseTotals]) -> PathsCompared:
    return PathsCompared(
        place, *(_closed_by(place, control, phases.get(where, PhaseTotals())) for where in (control, place))
    )


def _closed_by(place: int, control: int, totals: PhaseTotals) -> Counted:
    """Counts the requests for what a phase closes and the control phase does not."""
    hits = sum(count for closed, count in totals.requests.items() if closed >> place & 1 and not closed >> control & 1)
    return Counted(hits, sum(totals.requests.values()))


def _gaps(plan: StudyPlan, spans: list[Span], found: RobotInLogs) -> Iterator[GapsCompared]:
    counted: dict[tuple[int, Limit], dict[int, Counted]] = {}
    for (asked_by, span, limit), pace in found.paces.items():
        if asked_by == plan.control or _asks(found.rules, plan.control, limit, spans[span]):
            continue
        closed = pace.closed()
        where = counted.setdefault((asked_by, limit), {})
        had = where.get(spans[span].phase, Counted())
        where[spans[span].phase] = Counted(had.hits + closed.broken, had.total + closed.judged)
    for (phase, limit), where in sorted(counted.items(), key=lambda pair: pair[0]):
        yield GapsCompared(phase, limit, where.get(plan.control, Counted()), where.get(phase, Counted()))


def _asks(rules: PhaseRules, control: int, limit: Limit, span: Span) -> bool:
    """Whether the control phase asks for as long a time already."""
    asked = rules.gap(control, int(span.start))
    return asked is not None and asked.seconds >= limit.seconds
