"""`goodbot cluster watch` on Spark: the report is that of `goodbot watch`, and each error is one line."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession

from cluster.spark.many_logs import ROBOTS, Counted, combined, counted_alone, write_logs
from cluster.spark.spark_processes import command_of
from goodbot.cluster.spark.log_counting import ClusterLogCounting
from goodbot.cluster.spark.log_jobs import SparkJobs
from goodbot.cluster.spark.log_tasks import LogTask
from goodbot.cluster.spark.session import clear_errors, spark_session
from goodbot.errors import RunError
from goodbot.exclusion import Access
from goodbot.registry import AddressBook, bundled_registry
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.real_client import real_client
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.watch_state import WatchState
from journey.goodbot_process import ended, goodbot, start
from watch.counting.signed_lines import directory

pytest.importorskip("pyspark")
pytestmark = pytest.mark.long

RULES = RulesInForce.always(Access.from_response(200, (), ROBOTS, 0.0))


@pytest.fixture
def context(spark: SparkSession) -> Any:
    return spark.sparkContext


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_logs(tmp_path_factory.mktemp("logs"))


def counter(engine: type[LineCounter | ColumnCounter], **options: Any) -> Callable[[], BlockCounter]:
    """Returns what makes counters, with everything that the commands give them."""
    identities = Identities(bundled_registry().find, AddressBook(None, bundled_registry().lists))
    identities.load_lists()
    return partial(engine, identities, CountingOptions(**options))


def counted_on_spark(context: Any, logs: list[str], make: Callable[[], BlockCounter]) -> Counted:
    """Counts logs in many small spans."""
    state = WatchState()
    with SparkJobs(context, make) as jobs:
        found = ClusterLogCounting(jobs, state, block_bytes=40_000, span_blocks=1, most_bytes=20_000).count(logs)
    return Counted(found, state)


OPTIONS = [
    pytest.param(LineCounter, {}, id="standard"),
    pytest.param(ColumnCounter, {}, id="fast"),
    pytest.param(
        ColumnCounter,
        {
            "rules": RULES,
            "since": 1_789_466_500,
            "client_of": partial(real_client, proxies=[]),
            "keys": (directory("GPTBot"),),
        },
        id="options",
    ),
]


@pytest.mark.parametrize(("engine", "options"), OPTIONS)
def test_the_counts_are_those_of_one_process(
    context: Any, logs: list[str], engine: type[LineCounter | ColumnCounter], options: dict[str, Any]
) -> None:
    make = counter(engine, **options)
    assert counted_on_spark(context, logs, make).all() == counted_alone(logs, make).all()


def test_a_log_that_a_task_cannot_read(context: Any, tmp_path: Path) -> None:
    task = LogTask(str(tmp_path / "access.log"), "access.log", b"x", 1)
    with SparkJobs(context, counter(LineCounter)) as jobs:
        running = jobs.start([task])
        with pytest.raises(RunError) as caught:
            jobs.result([task], running)
    assert str(caught.value).startswith(f"cannot read {tmp_path}/access.log on ")
    assert str(caught.value).endswith(": No such file or directory; every machine needs the logs, under the same path")


def test_jobs_are_cancelled_if_the_work_fails(context: Any, logs: list[str]) -> None:
    """The next jobs find the cores free."""
    make = counter(LineCounter)

    def fail(done: int, size: int) -> None:
        raise RunError("the disk is full")

    with pytest.raises(RunError, match=r"^the disk is full$"), SparkJobs(context, make) as jobs:
        ClusterLogCounting(jobs, WatchState(), block_bytes=1000, span_blocks=2, progress=fail).count(logs)
    assert context.statusTracker().getActiveJobsIds() == []


def test_a_python_process_that_is_killed(context: Any) -> None:
    complaint = r"^Spark failed: a Python process of an executor crashed or was killed, "
    with pytest.raises(RunError, match=complaint), clear_errors():
        context.parallelize([1], 1).map(lambda _: os.kill(os.getpid(), signal.SIGKILL)).collect()


def test_one_session_at_a_time(context: Any) -> None:
    complaint = "^Spark is running in this process already, and can run only once$"
    with pytest.raises(RunError, match=complaint), spark_session("local[2]", "another"):
        pass
    assert context.parallelize([1, 2], 2).sum() == 3


# ---- the command ----------------------------------------------------------------------------------------------------


async def test_the_report_is_that_of_goodbot_watch(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    write_logs(tmp_path / "logs")
    (tmp_path / "robots.txt").write_bytes(ROBOTS)
    options = ("logs", "--robots", "robots.txt", "--real-ip", "--anonymise", "--json")
    process = await start(*("cluster", "watch", *options, "--master", "local[2]"), folder=tmp_path, preloaded=False)
    found, wanted = await ended(process), await goodbot("watch", *options, folder=tmp_path)
    assert found.status == 0, found.err
    assert found == wanted
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "robots.txt"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-"], "other machines cannot read standard input; use goodbot watch -"),
        (
            ["s3://logs/access.log"],
            "logs are read from mounted folders, not from URLs: mount or copy s3://logs/access.log",
        ),
        (["missing.log"], "cannot read missing.log: No such file or directory"),
        (["a.log", "--master", "mesos://a:1"], "the Spark master must be local[*], spark://HOST:7077, yarn or k8s://…"),
        (["a.log", "--host", "example.org"], "--host needs --robots"),
    ],
)
async def test_bad_input(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    (tmp_path / "a.log").write_text("".join(combined(3, 1)))
    result = await goodbot("cluster", "watch", *arguments, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.complaint.startswith(f"goodbot: {complaint}")


async def started(folder: Path) -> tuple[asyncio.subprocess.Process, psutil.Process]:
    """Starts the command; returns it and its Java process when a task runs."""
    (folder / "large.log").write_text("".join(combined(5000, 1)) * 40)
    process = await start("cluster", "watch", "large.log", "--master", "local[2]", folder=folder, preloaded=False)
    while True:
        assert process.returncode is None
        below = psutil.Process(process.pid).children(recursive=True)
        names = {child: command_of(child) for child in below}
        if any("pyspark.daemon" in name for name in names.values()):
            return process, next(child for child, name in names.items() if "SparkSubmit" in name)
        await asyncio.sleep(0.05)


async def test_ctrl_c_ends_spark(tmp_path: Path) -> None:
    process, java = await started(tmp_path)
    process.send_signal(signal.SIGINT)
    result = await ended(process)
    assert (result.status, result.out, result.err) == (130, "", "goodbot: interrupted\n")
    assert not java.is_running()


async def test_spark_that_is_killed(tmp_path: Path) -> None:
    process, java = await started(tmp_path)
    java.kill()
    result = await ended(process)
    assert (result.status, result.out) == (3, "")
    assert result.complaint == "goodbot: Spark failed: the Java process of Spark has ended"
