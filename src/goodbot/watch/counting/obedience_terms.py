"""Knows what robots.txt asks of one robot while the same versions may be in force, with the answers so far."""

from enum import IntEnum
from typing import Final, NamedTuple

from goodbot.exclusion import Verdict, Window
from goodbot.watch.counting.judged_target import judged_target
from goodbot.watch.counting.request_kinds import RequestKind, request_kind
from goodbot.watch.obedience.pace import Limit
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading, RulesForRobot

TOLERANCE_MINUTES: Final = 5
"""Minutes that a request may be outside the hours of Visit-time, since clocks differ."""

_DAY_MINUTES: Final = 1440


class Outcome(IntEnum):
    """What the rules say about a request."""

    ALLOWED = 0
    DISALLOWED = 1
    IN_GRACE = 2
    """The latest version disallows it, but another version allows it which may have been in force."""
    ROBOTS_TXT = 3
    NOT_JUDGED = 4
    """It asks for no URL of the site."""


class Judgement(NamedTuple):
    """The outcome for one request line; the verdict of the latest version if that disallows it."""

    outcome: Outcome
    verdict: Verdict | None = None


class ObedienceTerms:
    """The terms for one robot. With several versions, a robot may obey any of them."""

    def __init__(self, rules: RulesInForce, choice: int, reading: RobotReading, site: str | None = None) -> None:
        """`choice` is a number of `RulesInForce.choice_at`; `site` is the host, if that is known (`host_name`)."""
        versions = [rules.versions[place] for place in rules.choice(choice)]
        self.is_known = bool(versions)
        self.since = versions[0].since if versions else 0.0
        """The version by which requests are judged, the latest one."""
        self.name = reading.names[0]
        self._site = site
        self.answers: dict[str, Judgement] = {}
        """By request line."""
        self._rules = [RulesForRobot(version.access, reading) for version in versions]
        timings = [rules.timing for rules in self._rules]
        self._delay_s = min((timing.delay_s or 0.0 for timing in timings), default=0.0)
        self._rates = timings[0].rates if len({timing.rates for timing in timings}) == 1 else ()
        self._windows = [timing.windows for timing in timings]
        self._limits: dict[int, tuple[Limit, ...]] = {}
        self.has_hours = bool(versions) and all(self._windows)
        """Whether each version has a Visit-time."""
        self.has_limits = self._delay_s > 0 or bool(self._rates)

    def judge(self, request: str) -> Judgement:
        """Judges a request line."""
        found = self.answers.get(request)
        if found is None:
            found = self.answers[request] = self._judge(request)
        return found

    def _judge(self, request: str) -> Judgement:
        kind = request_kind(request)
        if kind is RequestKind.ROBOTS_TXT:
            return Judgement(Outcome.ROBOTS_TXT)
        target = judged_target(request, self._site)
        if kind is RequestKind.NONE or target is None:
            return Judgement(Outcome.NOT_JUDGED)
        verdicts = [rules.disallows(target) for rules in self._rules]
        if not verdicts or verdicts[0] is None:
            return Judgement(Outcome.ALLOWED)
        return Judgement(Outcome.DISALLOWED if all(verdicts) else Outcome.IN_GRACE, verdicts[0])

    def limits(self, at: int) -> tuple[Limit, ...]:
        """Returns the limits at a time, Unix seconds. Of limits with one document only the strictest counts; of
        Request-rates with hours, those whose hours these are."""
        minute = at // 60 % _DAY_MINUTES
        found = self._limits.get(minute)
        if found is None:
            found = self._limits[minute] = self._limits_in(minute)
        return found

    def _limits_in(self, minute: int) -> tuple[Limit, ...]:
        now = [rate for rate in self._rates if rate.window and _is_within(minute, rate.window)]
        now = now or [rate for rate in self._rates if not rate.window]
        single = max([self._delay_s, *(rate.seconds for rate in now if rate.documents == 1)])
        several = dict.fromkeys(Limit(rate.documents, rate.seconds) for rate in now if rate.documents > 1)
        return ((Limit(1, single),) if single else ()) + tuple(several)

    def is_outside(self, at: int) -> bool:
        """Whether a request at this time is outside the hours of Visit-time, whichever version counts."""
        minute = at // 60 % _DAY_MINUTES
        return self.has_hours and not any(
            _is_within(minute, window, TOLERANCE_MINUTES) for windows in self._windows for window in windows
        )


def _is_within(minute: int, window: Window, tolerance: int = 0) -> bool:
    first, last = window[0] - tolerance, window[1] + tolerance
    length = (window[1] - window[0]) % _DAY_MINUTES + 2 * tolerance
    return length >= _DAY_MINUTES or (minute - first) % _DAY_MINUTES <= (last - first) % _DAY_MINUTES
