"""Runs the work of a command on Spark: shows its progress, and ends its tasks after Ctrl-C."""

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from goodbot.cli.printing import can_rewrite, is_quiet, overwrite
from goodbot.errors import GoodbotError
from goodbot.human import counted, human_duration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK_S: Final = 0.2
SHOWN_AFTER_S: Final = 2.0

_T = TypeVar("_T")


def watched(spark: "SparkSession", work: Callable[[], _T], what: str) -> _T:
    """Does the work in a thread of its own and returns its result. The progress begins with `what`. Raises what the
    work raises; RunError if a task has failed."""
    result: list[Any] = []
    ended, began = Event(), time.monotonic()

    def act() -> None:
        try:
            result.append(work())
        except Exception as error:  # noqa: BLE001  (raised again below)
            result.append(error)
        finally:
            ended.set()

    Thread(target=act, daemon=True).start()
    try:
        while not ended.wait(LOOK_S):
            show_progress(spark, what, time.monotonic() - began)
    except KeyboardInterrupt:
        spark.sparkContext.cancelAllJobs()
        raise
    finally:
        wipe_progress()
    (found,) = result
    if isinstance(found, Exception):
        raise failed(found) from found
    done: _T = found
    return done


def failed(error: Exception) -> Exception:
    """Returns the error to raise when the work failed with `error`; that of a task of Spark is cut to one line."""
    if isinstance(error, GoodbotError):
        return error
    from goodbot.cluster.spark.session import task_error  # noqa: PLC0415  (few commands use Spark)

    return task_error(error)


def show_progress(spark: "SparkSession", what: str, passed_s: float) -> None:
    """Shows how many tasks are done, if standard error is a terminal, after two seconds."""
    if passed_s < SHOWN_AFTER_S or not can_rewrite() or is_quiet():
        return
    tracker = spark.sparkContext.statusTracker()
    stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number)) is not None]
    done, total = (sum(getattr(stage, name) for stage in stages) for name in ("numCompletedTasks", "numTasks"))
    overwrite(f"{what}: {done} of {counted(total, 'task')} done, {human_duration(passed_s)}")


def wipe_progress() -> None:
    """Removes what `show_progress` has shown."""
    if can_rewrite() and not is_quiet():
        overwrite("")
