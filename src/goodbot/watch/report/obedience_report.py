"""How robots obeyed robots.txt: the values of the report, made of counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.registry import KnownRobot, Purpose
from goodbot.watch.counting.disallowed_addresses import DisallowedAddresses
from goodbot.watch.obedience.counts import BrokenRule, LoggedLine, ObedienceCounts, VersionCounts, VisitTimes
from goodbot.watch.obedience.pace import GAP_SIZES, Limit, Pace
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.obedience.shares import BROKEN_SHARE, Share, share_of
from goodbot.watch.robot_reading import RobotReading, reading_of
from goodbot.watch.wire_text import readable

MOST_BROKEN: Final = 20
"""Broken rules that a report lists for a robot."""

MOST_EXAMPLES: Final = 3
"""Disallowed requests that a report shows of an address without a known robot."""

USER_TRIGGERED: Final[frozenset[Purpose]] = frozenset(("ai-assistant", "preview", "accessibility", "feed"))
"""Purposes of robots that fetch what a person asks for. robots.txt is for robots that choose pages themselves, so most
operators of user-triggered fetchers do not obey it."""

Obeyed = Literal["yes", "paths only", "no", "user-triggered", "not known"]
"""Whether a robot obeyed. `no`: it requested a disallowed URL; `paths only`: it did not, but broke a limit, Visit-time
or nofollow; `not known`: no request could be judged."""


@dataclass(frozen=True, slots=True)
class BrokenRuleReport:
    """A rule, and the requests that it disallows."""

    rule: str
    """As written, or the reason if no rule decided."""
    line: int | None
    group: tuple[str, ...]
    """The names of the rule's group."""
    since: float | None
    """Since when this version of robots.txt is known; None if one version counts for all times."""
    requests: int
    bytes: int
    first_at: int
    last_at: int
    log_lines: tuple[str, ...]
    """The first of them; empty if addresses are shortened."""


def _is_broken(share: Share | None) -> bool:
    """Whether a share is so large that neither clocks nor the network explain it."""
    return share is not None and share.low > BROKEN_SHARE


@dataclass(frozen=True, slots=True)
class LimitReport:
    """A limit (Crawl-delay, Request-rate), and how it was kept."""

    limit: Limit
    judged: int
    broken: int
    sizes: tuple[int, ...]
    """Gaps by size, see `pace.GAP_SIZES`; all 0 for a limit of several documents."""

    @property
    def share(self) -> Share | None:
        return share_of(self.broken, self.judged)

    @property
    def is_broken(self) -> bool:
        return _is_broken(self.share)


@dataclass(frozen=True, slots=True)
class VisitReport:
    """Requests to a site with a Visit-time."""

    requests: int
    outside: int
    log_lines: tuple[str, ...]

    @property
    def share(self) -> Share | None:
        return share_of(self.outside, self.requests)

    @property
    def is_broken(self) -> bool:
        return _is_broken(self.share)


@dataclass(frozen=True, slots=True)
class VersionReport:
    """How a robot obeyed one version of robots.txt."""

    since: float | None
    judged: int
    disallowed: int
    in_grace: int
    limits: tuple[LimitReport, ...]
    visits: VisitReport | None

    @property
    def share(self) -> Share | None:
        return share_of(self.disallowed, self.judged)


@dataclass(frozen=True, slots=True)
class ObedienceReport:
    """How a robot obeyed."""

    reading: RobotReading | None
    """How it reads robots.txt; None if it is not on record any more."""
    user_triggered: bool
    judged: int
    not_known: int
    """Requests before the first version of robots.txt."""
    not_judged: int
    """Requests that ask for no URL of the site."""
    in_grace: int
    """Requests that the latest version disallows, but that another version allows which may have been in force."""
    disallowed: int
    bytes: int
    rules: tuple[BrokenRuleReport, ...]
    """Those with most requests first."""
    left_out: int
    """Disallowed requests whose rules are not listed."""
    limits: tuple[LimitReport, ...]
    visits: VisitReport | None
    robots_txt_at: int | None
    """When it first requested robots.txt."""
    before: int
    """Requests before that, or all if it never did."""
    followed: int
    """Requests whose Referer is a page that asked the robot not to follow its links."""
    followed_lines: tuple[str, ...]
    versions: tuple[VersionReport, ...]

    @property
    def share(self) -> Share | None:
        return share_of(self.disallowed, self.judged)

    @property
    def obeyed(self) -> Obeyed:
        if not self.judged:
            return "not known"
        if self.user_triggered:
            return "user-triggered"
        if self.disallowed:
            return "no"
        has_broken = self.followed > 0 or any(limit.is_broken for limit in self.limits)
        return "paths only" if has_broken or (self.visits is not None and self.visits.is_broken) else "yes"


class DisallowedRequest(NamedTuple):
    """A disallowed request, and the rule."""

    log_line: str
    """Empty if addresses are shortened."""
    rule: str
    """As written, or the reason if no rule decided."""
    line: int | None
    since: float | None
    """Since when this version of robots.txt is known; None if one version counts for all times."""


@dataclass(frozen=True, slots=True)
class DisallowedReport:
    """Disallowed requests of an address without a known robot."""

    requests: int
    at_most: int
    """The count may be too low; it is at most this."""
    examples: tuple[DisallowedRequest, ...]
    """The first of them."""


@dataclass(frozen=True, slots=True)
class RulesReport:
    """The robots.txt by which requests were judged."""

    source: str
    """The file or folder."""
    versions: int
    since: float | None
    """When the first version was seen; None if one version counts for all times."""
    notes: tuple[str, ...]
    """What the reader should know about it, one sentence each."""


def obedience_of(
    counts: ObedienceCounts, robot: KnownRobot | None, rules: RulesInForce, addresses: int, *, anonymise: bool
) -> ObedienceReport:
    """Makes the report of one robot. `addresses` is the number of addresses that it came from.

    The pace of a tool that anyone can run is only judged if it came from one address: otherwise several people may have
    run it.
    """
    versions = sorted(counts.versions.items())
    broken = [
        _rule(found, line, since, rules, anonymise)
        for since, version in versions
        for line, found in version.rules.items()
    ]
    broken.sort(key=lambda rule: (-rule.requests, rule.first_at, rule.line or 0))
    several = robot is not None and robot.purpose == "tool" and addresses > 1
    reports = tuple(_version(since, version, rules, several, anonymise) for since, version in versions)
    listed = broken[:MOST_BROKEN]
    return ObedienceReport(
        reading_of(robot) if robot else None,
        robot is not None and robot.purpose in USER_TRIGGERED,
        counts.judged,
        counts.not_known,
        counts.not_judged,
        sum(version.in_grace for _, version in versions),
        counts.disallowed,
        sum(version.bytes for _, version in versions),
        tuple(listed),
        counts.disallowed - sum(rule.requests for rule in listed),
        _together([limit for report in reports for limit in report.limits]),
        _all_visits([version.visits for _, version in versions], anonymise),
        counts.robots_txt_at,
        counts.before,
        counts.followed.requests,
        () if anonymise else tuple(map(readable, counts.followed.lines)),
        reports,
    )


def _rule(found: BrokenRule, line: int, since: float, rules: RulesInForce, anonymise: bool) -> BrokenRuleReport:
    return BrokenRuleReport(
        found.rule,
        line or None,
        found.group,
        since if rules.is_dated else None,
        found.requests,
        found.bytes,
        found.first_at,
        found.last_at,
        () if anonymise else _texts(found.lines),
    )


def _texts(lines: Iterable[LoggedLine]) -> tuple[str, ...]:
    return tuple(readable(line.text) for line in lines)


def _version(
    since: float, version: VersionCounts, rules: RulesInForce, several: bool, anonymise: bool
) -> VersionReport:
    return VersionReport(
        since if rules.is_dated else None,
        version.requests,
        version.disallowed,
        version.in_grace,
        () if several else tuple(map(_limit, version.paces)),
        _all_visits([version.visits], anonymise),
    )


def _limit(pace: Pace) -> LimitReport:
    whole = pace.closed()
    return LimitReport(whole.limit, whole.judged, whole.broken, tuple(whole.sizes))


def _together(limits: Sequence[LimitReport]) -> tuple[LimitReport, ...]:
    """Adds up equal limits of several versions."""
    judged, broken = Counter[Limit](), Counter[Limit]()
    sizes: dict[Limit, list[int]] = {}
    for one in limits:
        judged[one.limit] += one.judged
        broken[one.limit] += one.broken
        had = sizes.get(one.limit, [0] * GAP_SIZES)
        sizes[one.limit] = [mine + more for mine, more in zip(had, one.sizes, strict=True)]
    return tuple(LimitReport(limit, judged[limit], broken[limit], tuple(sizes[limit])) for limit in sorted(judged))


def _all_visits(visits: Iterable[VisitTimes], anonymise: bool) -> VisitReport | None:
    total = VisitTimes()
    for one in visits:
        total.merge(one)
    lines = () if anonymise else _texts(total.lines)
    return VisitReport(total.requests, total.outside, lines) if total.requests else None


def disallowed_of(
    addresses: Sequence[str], counts: DisallowedAddresses, rules: RulesInForce, *, anonymise: bool
) -> DisallowedReport:
    """Makes the report of one client: an address (wire text), or several that act as one."""
    kept = counts.requests
    found = [kept.counts.get(address, 0) for address in addresses]
    examples = [
        DisallowedRequest(
            "" if anonymise else readable(one.log_line),
            one.rule,
            one.line or None,
            one.since if rules.is_dated else None,
        )
        for address in addresses
        for one in counts.evidence.get(address, ())
    ]
    return DisallowedReport(sum(found), sum(found) + kept.error * len(found), tuple(examples[:MOST_EXAMPLES]))


def rules_report(source: str, rules: RulesInForce, notes: Sequence[str]) -> RulesReport:
    """Describes the robots.txt by which requests were judged."""
    since = rules.versions[0].since if rules.is_dated and rules.versions else None
    return RulesReport(source, len(rules.versions), since, tuple(notes))


DisallowedOf = Callable[[Sequence[str]], DisallowedReport]
"""Makes the report of one client."""
