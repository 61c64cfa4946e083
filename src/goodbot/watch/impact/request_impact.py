"""Judges the requests of a log by two robots.txt files, each as the robot that sent it reads them."""

from dataclasses import dataclass

from goodbot.registry import KnownRobot
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounts
from goodbot.watch.counting.collection import without_collection
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.entry_rows import EntryRow, LineBlocks, within
from goodbot.watch.counting.identities import Identities
from goodbot.watch.impact.changed_paths import ChangedPaths
from goodbot.watch.impact.impact import MOST_PATHS, OTHERS, Impact, RobotImpact, RobotLabel, most_changed_first
from goodbot.watch.impact.rule_changes import RobotChange, RuleChanges, Unchanged
from goodbot.watch.report.obedience_report import USER_TRIGGERED
from goodbot.watch.wire_text import readable


@dataclass(slots=True)
class _Totals:
    """The counts of one robot."""

    requests: int = 0
    opened: int = 0
    closed: int = 0
    still_disallowed: int = 0
    bytes: int = 0
    user_triggered: bool = False


class RequestImpact:
    """Counts what changes, block by block. It is a `BlockCounter`: the counts that it returns have the lines, and what
    was skipped or left out; the impact stays here, so it can be used in one process only."""

    def __init__(self, changes: RuleChanges, identities: Identities, options: CountingOptions) -> None:
        self._changes = changes
        self._identities = identities
        self._options = options
        self._lines = LineBlocks(options)
        self._totals: dict[RobotLabel, _Totals] = {}
        self._paths = ChangedPaths()
        self._not_judged = 0

    def count(self, block: Block) -> BlockCounts:
        """Judges the requests of a block."""
        with without_collection():
            self._changes.trim()
            read = self._lines.read(block)
            entries = within(read.entries, self._options)
            judged = [entry for entry in entries if entry[9] not in read.elsewhere] if read.elsewhere else entries
            self._judge(judged)
            self._not_judged += len(entries) - len(judged)
        outside = len(read.entries) - len(entries)
        return BlockCounts(lines=read.lines, skipped=read.skipped, formats=read.formats, outside=outside)

    def _judge(self, entries: list[EntryRow]) -> None:
        senders = {agent: self._sender(agent) for agent in {entry[7] for entry in entries}}
        others = self._totals_of(RobotLabel(OTHERS))
        labels: dict[tuple[str, str], tuple[RobotLabel, _Totals]] = {}
        key_of = self._identities.key_of
        for address, at, _, request, _, size, _, agent, _, _ in entries:
            robot, outcomes = senders[agent]
            if robot is None:
                label, totals = _OTHERS, others
            else:
                key = key_of(robot, address, at)
                found = labels.get(key)
                if found is None:
                    label = RobotLabel(*key)
                    found = labels[key] = label, self._totals_of(label)
                    found[1].user_triggered = robot.purpose in USER_TRIGGERED
                label, totals = found
            outcome = outcomes[request]
            if outcome is Unchanged.NOT_JUDGED:
                self._not_judged += 1
                continue
            totals.requests += 1
            if outcome is Unchanged.DISALLOWED:
                totals.still_disallowed += 1
            elif not isinstance(outcome, Unchanged):
                totals.bytes += size
                if outcome.closes:
                    totals.closed += 1
                else:
                    totals.opened += 1
                self._paths.add(outcome, (label,), size)

    def _sender(self, agent: str | None) -> tuple[KnownRobot | None, RobotChange]:
        robot = self._identities.robot_of(agent) if agent else None
        if robot is None:
            return None, self._changes.of_agent(readable(agent or ""))
        return robot, self._changes.of_robot(robot)

    def _totals_of(self, label: RobotLabel) -> _Totals:
        return self._totals.setdefault(label, _Totals())

    def impact(self) -> Impact:
        """Returns what was counted until now."""
        robots = [
            RobotImpact(
                label, one.requests, one.opened, one.closed, one.still_disallowed, one.bytes, one.user_triggered
            )
            for label, one in self._totals.items()
            if one.requests
        ]
        paths = self._paths.top(MOST_PATHS)
        count, is_exact = self._paths.paths
        return Impact(
            "requests",
            sum(one.requests for one in robots),
            sum(one.changed for one in robots),
            sum(one.opened for one in robots),
            sum(one.closed for one in robots),
            sum(one.bytes or 0 for one in robots),
            count,
            is_exact,
            most_changed_first(robots),
            paths,
            self._paths.pairs - len(paths),
            self._not_judged,
        )


_OTHERS = RobotLabel(OTHERS)
