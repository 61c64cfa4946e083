"""What changes when a robots.txt is replaced by another: the values of a report."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.registry import Tier

Judged = Literal["requests", "pages"]
"""What was judged: the requests of a log, or the pages of a list or a crawl for each robot."""

OTHERS: Final = "others"
"""The name under which requests of User-Agents that are no known robot's are counted."""

MOST_PATHS: Final = 1_000
"""Pairs of a path and a rule that a report lists."""


class RobotLabel(NamedTuple):
    """A robot's name and its tier; the tier is None for other User-Agents and for pages."""

    name: str
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class RobotImpact:
    """The requests of one robot, or the pages that were judged for it."""

    label: RobotLabel
    requests: int
    opened: int
    closed: int
    still_disallowed: int
    """Requests that both files disallow."""
    bytes: int | None
    """Bytes of the requests whose verdict changes; None for pages."""
    user_triggered: bool = False
    """Whether it fetches what a person asks for (`obedience_report.USER_TRIGGERED`)."""

    @property
    def changed(self) -> int:
        return self.opened + self.closed

    @property
    def allowed_before(self) -> int:
        return self.requests - self.opened - self.still_disallowed

    @property
    def allowed_after(self) -> int:
        return self.requests - self.closed - self.still_disallowed


@dataclass(frozen=True, slots=True)
class PathImpact:
    """A path whose verdict changes by one rule. All its requests are closed, or all are opened."""

    path: str
    closes: bool
    rule: str | None
    line: int | None
    """The line of `rule`: in the new file if the path is closed, else in the old one."""
    requests: int
    at_most: int
    """The upper bound of the true count, since `requests` may be too low."""
    bytes: int | None
    robots: tuple[tuple[RobotLabel, int], ...]
    """The robots with their requests, those with most requests first."""


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything that changes. `requests` counts pages if pages were judged; then `changed`, `opened` and `closed` are
    the pages whose verdict changes for at least one robot."""

    judged: Judged
    requests: int
    changed: int
    opened: int
    closed: int
    bytes: int | None
    paths_changed: int
    paths_are_exact: bool
    robots: tuple[RobotImpact, ...]
    """All robots, those with most changes first."""
    paths: tuple[PathImpact, ...]
    paths_left_out: int
    """How many pairs of a path and a rule are not in `paths`."""
    not_judged: int
    """Requests to which robots.txt does not apply."""


def most_changed_first(robots: list[RobotImpact]) -> tuple[RobotImpact, ...]:
    """Sorts robots: by changes, then by requests, then by name."""
    return tuple(
        sorted(robots, key=lambda one: (-one.changed, -one.requests, one.label.name.lower(), one.label.tier or ""))
    )
