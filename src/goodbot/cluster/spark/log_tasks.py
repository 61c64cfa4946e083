"""Counts logs on an executor: reads a span of a log, or a whole log, and returns the counts of its blocks."""

import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from isal import isal_zlib

from goodbot.errors import RunError
from goodbot.watch.blocks import BLOCK_BYTES, Block
from goodbot.watch.counting.block_counts import BlockCounter, BlockCounts
from goodbot.watch.reader.block_reader import BlockReader
from goodbot.watch.reader.log_positions import KNOWN_BYTES, LogPosition
from goodbot.watch.reader.opening import Damage, LogStream
from goodbot.watch.reader.spans import Span, SpanReader, position_at_end

if TYPE_CHECKING:
    from pyspark import Broadcast

MOST_BYTES: Final = 16 * 1024 * 1024
"""Bytes of counts above which a task that counts a whole log ends, and leaves the next blocks to another task."""


@dataclass(frozen=True, slots=True)
class LogTask:
    """Counts one span of a plain log; or a whole log, if it is compressed or may go on where another one ended."""

    path: str
    """Absolute, the same on every machine."""
    source: str
    """The log's name, for messages."""
    head: bytes
    """The first `KNOWN_BYTES` bytes, by which the log is recognized if its file is replaced meanwhile."""
    weight: int
    """Bytes of the file."""
    span: Span | None = None
    header: str | None = None
    """The last `#Fields:` line before the span, as far as it is known."""
    positions: tuple[LogPosition, ...] = ()
    """How far logs with the same beginning were counted. This one may be a copy of one of them."""
    skipped: int = 0
    """Blocks that were counted by other tasks."""
    block_bytes: int = BLOCK_BYTES
    most_bytes: int = MOST_BYTES


@dataclass(slots=True)
class TaskCounts:
    """What a task has counted."""

    blocks: list[bytes] = field(default_factory=list)
    """The counts of each block, see `unpacked`."""
    header: str | None = None
    """The last `#Fields:` line in the span."""
    is_complete: bool = True
    """Whether a whole log was counted to its end."""
    known: LogPosition | None = None
    """The position from which a log goes on."""
    counted: int = 0
    """Bytes, decompressed, up to which a whole log was counted."""
    position: LogPosition | None = None
    """The position at the end of the log, if it was read up to there; for a span without the `#Fields:` line."""
    damage: Damage | None = None


class CounterMaker:
    """Makes one counter for each Python process of an executor, which has caches."""

    def __init__(self, make: Callable[[], BlockCounter]) -> None:
        self._make = make
        self._counter: BlockCounter | None = None

    def counter(self) -> BlockCounter:
        """Returns the counter of this process."""
        if self._counter is None:
            self._counter = self._make()
        return self._counter

    def __reduce__(self) -> "tuple[type[CounterMaker], tuple[Callable[[], BlockCounter]]]":
        return CounterMaker, (self._make,)


def count_task(counter: BlockCounter, task: LogTask) -> TaskCounts:
    """Counts what a task says. Raises RunError if the log cannot be read on this machine, or was changed since the task
    was made."""
    try:
        return _count_span(counter, task, task.span) if task.span else _count_whole(counter, task)
    except OSError as error:
        raise _unreadable(task, error) from error


def run_task(maker: "Broadcast[CounterMaker]", task: bytes) -> bytes:
    """Does what `count_task` does, with a task and counts as bytes."""
    counts = count_task(maker.value.counter(), pickle.loads(task))  # noqa: S301  (Spark's own way to send values)
    return pickle.dumps(counts, pickle.HIGHEST_PROTOCOL)


def _unreadable(task: LogTask, error: OSError) -> RunError:
    why = f"cannot read {task.path} on {socket.gethostname()}: {error.strerror or error}"
    is_missing = isinstance(error, FileNotFoundError)
    return RunError(f"{why}; every machine needs the logs, under the same path" if is_missing else why)


def _check_head(task: LogTask, head: bytes) -> None:
    if head != task.head:
        raise RunError(f"{task.source} was replaced while it was read")


def _count_span(counter: BlockCounter, task: LogTask, span: Span) -> TaskCounts:
    with Path(task.path).open("rb") as file:
        _check_head(task, file.read(KNOWN_BYTES))
        reader = SpanReader(file, task.source, span, task.block_bytes)
        blocks = [packed(counter.count(block)) for block in reader.blocks(task.header)]
        position = position_at_end(file, span.end, None) if span.is_last else None
        return TaskCounts(blocks, reader.header, position=position)


def _count_whole(counter: BlockCounter, task: LogTask) -> TaskCounts:
    """Does what `LogCounting` does with one log."""
    file = Path(task.path).open("rb")  # noqa: SIM115  (LogStream closes it)
    with closing(LogStream(task.source, file, task.weight)) as stream:
        _check_head(task, stream.head(KNOWN_BYTES))
        reader = BlockReader(stream, block_bytes=task.block_bytes)
        counts = TaskCounts(known=next(filter(reader.go_on_from, task.positions), None))
        blocks = islice(reader.blocks(), task.skipped, None)
        counts.is_complete = _fill(counts.blocks, counter, blocks, task.most_bytes)
        if counts.is_complete:
            counts.damage = stream.damage
            counts.counted = reader.counted
            counts.position = reader.position(task.head)
        return counts


def _fill(found: list[bytes], counter: BlockCounter, blocks: Iterator[Block], most_bytes: int) -> bool:
    """Counts blocks until their counts are too large. Returns whether all blocks are counted."""
    size = 0
    for block in blocks:
        found.append(packed(counter.count(block)))
        size += len(found[-1])
        if size >= most_bytes:
            return False
    return True


def packed(counts: BlockCounts) -> bytes:
    """Returns counts in a seventh of their bytes."""
    compressed: bytes = isal_zlib.compress(pickle.dumps(counts, pickle.HIGHEST_PROTOCOL), 1)
    return compressed


def unpacked(data: bytes) -> BlockCounts:
    """Returns the counts again. They come from our own executors."""
    counts = pickle.loads(isal_zlib.decompress(data))  # noqa: S301  (Spark's own way to send values)
    assert isinstance(counts, BlockCounts)  # noqa: S101  (`packed` made it)
    return counts
