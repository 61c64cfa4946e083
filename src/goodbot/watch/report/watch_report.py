"""The values of a report. Text is readable, no wire text; addresses are shortened if that was asked for."""

from dataclasses import dataclass

from goodbot.registry import KnownRobot, Tier
from goodbot.watch.counting.rates import Rates
from goodbot.watch.counting.robot_totals import Durations, RequestCounts
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.counting.timeline import Timeline
from goodbot.watch.judging import Verdict
from goodbot.watch.log_entries import SkipReason
from goodbot.watch.reader.opening import Damage
from goodbot.watch.report.obedience_report import DisallowedReport, ObedienceReport, RulesReport
from goodbot.watch.report.signature_report import SignaturesReport


@dataclass(frozen=True, slots=True)
class PathReport:
    """A path and its requests."""

    path: str
    requests: int
    at_most: int
    """The count may be too low; it is at most this."""


@dataclass(frozen=True, slots=True)
class RobotReport:
    """A known robot, in one tier."""

    name: str
    tier: Tier
    robot: KnownRobot | None
    """Its record; None if it is not on record any more (counts of an old state)."""
    counts: RequestCounts
    durations: Durations
    rates: Rates
    robots_txt: dict[int, int]
    """Answers to its requests for robots.txt, by status."""
    share_of_requests: float
    share_of_bytes: float
    share_of_time: float | None
    """Of the time that all answers took; None if the log does not say."""
    mean_rps: float
    """Requests a second in the minutes in which it came."""
    addresses: int
    addresses_are_exact: bool
    busiest: tuple[tuple[str, int], ...]
    """Addresses with their requests."""
    agents: tuple[tuple[str, int], ...]
    """User-Agents with their requests."""
    paths: tuple[PathReport, ...]
    evidence: tuple[str, ...]
    """Of the tier, for the busiest address."""
    timeline: Timeline
    """Its requests over time."""
    signatures: SignatureCounts
    obedience: ObedienceReport | None = None
    """None if no robots.txt was given."""

    @property
    def robots_txt_fetches(self) -> int:
        return sum(self.robots_txt.values())

    @property
    def errors(self) -> int:
        """Requests that were answered with 400 to 599."""
        return sum(count for status, count in self.counts.statuses.items() if 400 <= status < 600)


@dataclass(frozen=True, slots=True)
class UndeclaredReport:
    """An address, or several that act as one, that names no known robot and behaved like one."""

    address: str
    """An address, or the network of the members."""
    members: tuple[str, ...]
    """The addresses that act as one, the busiest first; empty for a single one. Those that are the same when shortened
    appear once."""
    addresses: int
    """How many addresses act as one; 1 for a single one."""
    together: Verdict | None
    """How sure it is that the members are one; None for a single address."""
    also_alone: int
    """How many of the members are also listed by themselves, with a stronger verdict."""
    agent: str
    agents: int
    """How many different User-Agents, estimated."""
    requests: int
    bytes: int
    pages: int
    robots_txt_fetches: int
    sessions: int
    first_at: int
    last_at: int
    missing: int
    """Requests that may be among those of pooled addresses, at most."""
    points: int
    verdict: Verdict
    evidence: tuple[str, ...]
    disallowed: DisallowedReport | None = None
    """None if no robots.txt was given."""


@dataclass(frozen=True, slots=True)
class PooledReport:
    """What is not counted address by address."""

    kept: int
    """Addresses that are counted one by one."""
    exact: int
    """Of these, those whose counts are certainly complete."""
    rows: int
    """How often an address was pooled."""
    requests: int
    bytes: int


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What the logs say."""

    logs: tuple[str, ...]
    damage: tuple[Damage, ...]
    lines: int
    skipped: dict[SkipReason, int]
    outside: int
    """Requests before `--since` or after `--until`, which do not count."""
    formats: dict[str, int]
    counts: RequestCounts
    durations: Durations
    visitors: int
    """Different addresses."""
    visitors_are_exact: bool
    local_requests: int
    """Requests from local addresses (`addresses.is_local`); those of pooled addresses are left out."""
    local_address: str
    """The local address with most requests; empty if there is none."""
    proxies: int
    """Local addresses with several User-Agents, which are not judged. Their verdict is `no evidence`."""
    robots: tuple[RobotReport, ...]
    """By tier (verified, declared, unknown, impostor), those with most requests first."""
    robots_txt: dict[int, int]
    """Answers to requests for robots.txt, by status; with `only`, to those of that robot."""
    undeclared: tuple[UndeclaredReport, ...]
    """By verdict (certain, likely, possible), those with most points first."""
    left_out: dict[Verdict, int]
    """More of them, which come after those."""
    verdicts: dict[Verdict, int]
    """How many addresses got which verdict; the members of a group get that of the group, unless their own is stronger.
    Empty if the report is about one robot."""
    requests_by_verdict: dict[Verdict, int]
    """How many requests these addresses sent."""
    pooled: PooledReport
    paths: tuple[PathReport, ...]
    signatures: SignaturesReport
    only: str | None = None
    """The robot that was asked for."""
    named_otherwise: int = 0
    """Without any request of that robot: requests of other addresses whose User-Agent contains its name."""
    rules: RulesReport | None = None
    """The robots.txt by which requests were judged; None if none was given."""
    disobedient: tuple[UndeclaredReport, ...] = ()
    """Addresses with disallowed requests that are not certain or likely robots, but possible ones, or programs by their
    name; those with most disallowed requests first."""
    elsewhere: tuple[tuple[str, int], ...] = ()
    """Other hosts with their requests, which are not judged."""
    hosts: tuple[tuple[str, int], ...] = ()
    """Hosts with their requests, if it is not known which one the robots.txt is for."""
