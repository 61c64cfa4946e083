"""Counts logs on a cluster: tasks count spans of them, and their counts are added in the order of the logs."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from goodbot.cluster.spark.log_tasks import MOST_BYTES, LogTask, TaskCounts, unpacked
from goodbot.errors import InputError
from goodbot.watch.blocks import BLOCK_BYTES
from goodbot.watch.reader.block_reader import last_header
from goodbot.watch.reader.log_positions import KNOWN_BYTES, find_positions
from goodbot.watch.reader.opening import open_log
from goodbot.watch.reader.spans import spans_of
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogsRead, Progress, in_order, size_of

SPAN_BLOCKS: Final = 4
"""Blocks of a span. A task counts one span."""

WAVES: Final = 2
"""Jobs that run while the counts of another one are added. Each has a task for every core of the cluster."""


@dataclass(slots=True, eq=False)
class _Log:
    """A log that is being counted."""

    source: str
    size: int
    head: bytes
    is_compressed: bool
    header: str | None = None
    """The last `#Fields:` line of the spans whose counts are added."""
    supposed_header: str | None = None
    """That of the spans that follow, as it is supposed."""

    @property
    def path(self) -> str:
        return str(Path(self.source).absolute())


@dataclass(slots=True)
class _Step:
    """A task, and what its log is."""

    log: _Log
    task: LogTask
    is_last: bool
    """Whether it ends the log."""


@dataclass(slots=True)
class _Wave:
    """Tasks that run as one job."""

    steps: list[_Step] = field(default_factory=list)
    counts: "Future[list[TaskCounts]] | None" = None


class Jobs(Protocol):
    """Runs tasks, several jobs at once."""

    def is_full(self, tasks: Sequence[LogTask]) -> bool:
        """Whether a job has enough tasks for all cores, or its counts will have as many bytes as may be held."""
        ...

    def start(self, tasks: Sequence[LogTask]) -> "Future[list[TaskCounts]]":
        """Starts a job with these tasks."""
        ...

    def result(self, tasks: Sequence[LogTask], counts: "Future[list[TaskCounts]]") -> list[TaskCounts]:
        """Waits for a job. Raises RunError if it fails."""
        ...


class ClusterLogCounting:
    """Counts logs into a state as `LogCounting` does, with the same result.

    Every machine must see the logs under the same path. A span is counted with the `#Fields:` line that is supposed to
    be the last one before it, and again if another one was.
    """

    def __init__(
        self,
        jobs: Jobs,
        state: WatchState,
        *,
        progress: Progress = lambda done, size: None,
        block_bytes: int = BLOCK_BYTES,
        span_blocks: int = SPAN_BLOCKS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """`block_bytes`, `span_blocks`, `most_bytes`: see `spans_of` and `LogTask`."""
        self._state = state
        self._jobs = jobs
        self._progress = progress
        self._block_bytes = block_bytes
        self._span_blocks = span_blocks
        self._most_bytes = most_bytes
        self._running: deque[_Wave] = deque()
        self._next = _Wave()
        self._done = 0
        self.logs = LogsRead()

    def count(self, sources: Sequence[str]) -> LogsRead:
        """Counts the logs in the order of their first requests. Raises InputError, see `check_logs`, RunError if
        reading or Spark fails."""
        check_logs(sources)
        self._total = sum(size_of(source) for source in sources)
        for source in in_order(sources):
            log = _opened(source)
            if any(log.head.startswith(other.head) for other in self._unfinished() if other.head):
                self._settle_all()
            for step in self._steps(log):
                self._add(step)
        self._settle_all()
        return self.logs

    def _unfinished(self) -> Iterator[_Log]:
        for wave in (*self._running, self._next):
            for step in wave.steps:
                yield step.log

    def _steps(self, log: _Log) -> Iterator[_Step]:
        """Yields the tasks of a log. Its size is what it is now: a log that grows is counted up to there."""
        positions = find_positions(self._state.positions, log.head)
        whole = LogTask(
            log.path,
            log.source,
            log.head,
            log.size,
            positions=(*positions,),
            block_bytes=self._block_bytes,
            most_bytes=self._most_bytes,
        )
        if log.is_compressed or positions or not log.size:
            yield _Step(log, whole, is_last=True)
            return
        for span in spans_of(log.size, self._span_blocks, self._block_bytes):
            header = log.supposed_header if span.start else None
            task = replace(whole, weight=span.end - span.start, span=span, header=header)
            yield _Step(log, task, span.is_last)

    def _add(self, step: _Step) -> None:
        self._next.steps.append(step)
        if self._jobs.is_full([one.task for one in self._next.steps]):
            self._start()
            while len(self._running) > WAVES:
                self._settle(self._running.popleft())

    def _start(self) -> None:
        if self._next.steps:
            self._next.counts = self._jobs.start([step.task for step in self._next.steps])
            self._running.append(self._next)
            self._next = _Wave()

    def _settle_all(self) -> None:
        self._start()
        while self._running:
            self._settle(self._running.popleft())

    def _settle(self, wave: _Wave) -> None:
        """Adds the counts of a wave."""
        assert wave.counts is not None  # noqa: S101  (it was started)
        found = self._jobs.result([step.task for step in wave.steps], wave.counts)
        self._correct(wave.steps, found)
        for step, counts in zip(wave.steps, found, strict=True):
            self._add_counts(step, counts)

    def _correct(self, steps: list[_Step], found: list[TaskCounts]) -> None:
        """Counts spans again that were counted with another `#Fields:` line than the last one before them."""
        wrong: dict[int, LogTask] = {}
        for place, (step, counts) in enumerate(zip(steps, found, strict=True)):
            log = step.log
            if step.task.span is not None:
                if step.task.header != log.header:
                    wrong[place] = replace(step.task, header=log.header)
                log.header = log.supposed_header = counts.header or log.header
        if wrong:
            again = self._run([*wrong.values()])
            for place, counts in zip(wrong, again, strict=True):
                found[place] = counts

    def _add_counts(self, step: _Step, counts: TaskCounts) -> None:
        task = step.task
        self._add_blocks(counts)
        while not counts.is_complete:
            task = replace(task, skipped=task.skipped + len(counts.blocks))
            (counts,) = self._run([task])
            self._add_blocks(counts)
        self._done += task.weight
        self._progress(self._done, self._total)
        if step.is_last:
            self._finish(step.log, task, counts)

    def _run(self, tasks: Sequence[LogTask]) -> list[TaskCounts]:
        return self._jobs.result(tasks, self._jobs.start(tasks))

    def _add_blocks(self, counts: TaskCounts) -> None:
        for data in counts.blocks:
            self._state.tally.add(unpacked(data))

    def _finish(self, log: _Log, task: LogTask, counts: TaskCounts) -> None:
        """Notes what became of a log, as `LogCounting` does."""
        known, position = counts.known, counts.position
        if position is not None and task.span is not None:
            position = replace(position, header=log.header)
        if counts.damage is not None:
            self.logs.damage.append(counts.damage)
        counted = log.size if task.span is not None else counts.counted
        is_new = known is None or counted > known.counted
        (self.logs.read if is_new else self.logs.again).append(log.source)
        if counted and position is not None:
            kept = next((one for one in self._state.positions if one == known), None)
            self._state.keep(kept, kept if kept and not is_new else position)


def check_logs(sources: Sequence[str]) -> None:
    """Raises InputError if a log cannot be opened, or is no file."""
    for source in sources:
        size_of(source)
        if not Path(source).is_file():
            raise InputError(f"cannot read {source}: it is not a regular file, so other machines cannot read it")
        try:
            Path(source).open("rb").close()
        except OSError as error:
            raise InputError(f"cannot read {source}: {error.strerror or error}") from error


def _opened(source: str) -> _Log:
    stream = open_log(source)
    try:
        assert stream.size is not None  # noqa: S101  (it is a file)
        head = stream.head(KNOWN_BYTES)
        lines = head[: head.rfind(b"\n") + 1]
        return _Log(source, stream.size, head, stream.is_compressed, supposed_header=last_header(lines))
    finally:
        stream.close()
