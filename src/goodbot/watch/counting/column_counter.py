"""Counts blocks with pyarrow and numpy (the extra `fast`), in a third of the time of `LineCounter`."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from goodbot.registry import KnownRobot
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import MOST_HOSTS, PATHS, BlockCounts
from goodbot.watch.counting.client_columns import client_columns
from goodbot.watch.counting.columns import ColumnReader, Columns, Ints, TextColumn
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.frequent import reduced
from goodbot.watch.counting.identities import DAY_S, Identities
from goodbot.watch.counting.obedience_judge import BlockLines, ObedienceJudge, OtherRow, RobotRow
from goodbot.watch.counting.rates import busy_seconds
from goodbot.watch.counting.request_columns import RequestColumns
from goodbot.watch.counting.request_kinds import KINDS, RequestKind
from goodbot.watch.counting.robot_totals import ROBOT_PATHS, SLOW_S, Durations, RequestCounts, RobotBlock, RobotKey
from goodbot.watch.counting.signature_judge import SignatureJudge


class ColumnCounter:
    """Counts the columns of a block."""

    def __init__(self, identities: Identities, options: CountingOptions) -> None:
        self._identities = identities
        self._options = options
        self._reader = ColumnReader(options)
        self._requests = RequestColumns()
        self._judge = ObedienceJudge.of(options)
        self._signatures = SignatureJudge(identities, options)

    def count(self, block: Block) -> BlockCounts:
        """Counts the requests of a block."""
        read = self._reader.read(block)
        result = BlockCounts(lines=read.lines, skipped=read.skipped, formats=read.formats)
        columns = self._within(read.columns)
        result.outside = len(read.columns) - len(columns)
        requests = self._requests.read(columns.request)
        result.counts = _counts(columns, requests.kinds)
        result.durations = _durations(columns)
        result.robots_txt = _robots_txt(columns, requests.kinds)
        result.requested, result.requested_error = _top(columns.request, PATHS)
        robots, robot_rows, numbers = self._robots(columns)
        result.hosts = reduced(read.hosts, MOST_HOSTS)[0]
        result.signatures, verified = self._signatures.judge(read.signed)
        by_robot = self._by_robot(columns.take(robot_rows), robots, numbers[robot_rows], verified)
        others = columns.take(np.flatnonzero(numbers < 0))
        result.robots = {key: _robot_block(rows, requests.kinds) for key, rows in by_robot.items()}
        if self._judge is not None:
            known = {robot.name: robot for robot in robots}
            lines = BlockLines(block.data)
            self._judge.trim()
            result.elsewhere = reduced(Counter(read.elsewhere.values()), MOST_HOSTS)[0]
            for key, rows in by_robot.items():
                obedience = self._judge.judge_robot(known[key.name], _rows_of_robot(rows), lines, read.elsewhere)
                result.robots[key].obedience = obedience
            result.disallowed = self._judge.judge_others(_rows_of_others(others), lines, read.elsewhere)
        result.clients = client_columns(others, requests)
        return result

    def _within(self, columns: Columns) -> Columns:
        since, until = self._options.since, self._options.until
        if since is None and until is None:
            return columns
        inside = np.ones(len(columns), bool)
        if since is not None:
            inside &= columns.at >= since
        if until is not None:
            inside &= columns.at < until
        return columns.take(np.flatnonzero(inside))

    def _robots(self, columns: Columns) -> tuple[list[KnownRobot], Ints, Ints]:
        """Returns the known robots, the rows with one, and for each row the number of its robot, or -1."""
        places: dict[str, int] = {}
        robots: list[KnownRobot] = []
        numbers = []
        for agent in columns.agent.octets():
            robot = self._identities.robot_of(agent.decode("latin-1")) if agent else None
            if robot is not None and robot.name not in places:
                places[robot.name] = len(robots)
                robots.append(robot)
            numbers.append(-1 if robot is None else places[robot.name])
        codes = columns.agent.codes
        by_row = np.where(codes < 0, -1, np.array([*numbers, -1], np.int64)[codes])
        return robots, np.flatnonzero(by_row >= 0), by_row

    def _by_robot(
        self, columns: Columns, robots: list[KnownRobot], numbers: Ints, verified: dict[int, RobotKey]
    ) -> dict[RobotKey, Columns]:
        days = columns.at // DAY_S
        first_day = int(days.min(initial=0))
        addresses = len(columns.address.values)
        pairs = ((days - first_day) * len(robots) + numbers) * addresses + columns.address.codes
        unique, place = np.unique(pairs, return_inverse=True)
        keys: dict[RobotKey, int] = {}
        key_of_pair = []
        texts = columns.address.texts(unique % addresses) if len(unique) else []
        for pair, address in zip((unique // max(addresses, 1)).tolist(), texts, strict=True):
            day, robot = divmod(pair, len(robots))
            key = self._identities.key_of(robots[robot], address, (day + first_day) * DAY_S)
            key_of_pair.append(keys.setdefault(key, len(keys)))
        key_of_row = np.array(key_of_pair, np.int64)[place]
        rows_of_lines = np.searchsorted(columns.line, [*verified])  # the rows are in the order of the log
        for row, key in zip(rows_of_lines.tolist(), verified.values(), strict=True):
            key_of_row[row] = keys.setdefault(key, len(keys))
        order = np.argsort(key_of_row, kind="stable")
        bounds = np.searchsorted(key_of_row[order], np.arange(len(keys) + 1))
        rows = {key: order[bounds[number] : bounds[number + 1]] for key, number in keys.items()}
        return {key: columns.take(taken) for key, taken in rows.items() if len(taken)}


def _rows_of_robot(columns: Columns) -> Iterator[RobotRow]:
    requests = _decoded(columns.request)
    return zip(columns.at.tolist(), requests, columns.size.tolist(), columns.line.tolist(), strict=True)


def _rows_of_others(columns: Columns) -> Iterator[OtherRow]:
    requests, addresses, agents = map(_decoded, (columns.request, columns.address, columns.agent))
    return zip(columns.at.tolist(), requests, columns.line.tolist(), addresses, agents, strict=True)


def _decoded(column: TextColumn) -> list[str]:
    """Returns the text of each row; for -1 an empty one."""
    used, places = np.unique(column.codes, return_inverse=True)
    texts = column.texts(used[used >= 0])
    return np.array([*[""] * int((used < 0).sum()), *texts], object)[places].tolist()  # type: ignore[no-any-return]


def _robot_block(columns: Columns, kinds: Ints) -> RobotBlock:
    lines, error = _top(columns.request, ROBOT_PATHS)
    timed = ~np.isnan(columns.duration)
    return RobotBlock(
        counts=_counts(columns, kinds),
        durations=_durations(columns),
        robots_txt=_robots_txt(columns, kinds),
        seconds=Counter(columns.at.tolist()),
        busy=busy_seconds(zip(columns.at[timed].tolist(), columns.duration[timed].tolist(), strict=True)),
        lines=lines,
        lines_error=error,
        addresses=_top(columns.address, len(columns))[0],
        agents=_top(columns.agent, len(columns))[0],
    )


def _robots_txt(columns: Columns, kinds: Ints) -> Counter[int]:
    """Counts the answers to requests for robots.txt."""
    return Counter(columns.status[kinds[columns.request.codes] == RequestKind.ROBOTS_TXT].tolist())


def _counts(columns: Columns, kinds: Ints) -> RequestCounts:
    statuses = np.bincount(columns.status)
    return RequestCounts(
        len(columns),
        int(columns.size.sum()),
        np.bincount(kinds[columns.request.codes], minlength=KINDS).tolist(),
        Counter({status: int(statuses[status]) for status in np.flatnonzero(statuses).tolist()}),
        np.bincount(columns.hour, minlength=24).tolist(),
        int(columns.at.min()) if len(columns) else None,
        int(columns.at.max()) if len(columns) else None,
    )


def _durations(columns: Columns) -> Durations:
    timed = columns.duration[~np.isnan(columns.duration)].tolist()
    return Durations(len(timed), sum(timed), sum(spent >= SLOW_S for spent in timed), max(timed, default=0.0))


def _top(column: TextColumn, kept: int) -> tuple[dict[str, int], int]:
    """Does what `reduced` does, on a column."""
    if len(column.codes) < len(column.values) // 8:
        used, counts = np.unique(column.codes, return_counts=True)
    else:
        counts = np.bincount(column.codes, minlength=len(column.values))
        used = np.flatnonzero(counts)
        counts = counts[used]
    cut = 0
    if len(used) > kept:
        cut = int(np.partition(counts, len(used) - kept - 1)[len(used) - kept - 1])
        used, counts = used[counts > cut], counts[counts > cut]
    return dict(zip(column.texts(used), (counts - cut).tolist(), strict=True)), cut
