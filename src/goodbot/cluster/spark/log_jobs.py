"""Runs the tasks that count logs as jobs of Spark."""

import pickle
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from goodbot.cluster.spark.log_counting import WAVES
from goodbot.cluster.spark.log_tasks import CounterMaker, LogTask, TaskCounts, run_task
from goodbot.cluster.spark.session import clear_errors
from goodbot.cluster.spark.worker_process import in_task
from goodbot.watch.counting.block_counts import BlockCounter

if TYPE_CHECKING:
    from pyspark import SparkContext

HELD_BYTES: Final = 256 * 1024 * 1024
"""About how many bytes of counts the jobs that run and the one that is added may return together."""

SUPPOSED_RATE: Final = 0.2
"""Bytes of counts for each byte of a log, before it is known from other logs."""


class SparkJobs:
    """Runs tasks on Spark, several jobs at once. They are cancelled if the block ends with an exception."""

    def __init__(self, context: "SparkContext", make_counter: Callable[[], BlockCounter]) -> None:
        self._context = context
        self._maker = CounterMaker(make_counter)
        self._group = f"goodbot-{uuid.uuid4()}"
        self._bytes = 0
        self._weight = 0

    def __enter__(self) -> "SparkJobs":
        self._sent = self._context.broadcast(self._maker)
        self._pool = ThreadPoolExecutor(WAVES + 1, thread_name_prefix="spark-job")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from py4j.protocol import Py4JError  # noqa: PLC0415  (only here is Spark loaded)

        with suppress(Py4JError, OSError):  # of a Java process that has ended
            if kind is not None:
                self._context.cancelJobGroup(self._group)
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._sent.destroy()

    def is_full(self, tasks: Sequence[LogTask]) -> bool:
        """See `Jobs`."""
        rate = self._bytes / self._weight if self._weight else SUPPOSED_RATE
        held = sum(min(task.weight * rate, task.most_bytes) for task in tasks)
        return len(tasks) >= self._context.defaultParallelism or held >= HELD_BYTES / (WAVES + 1)

    def start(self, tasks: Sequence[LogTask]) -> "Future[list[TaskCounts]]":
        """See `Jobs`."""
        return self._pool.submit(self._run, tasks)

    def result(self, tasks: Sequence[LogTask], counts: "Future[list[TaskCounts]]") -> list[TaskCounts]:
        """See `Jobs`."""
        with clear_errors():
            found = counts.result()
        self._bytes += sum(len(block) for one in found for block in one.blocks)
        self._weight += sum(task.weight for task in tasks)
        return found

    def _run(self, tasks: Sequence[LogTask]) -> list[TaskCounts]:
        self._context.setJobGroup(self._group, "goodbot cluster watch", interruptOnCancel=True)
        packed = [pickle.dumps(task) for task in tasks]
        results = self._context.parallelize(packed, len(packed)).map(in_task(partial(run_task, self._sent))).collect()
        return [pickle.loads(result) for result in results]  # noqa: S301  (Spark's own way to send values)
