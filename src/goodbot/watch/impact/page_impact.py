"""Judges pages by two robots.txt files, for each robot."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from goodbot.exclusion import product_token
from goodbot.registry import Registry
from goodbot.watch.impact.changed_paths import ChangedPaths
from goodbot.watch.impact.impact import MOST_PATHS, Impact, RobotImpact, RobotLabel, most_changed_first
from goodbot.watch.impact.rule_changes import Change, RobotChange, RuleChanges, Unchanged
from goodbot.watch.report.obedience_report import USER_TRIGGERED

MOST_ROBOTS: Final = 500
"""Robots for which pages are judged: those that the user names, `*`, then those of the files in their order."""

EVERY_OTHER: Final = "*"


@dataclass(slots=True)
class _Alike:
    """Robots that read the same rules, and the pages that were judged for them."""

    labels: list[RobotLabel] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    still_disallowed: int = 0


class PageImpact:
    """Counts for how many pages a verdict changes: for the robots that either file names, for those in `agents` (tokens
    or User-Agents), and for all others (`*`)."""

    def __init__(self, changes: RuleChanges, registry: Registry, agents: Iterable[str] = ()) -> None:
        self._alike: dict[int, tuple[RobotChange, _Alike]] = {}
        named: dict[str, tuple[RobotLabel, RobotChange, bool]] = {}
        for name in (*agents, EVERY_OTHER, *changes.names):
            robot = _robot(name, changes, registry)
            named.setdefault(robot[0].name.lower(), robot)
        self.robots_left_out = max(len(named) - MOST_ROBOTS, 0)
        self._user_triggered: set[RobotLabel] = set()
        for label, change, user_triggered in [*named.values()][:MOST_ROBOTS]:
            _, alike = self._alike.setdefault(id(change), (change, _Alike()))
            alike.labels.append(label)
            if user_triggered:
                self._user_triggered.add(label)
        self._paths = ChangedPaths()
        self._pages = 0
        self._changed = 0
        self._opened = 0
        self._closed = 0

    def add(self, url: str) -> None:
        """Judges a page by its URL (absolute, or a path with its query) for every robot."""
        self._pages += 1
        found: dict[Change, list[RobotLabel]] = {}
        for change, alike in self._alike.values():
            outcome = change.outcome(url)
            if outcome is Unchanged.DISALLOWED:
                alike.still_disallowed += 1
            elif not isinstance(outcome, Unchanged):
                alike.closed += outcome.closes
                alike.opened += not outcome.closes
                found.setdefault(outcome, []).extend(alike.labels)
        for outcome, labels in found.items():
            self._paths.add(outcome, labels)
        self._changed += bool(found)
        self._closed += any(outcome.closes for outcome in found)
        self._opened += any(not outcome.closes for outcome in found)

    def impact(self) -> Impact:
        """Returns what was counted until now."""
        robots = [
            RobotImpact(
                label,
                self._pages,
                alike.opened,
                alike.closed,
                alike.still_disallowed,
                None,
                label in self._user_triggered,
            )
            for _, alike in self._alike.values()
            for label in alike.labels
        ]
        paths = self._paths.top(MOST_PATHS, has_bytes=False)
        count, is_exact = self._paths.paths
        return Impact(
            "pages",
            self._pages,
            self._changed,
            self._opened,
            self._closed,
            None,
            count,
            is_exact,
            most_changed_first(robots),
            paths,
            self._paths.pairs - len(paths),
            0,
        )


def _robot(name: str, changes: RuleChanges, registry: Registry) -> tuple[RobotLabel, RobotChange, bool]:
    """Returns a robot as it is called, its rules, and whether it is user-triggered. A name that is on record is that
    robot's."""
    if name == EVERY_OTHER:
        return RobotLabel(EVERY_OTHER), changes.of_agent(""), False
    known = registry.find_token(name) or registry.find(name)
    if known is None:
        return RobotLabel(product_token(name) or name), changes.of_agent(name), False
    return RobotLabel(known.name), changes.of_robot(known), known.purpose in USER_TRIGGERED
