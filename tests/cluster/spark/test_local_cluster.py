"""Logs are counted on two executors, one of which is killed."""

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession

from cluster.spark.many_logs import Counted, combined, counted_alone
from cluster.spark.spark_processes import executors
from goodbot.cluster.spark.log_counting import ClusterLogCounting
from goodbot.cluster.spark.log_jobs import SparkJobs
from goodbot.cluster.spark.session import clear_errors
from goodbot.errors import RunError
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.watch_state import WatchState
from watch.counting.tallies import IDENTITIES

pytest.importorskip("pyspark")
pytestmark = pytest.mark.long


KILL = "daemon=$(awk '{print $4}' /proc/$PPID/stat); kill -9 $(awk '{print $4}' /proc/$daemon/stat)"
"""Kills the Java process whose Python process runs this."""


@pytest.fixture
def context(cluster_spark: SparkSession) -> Any:
    return cluster_spark.sparkContext


def test_an_executor_that_is_killed_changes_nothing(context: Any, tmp_path: Path) -> None:
    older, lines = tmp_path / "access.log.1.gz", [*combined(20_000, 1, start=1000)]
    older.write_bytes(gzip.compress("".join(combined(1000, 2)).encode()))
    log, again = tmp_path / "access.log", tmp_path / "copy.log"
    log.write_text("".join(lines))
    again.write_text("".join(lines[:9000]))
    logs = [str(log), str(older), str(again)]
    make = partial(ColumnCounter, IDENTITIES, CountingOptions())
    killed: list[psutil.Process] = []

    def kill_one(done: int, size: int) -> None:
        if done > size / 4 and not killed:
            killed.append(executors(context)[0])
            killed[0].kill()

    state = WatchState()
    with SparkJobs(context, make) as jobs:
        read = ClusterLogCounting(jobs, state, block_bytes=40_000, span_blocks=1, progress=kill_one).count(logs)
    assert read.again == [str(again)]
    assert Counted(read, state).report() == counted_alone(logs, make).report()
    assert killed
    assert killed[0] not in executors(context)


def test_executors_that_are_killed_again_and_again(context: Any) -> None:
    complaint = r"^Spark failed: an executor ran out of memory: .* raise spark\.executor\.memory "
    with pytest.raises(RunError, match=complaint), clear_errors():
        context.parallelize([KILL], 1).foreach(os.system)


def test_a_task_that_asks_java_for_too_much_memory(cluster_spark: SparkSession) -> None:
    """Each executor has 1 GB, and ends when it is asked for 2 GB."""
    rows = cluster_spark.range(1, numPartitions=1).selectExpr("length(repeat('x', cast(id + 2000000000 as int)))")
    with pytest.raises(RunError, match=r"^Spark failed: an executor ran out of memory: "), clear_errors():
        rows.collect()
    assert cluster_spark.range(10).count() == 10


def test_a_task_that_asks_python_for_too_much_memory(context: Any) -> None:
    with pytest.raises(RunError, match=r"^Spark failed: an executor ran out of memory: "), clear_errors():
        context.parallelize([1 << 60], 1).map(bytearray).count()
