"""The counts of how one robot obeyed: in one block of the log, and in all blocks."""

from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final, NamedTuple

from goodbot.watch.obedience.pace import Limit, Pace

MOST_LINES: Final = 3
"""Log lines that are kept for each rule, the first ones."""

MOST_RULES: Final = 50
"""Rules of one version that are counted one by one, those with most requests; the rest is counted together."""

MOST_PENDING: Final = 5000
"""Different request lines that are pending for one robot; requests with others count as disallowed at once."""

MOST_PENDING_TIMES: Final = 50_000
"""Seconds with requests that are pending for one robot; those in others are not judged by limits and Visit-time."""

LINE_CHARS: Final = 1000
"""Characters of a log line that are kept."""


class LoggedLine(NamedTuple):
    """A line of the log, as evidence."""

    at: int
    """The time of its request, Unix seconds."""
    text: str
    """As the log has it (wire text), at most `LINE_CHARS`."""


def first_lines(*lines: LoggedLine) -> list[LoggedLine]:
    """Returns the first lines by time, at most `MOST_LINES`."""
    return sorted(lines, key=lambda line: line.at)[:MOST_LINES]


@dataclass(slots=True)
class BrokenRule:
    """Requests that a rule disallows."""

    rule: str
    """The rule as written (`Disallow: /x`), or the reason if no rule decided."""
    group: tuple[str, ...]
    """The names of its group."""
    requests: int
    bytes: int
    first_at: int
    last_at: int
    lines: list[LoggedLine]
    """The first of these requests."""

    def merge(self, other: "BrokenRule") -> None:
        """Adds later requests."""
        self.requests += other.requests
        self.bytes += other.bytes
        self.first_at = min(self.first_at, other.first_at)
        self.last_at = max(self.last_at, other.last_at)
        self.lines = first_lines(*self.lines, *other.lines)


@dataclass(slots=True)
class VisitTimes:
    """Requests to a site that asks robots to come at certain hours only."""

    requests: int = 0
    outside: int = 0
    lines: list[LoggedLine] = field(default_factory=list)
    """The first requests outside the hours."""

    def merge(self, other: "VisitTimes") -> None:
        """Adds later requests."""
        self.requests += other.requests
        self.outside += other.outside
        self.lines = first_lines(*self.lines, *other.lines)


@dataclass(slots=True)
class FollowedLinks:
    """Requests whose Referer is a page that asked the robot not to follow its links."""

    requests: int = 0
    lines: list[str] = field(default_factory=list)
    """The first of these requests."""

    def merge(self, other: "FollowedLinks") -> None:
        """Adds later requests."""
        self.requests += other.requests
        self.lines = [*self.lines, *other.lines][:MOST_LINES]


@dataclass(slots=True)
class PendingRequests:
    """Disallowed requests with one request line that came after the last copy of robots.txt: the next copy may show
    that it had changed before they came."""

    since: float
    """The version by which the first was judged."""
    line: int
    """The line of the rule; 0 if no rule decided."""
    broken: BrokenRule


@dataclass(slots=True)
class PendingTimes:
    """When requests came after the last copy of robots.txt, if that has limits or a Visit-time."""

    seconds: dict[int, int] = field(default_factory=dict)
    """Requests by second."""
    outside: list[LoggedLine] = field(default_factory=list)
    """The first of those that are outside the hours of Visit-time, as far as is known."""

    def merge(self, other: "PendingTimes") -> None:
        """Adds later requests."""
        for second, count in other.seconds.items():
            if second in self.seconds or len(self.seconds) < MOST_PENDING_TIMES:
                self.seconds[second] = self.seconds.get(second, 0) + count
        self.outside = first_lines(*self.outside, *other.outside)


@dataclass(slots=True)
class VersionBlock:
    """Requests of one block that are judged by one version of robots.txt."""

    requests: int = 0
    disallowed: int = 0
    bytes: int = 0
    """Bytes sent for disallowed requests."""
    in_grace: int = 0
    """Requests that this version disallows, but that another version allows which may have been in force."""
    rules: dict[int, BrokenRule] = field(default_factory=dict)
    """Broken rules by their line in the version; 0 if no rule decided."""
    visits: VisitTimes = field(default_factory=VisitTimes)
    seconds: dict[Limit, dict[int, int]] = field(default_factory=dict)
    """Requests by limit and second."""


@dataclass(slots=True)
class VersionCounts:
    """All requests that are judged by one version of robots.txt."""

    requests: int = 0
    disallowed: int = 0
    bytes: int = 0
    in_grace: int = 0
    rules: dict[int, BrokenRule] = field(default_factory=dict)
    visits: VisitTimes = field(default_factory=VisitTimes)
    paces: list[Pace] = field(default_factory=list)

    def add(self, block: VersionBlock) -> None:
        """Adds the next block."""
        self.requests += block.requests
        self.disallowed += block.disallowed
        self.bytes += block.bytes
        self.in_grace += block.in_grace
        self.visits.merge(block.visits)
        for line, broken in block.rules.items():
            if line in self.rules:
                self.rules[line].merge(broken)
            else:
                self.rules[line] = broken
        if len(self.rules) > 2 * MOST_RULES:
            kept = nlargest(MOST_RULES, self.rules, key=lambda line: (self.rules[line].requests, -line))
            self.rules = {line: self.rules[line] for line in kept}
        for limit, seconds in block.seconds.items():
            pace = next((pace for pace in self.paces if pace.limit == limit), None)
            if pace is None:
                self.paces.append(pace := Pace(limit))
            pace.add(seconds)

    @property
    def left_out(self) -> int:
        """Disallowed requests whose rule is not kept."""
        return self.disallowed - sum(broken.requests for broken in self.rules.values())


@dataclass(slots=True)
class ObedienceBlock:
    """How one robot obeyed in one block."""

    not_known: int = 0
    """Requests before the first version."""
    not_judged: int = 0
    """Requests that ask for no URL of the site: `*`, another host, or none at all."""
    before: int = 0
    """Requests before the first one for robots.txt in this block."""
    robots_txt_at: int | None = None
    """When it first requested robots.txt in this block."""
    followed: FollowedLinks = field(default_factory=FollowedLinks)
    pending: dict[str, PendingRequests] = field(default_factory=dict)
    """Disallowed requests after the last copy, by request line. They are among the requests of `versions`, but not
    among those that are disallowed."""
    pending_times: PendingTimes = field(default_factory=PendingTimes)
    versions: dict[float, VersionBlock] = field(default_factory=dict)
    """By the time since which a version is known."""


@dataclass(slots=True)
class ObedienceCounts:
    """How one robot obeyed."""

    not_known: int = 0
    not_judged: int = 0
    before: int = 0
    """Requests before its first request for robots.txt, or all if there was none."""
    robots_txt_at: int | None = None
    followed: FollowedLinks = field(default_factory=FollowedLinks)
    pending: dict[str, PendingRequests] = field(default_factory=dict)
    """At most `MOST_PENDING`."""
    pending_times: PendingTimes = field(default_factory=PendingTimes)
    versions: dict[float, VersionCounts] = field(default_factory=dict)

    def add(self, block: ObedienceBlock) -> None:
        """Adds the next block."""
        self.not_known += block.not_known
        self.not_judged += block.not_judged
        if self.robots_txt_at is None:
            self.before += block.before
            self.robots_txt_at = block.robots_txt_at
        self.followed.merge(block.followed)
        for request, pending in block.pending.items():
            if request in self.pending:
                self.pending[request].broken.merge(pending.broken)
            elif len(self.pending) < MOST_PENDING:
                self.pending[request] = pending
            else:
                self.add_disallowed(pending)
        self.pending_times.merge(block.pending_times)
        for since, counts in block.versions.items():
            self.version(since).add(counts)

    def add_disallowed(self, pending: PendingRequests) -> None:
        """Counts requests as disallowed that were pending."""
        broken = pending.broken
        rules = {pending.line: broken}
        self.version(pending.since).add(VersionBlock(disallowed=broken.requests, bytes=broken.bytes, rules=rules))

    def add_in_grace(self, pending: PendingRequests) -> None:
        """Counts requests as allowed by another version that were pending."""
        self.version(pending.since).in_grace += pending.broken.requests

    def version(self, since: float) -> VersionCounts:
        """Returns the counts of a version."""
        return self.versions.setdefault(since, VersionCounts())

    @property
    def is_pending(self) -> bool:
        """Whether something came after the last copy that was known when it was counted."""
        return bool(self.pending or self.pending_times.seconds)

    @property
    def judged(self) -> int:
        """Requests whose rules are known."""
        return sum(counts.requests for counts in self.versions.values())

    @property
    def disallowed(self) -> int:
        """Requests that robots.txt disallowed."""
        return sum(counts.disallowed for counts in self.versions.values())
