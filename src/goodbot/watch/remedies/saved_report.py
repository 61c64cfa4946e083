"""Reads a report that `goodbot watch --json` wrote: of all its keys, those that remedies need."""

from typing import Final

import msgspec

from goodbot.errors import InputError
from goodbot.watch.obedience.shares import BROKEN_SHARE

MAX_BYTES: Final = 64 * 1024 * 1024


class SavedShare(msgspec.Struct):
    """A share from 0 to 1, with its interval."""

    value: float
    low: float
    high: float


def _is_broken(share: SavedShare | None) -> bool:
    """Whether a limit with this share counts as broken, as in the report of `goodbot watch`."""
    return share is not None and share.low > BROKEN_SHARE


class SavedPeriod(msgspec.Struct):
    """Unix seconds; None if there was no request."""

    first: float | None = None
    last: float | None = None


class SavedRule(msgspec.Struct):
    """A rule that requests broke."""

    line: int | None = None
    rule: str = ""
    group: list[str] = msgspec.field(default_factory=list)
    copy_at: float | None = None
    requests: int = 0
    bytes: int = 0
    first: float | None = None
    last: float | None = None
    log_lines: list[str] = msgspec.field(default_factory=list)


class SavedDelay(msgspec.Struct):
    """A Crawl-delay, and how many of the gaps between requests were shorter."""

    asked_s: float
    gaps: int = 0
    short: int = 0
    share: SavedShare | None = None

    @property
    def is_broken(self) -> bool:
        return _is_broken(self.share)


class SavedRate(msgspec.Struct):
    """A Request-rate, and how many of the windows of time had more requests."""

    documents: int
    seconds: float
    windows: int = 0
    exceeded: int = 0
    share: SavedShare | None = None

    @property
    def is_broken(self) -> bool:
        return _is_broken(self.share)


class SavedVisitTime(msgspec.Struct):
    """Requests outside the time of Visit-time."""

    requests: int = 0
    outside: int = 0
    share: SavedShare | None = None
    log_lines: list[str] = msgspec.field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        return _is_broken(self.share)


class SavedNofollow(msgspec.Struct):
    """Requests whose Referer is a page that asked robots not to follow its links."""

    followed: int = 0
    log_lines: list[str] = msgspec.field(default_factory=list)


class SavedRobotsTxt(msgspec.Struct):
    """Requests for robots.txt."""

    fetches: int = 0
    before: int = 0


class SavedObedience(msgspec.Struct):
    """How the requests of a robot fit the robots.txt of their time."""

    user_triggered: bool = False
    judged: int = 0
    share: SavedShare | None = None
    rules: list[SavedRule] = msgspec.field(default_factory=list)
    rules_left_out: int = 0
    crawl_delay: list[SavedDelay] = msgspec.field(default_factory=list)
    request_rate: list[SavedRate] = msgspec.field(default_factory=list)
    visit_time: SavedVisitTime | None = None
    nofollow: SavedNofollow | None = None
    robots_txt: SavedRobotsTxt | None = None


class SavedAddress(msgspec.Struct):
    """An address and its requests."""

    address: str
    requests: int = 0


class SavedAddressCount(msgspec.Struct):
    """How many different addresses there were; not `exact` if they were estimated."""

    count: int = 0
    exact: bool = True


class SavedAgent(msgspec.Struct):
    """A User-Agent and its requests."""

    user_agent: str
    requests: int = 0


class SavedRobot(msgspec.Struct):
    """A robot in one tier."""

    name: str
    tier: str
    requests: int = 0
    bytes: int = 0
    disallowed: int | None = None
    obedience: SavedObedience | None = None
    period: SavedPeriod = msgspec.field(default_factory=SavedPeriod)
    addresses: SavedAddressCount = msgspec.field(default_factory=SavedAddressCount)
    busiest_addresses: list[SavedAddress] = msgspec.field(default_factory=list)
    user_agents: list[SavedAgent] = msgspec.field(default_factory=list)
    evidence: list[str] = msgspec.field(default_factory=list)


class SavedUndeclared(msgspec.Struct):
    """An address or a group that behaved like a robot and names none."""

    address: str
    verdict: str
    members: list[str] = msgspec.field(default_factory=list)
    user_agent: str = ""


class SavedRules(msgspec.Struct):
    """The robots.txt by which requests were judged. `since`: the time of its first copy in Unix seconds; None if one
    file counted for all times."""

    since: float | None = None


class SavedReport(msgspec.Struct):
    """The report. Every key that it does not need is skipped."""

    robots: list[SavedRobot]
    undeclared: list[SavedUndeclared] = msgspec.field(default_factory=list)
    robots_txt: SavedRules | None = None


_decode: Final = msgspec.json.Decoder(SavedReport).decode


def parse_report(body: bytes, source: str) -> SavedReport:
    """Reads a report of at most `MAX_BYTES`. Raises InputError, naming `source`, for anything else."""
    if len(body) >= MAX_BYTES:
        raise InputError(f"{source} has {MAX_BYTES:,} bytes or more, which is too long for a report")
    try:
        return _decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        wanted = "the JSON of one report: goodbot watch LOG --robots FILE --json"
        raise InputError(f"{source} is not {wanted} ({error or 'it is nested too deeply'})") from error
