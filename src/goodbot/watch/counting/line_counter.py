"""Counts blocks with the standard library alone, line by line."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from operator import itemgetter

from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import MOST_HOSTS, PATHS, BlockCounts
from goodbot.watch.counting.client_rows import client_rows
from goodbot.watch.counting.collection import without_collection
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.entry_rows import EntryRow, LineBlocks, within
from goodbot.watch.counting.frequent import reduced
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.obedience_judge import BlockLines, ObedienceJudge
from goodbot.watch.counting.rates import busy_seconds
from goodbot.watch.counting.request_cache import AgentCache, RequestCache, trim
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.counting.robot_totals import (
    ROBOT_PATHS,
    SLOW_S,
    Durations,
    RequestCounts,
    RobotBlock,
    RobotKey,
)
from goodbot.watch.counting.signature_judge import SignatureJudge

_AT, _HOUR, _REQUEST, _STATUS, _SIZE, _AGENT, _DURATION = (itemgetter(place) for place in (1, 2, 3, 4, 5, 7, 8))


class LineCounter:
    """Counts one line after the other."""

    def __init__(self, identities: Identities, options: CountingOptions) -> None:
        self._identities = identities
        self._options = options
        self._lines = LineBlocks(options)
        self._requests = RequestCache()
        self._agents = AgentCache()
        self._judge = ObedienceJudge.of(options)
        self._signatures = SignatureJudge(identities, options)

    def count(self, block: Block) -> BlockCounts:
        """Counts the requests of a block."""
        with without_collection():
            return self._count(block)

    def _count(self, block: Block) -> BlockCounts:
        trim(self._requests, self._agents)
        read = self._lines.read(block)
        result = BlockCounts(lines=read.lines, skipped=read.skipped, formats=read.formats)
        entries = within(read.entries, self._options)
        result.outside = len(read.entries) - len(entries)
        requested = Counter(map(_REQUEST, entries))
        result.counts = self._counts(entries, requested)
        result.durations = durations_of(map(_DURATION, entries))
        result.robots_txt = self._robots_txt(entries, requested)
        result.requested, result.requested_error = reduced(requested, PATHS)
        result.hosts = reduced(read.hosts, MOST_HOSTS)[0]
        result.signatures, verified = self._signatures.judge(read.signed)
        groups, others = self._by_robot(entries, verified)
        result.robots = {key: self._robot_block(group) for key, group in groups.items()}
        if self._judge is not None:
            self._add_obedience(self._judge, result, groups, others, BlockLines(block.data), read.elsewhere)
        result.clients = client_rows(others, self._requests, self._agents)
        return result

    def _add_obedience(
        self,
        judge: ObedienceJudge,
        result: BlockCounts,
        groups: dict[RobotKey, list[EntryRow]],
        others: list[EntryRow],
        lines: BlockLines,
        elsewhere: dict[int, str],
    ) -> None:
        judge.trim()
        result.elsewhere = reduced(Counter(elsewhere.values()), MOST_HOSTS)[0]
        for key, group in groups.items():
            robot = self._identities.robot_of(group[0][7] or "")
            if robot is not None:
                rows = ((entry[1], entry[3], entry[5], entry[9]) for entry in group)
                result.robots[key].obedience = judge.judge_robot(robot, rows, lines, elsewhere)
        rows_of_others = ((entry[1], entry[3], entry[9], entry[0], entry[7]) for entry in others)
        result.disallowed = judge.judge_others(rows_of_others, lines, elsewhere)

    def _by_robot(
        self, entries: list[EntryRow], verified: dict[int, RobotKey]
    ) -> tuple[dict[RobotKey, list[EntryRow]], list[EntryRow]]:
        """Sorts entries by known robot; the others come last. `verified`: by the places of lines with a signature."""
        groups: defaultdict[RobotKey, list[EntryRow]] = defaultdict(list)
        others: list[EntryRow] = []
        robot_of, key_of = self._identities.robot_of, self._identities.key_of
        robots = {agent: robot_of(agent) if agent else None for agent in set(map(_AGENT, entries))}
        for entry in entries:
            robot = robots[entry[7]]
            if robot is None:
                others.append(entry)
            else:
                key = verified.get(entry[9]) or key_of(robot, entry[0], entry[1])
                groups[key].append(entry)
        return groups, others

    def _counts(self, entries: list[EntryRow], requested: Counter[str]) -> RequestCounts:
        """Counts any entries. Counters do the work: they count in C."""
        counts = RequestCounts(len(entries), sum(map(_SIZE, entries)), statuses=Counter(map(_STATUS, entries)))
        for hour, count in Counter(map(_HOUR, entries)).items():
            counts.hours[hour] = count
        for request, count in requested.items():
            counts.kinds[self._requests[request][0]] += count
        counts.first_at = min(map(_AT, entries), default=None)
        counts.last_at = max(map(_AT, entries), default=None)
        return counts

    def _robots_txt(self, entries: list[EntryRow], requested: Counter[str]) -> Counter[int]:
        """Counts the answers to requests for robots.txt."""
        lines = {line for line in requested if self._requests[line][0] is RequestKind.ROBOTS_TXT}
        return Counter(entry[4] for entry in entries if entry[3] in lines) if lines else Counter()

    def _robot_block(self, entries: list[EntryRow]) -> RobotBlock:
        requested = Counter(map(_REQUEST, entries))
        lines, error = reduced(requested, ROBOT_PATHS)
        return RobotBlock(
            counts=self._counts(entries, requested),
            durations=durations_of(map(_DURATION, entries)),
            robots_txt=self._robots_txt(entries, requested),
            seconds=Counter(map(_AT, entries)),
            busy=busy_seconds((entry[1], entry[8]) for entry in entries),
            lines=lines,
            lines_error=error,
            addresses=Counter(entry[0] for entry in entries),
            agents=Counter(entry[7] or "" for entry in entries),
        )


def durations_of(durations: Iterable[float | None]) -> Durations:
    """Adds up the durations that are known."""
    timed = [duration for duration in durations if duration is not None]
    slow = sum(duration >= SLOW_S for duration in timed)
    return Durations(len(timed), sum(timed), slow, max(timed, default=0.0))
