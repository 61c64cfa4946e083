"""Counts logs from their files: opens them, reads blocks, counts them, and remembers how far."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goodbot.errors import InputError, RunError
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.processes import count_blocks
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LogEntry
from goodbot.watch.reader.block_reader import BlockReader
from goodbot.watch.reader.log_files import FoundLogs, logs_of_folder, usual_logs
from goodbot.watch.reader.log_positions import HEAD_BYTES, find_position, position_of
from goodbot.watch.reader.opening import STDIN, Damage, LogStream, open_log
from goodbot.watch.watch_state import WatchState

Progress = Callable[[int, int], None]
"""Takes the bytes read, and the bytes of all logs."""


@dataclass(slots=True)
class LogsRead:
    """What became of the logs."""

    read: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    """Logs that have nothing new: they were counted before, under this name or another one."""
    damage: list[Damage] = field(default_factory=list)


def find_logs(names: Sequence[str], root: Path = Path("/")) -> FoundLogs:
    """Returns the logs that are meant: the files named, those in folders named, or those in the usual places.

    Raises InputError if there is none.
    """
    if not names:
        found = usual_logs(root)
        if not found.logs:
            unreadable = "".join(f"; {path}: {reason}" for path, reason in found.passed_over)
            raise InputError(f"no access log in the usual places; name a LOG, or - for standard input{unreadable}")
        return found
    logs: list[str] = []
    passed_over: list[tuple[str, str]] = []
    for name in names:
        if name != STDIN and Path(name).is_dir():
            try:
                found = logs_of_folder(Path(name))
            except OSError as error:
                raise InputError(f"cannot list {name}: {error.strerror}") from error
            if not found.logs:
                raise InputError(f"the folder {name} has no access log that can be read; name the files")
            logs += found.logs
            passed_over += found.passed_over
        else:
            logs.append(name)
    return FoundLogs(tuple(dict.fromkeys(logs)), tuple(passed_over))


class LogCounting:
    """Counts logs into a state, one after the other."""

    def __init__(
        self,
        state: WatchState,
        make_counter: Callable[[], BlockCounter],
        *,
        processes: int = 1,
        complete_only: bool = False,
        progress: Progress = lambda done, size: None,
    ) -> None:
        self._state = state
        self._make_counter = make_counter
        self._processes = processes
        self._complete_only = complete_only
        self._progress = progress
        self.logs = LogsRead()

    def count(self, sources: Sequence[str]) -> LogsRead:
        """Counts the logs in the order of their first requests. A log whose beginning was counted before is read from
        there on only.

        `complete_only`: a last line without its newline is left for the next time. Raises InputError if a log cannot be
        opened, RunError if reading fails; then the state has counts of a part and must not be saved.
        """
        self._sizes = {source: _size(source) for source in sources}
        self._done = 0
        in_order = sorted(sources, key=_first_time) if len(sources) > 1 else sources
        for counts in count_blocks(self._blocks(in_order), self._make_counter, self._processes):
            self._state.tally.add(counts)
        return self.logs

    def _blocks(self, sources: Sequence[str]) -> Iterator[Block]:
        for source in sources:
            stream = open_log(source)
            try:
                yield from self._blocks_of(source, stream)
            except OSError as error:
                raise RunError(f"cannot read {source}: {error.strerror or error}") from error
            finally:
                stream.close()
            self._done += self._sizes[source]

    def _blocks_of(self, source: str, stream: LogStream) -> Iterator[Block]:
        is_file = stream.size is not None
        head = stream.head(HEAD_BYTES) if is_file else b""
        known = find_position(self._state.positions, head) if is_file else None
        reader = BlockReader(stream, header=known.header if known else None, complete_only=self._complete_only)
        start = known.counted if known else 0
        total = sum(self._sizes.values())
        for block in reader.blocks(start):
            yield block
            self._progress(self._done + min(stream.position, self._sizes[source]), total)
        if stream.damage is not None:
            self.logs.damage.append(stream.damage)
        is_new = known is None or reader.counted > start
        (self.logs.read if is_new else self.logs.again).append(source)
        if is_file and reader.counted:
            self._state.keep(known, position_of(source, head, reader.counted, reader.header))


def _size(source: str) -> int:
    try:
        return 0 if source == STDIN else Path(source).stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error


def _first_time(source: str) -> float:
    """Returns the time of the first request near the beginning of a log; infinity if there is none. A shell lists
    `access.log` before `access.log.1`, which is older."""
    if source == STDIN or not Path(source).is_file():
        return math.inf
    stream = open_log(source)
    try:
        head = stream.head(HEAD_BYTES).decode("latin-1").split("\n")
    except OSError as error:
        raise RunError(f"cannot read {source}: {error.strerror or error}") from error
    finally:
        stream.close()
    reader = LineReader()
    entries = (entry for line in head[:-1] or head if isinstance(entry := reader.read(line), LogEntry))
    return next((float(entry.at) for entry in entries), math.inf)
