"""Counts logs from their files: opens them, reads blocks, counts them, and remembers how far."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goodbot.errors import InputError, RunError
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.processes import count_blocks
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LogEntry
from goodbot.watch.reader.block_reader import BlockReader
from goodbot.watch.reader.following import ChangedLogs
from goodbot.watch.reader.log_positions import KNOWN_BYTES, find_positions
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

    def add(self, more: "LogsRead") -> None:
        """Adds what became of logs that were read later. A log is named once, with its last damage."""
        self.read = [*dict.fromkeys((*self.read, *more.read))]
        self.again = [*dict.fromkeys((*self.again, *more.again))]
        later = {*more.read, *more.again}
        self.damage = [*(one for one in self.damage if one.source not in later), *more.damage]


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

    def count(self, sources: Sequence[str], known_only: Collection[str] = ()) -> LogsRead:
        """Counts the logs in the order of their first requests. Of a log that was counted before, only what is new is
        read. `known_only`: those of the logs that count only if they were counted before, under another name.

        `complete_only`: a last line without its newline is left for the next time. Raises InputError if a log cannot be
        opened, RunError if reading fails; then the state has counts of a part and must not be saved.
        """
        self._sizes = {source: size_of(source) for source in sources}
        self._done = 0
        self._known_only = known_only
        for counts in count_blocks(self._blocks(in_order(sources)), self._make_counter, self._processes):
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
        head = stream.head(KNOWN_BYTES) if is_file else b""
        reader = BlockReader(stream, complete_only=self._complete_only)
        found = find_positions(self._state.positions, head) if is_file else []
        known = next(filter(reader.go_on_from, found), None)
        if known is None and source in self._known_only:
            return
        total = sum(self._sizes.values())
        for block in reader.blocks():
            yield block
            self._progress(self._done + min(stream.position, self._sizes[source]), total)
        if stream.damage is not None:
            self.logs.damage.append(stream.damage)
        is_new = known is None or reader.counted > known.counted
        (self.logs.read if is_new else self.logs.again).append(source)
        if is_file and reader.counted:
            self._state.keep(known, known if known and not is_new else reader.position(head))


def count_changed(
    changed: ChangedLogs, state: WatchState, make_counter: Callable[[], BlockCounter], logs: LogsRead
) -> bool:
    """Counts what is new in logs that have changed, and adds to `logs` what became of them. Returns whether there was
    something new.

    Raises InputError if a log cannot be opened, RunError if reading fails.
    """
    lines = state.tally.lines
    known_only = (*changed.gone, *changed.rotated)
    for source in (*known_only, *changed.logs):  # the older ones first
        try:
            found = LogCounting(state, make_counter, complete_only=True).count([source], known_only)
            if source not in changed.gone:
                logs.add(found)
        except InputError:
            if Path(source).exists():
                raise
            # it was renamed since it was looked at; the next look finds it by its new name
    return state.tally.lines > lines


def size_of(source: str) -> int:
    """Returns the bytes of a file; 0 for standard input. Raises InputError if it cannot be looked at."""
    try:
        return 0 if source == STDIN else Path(source).stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error


def in_order(sources: Sequence[str]) -> Sequence[str]:
    """Returns logs in the order of their first requests. Raises InputError if a log cannot be opened, RunError if
    reading fails."""
    return sorted(sources, key=_first_time) if len(sources) > 1 else sources


def _first_time(source: str) -> float:
    """Returns the time of the first request near the beginning of a log; infinity if there is none. A shell lists
    `access.log` before `access.log.1`, which is older."""
    if source == STDIN or not Path(source).is_file():
        return math.inf
    stream = open_log(source)
    try:
        head = stream.head(KNOWN_BYTES).decode("latin-1").split("\n")
    except OSError as error:
        raise RunError(f"cannot read {source}: {error.strerror or error}") from error
    finally:
        stream.close()
    reader = LineReader()
    entries = (entry for line in head[:-1] or head if isinstance(entry := reader.read(line), LogEntry))
    return next((float(entry.at) for entry in entries), math.inf)
