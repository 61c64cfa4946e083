"""The reason of a failure, from what Spark says. Its texts are shortened, and otherwise as they came."""

import pytest

from goodbot.cluster.spark.failure_text import has_ended, logged_error, own_message, reason_of

CALL = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: "
JOB = (
    f"{CALL}org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 4.0 failed 4 times, "
    "most recent failure: Lost task 0.3 in stage 4.0 (TID 18) (127.0.0.1 executor 1): "
)
TRACE = (
    "\n\tat org.apache.spark.scheduler.Task.run(Task.scala:147)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
)
CRASHED = "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting 'spark.x'"
PYTHON = (
    "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
    '  File "worker.py", line 4327, in invoke_udf\n    run_process()\n'
)
TWO = f"{PYTHON}KeyError: 'x'\n\nThe above exception was the direct cause of the following exception:\n\n{PYTHON[47:]}"
ENDED = f"{CALL}org.apache.spark.SparkException: Job 3 cancelled because SparkContext was shut down" + TRACE
LOG = (
    "WARNING: Using incubator modules: jdk.incubator.vector\n"
    "26/11/28 12:12:44 ERROR SparkContext: java.net.BindException: Address in use\n\tat x\n"
)
OUT_OF_MEMORY = "26/11/28 12:13:05 ERROR Executor: java.lang.OutOfMemoryError: Java heap space\n"
TOO_LARGE = (
    "Total size of serialized results of 12 tasks (1100.0 MiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)"
)


@pytest.mark.parametrize(
    ("text", "log", "reason"),
    [
        pytest.param(JOB + CRASHED + TRACE, "", "a Python process of an executor crashed or was killed, ", id="killed"),
        pytest.param(
            JOB + "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited "
            "with code 137" + TRACE,
            "",
            "an executor ran out of memory: in $SPARK_CONF_DIR/spark-defaults.conf, raise spark.executor.memory or ",
            id="killed executor",
        ),
        pytest.param(
            JOB + "java.lang.OutOfMemoryError: Java heap space" + TRACE,
            "",
            "an executor ran out of memory: ",
            id="out of memory",
        ),
        pytest.param(f"{PYTHON}MemoryError\n", "", "an executor ran out of memory: ", id="Python out of memory"),
        pytest.param(f"{PYTHON}ValueError: no good: 3\nmore\n", "", "ValueError: no good: 3", id="exception"),
        pytest.param(f"{CALL}org.apache.spark.SparkException: {TOO_LARGE}{TRACE}", "", TOO_LARGE, id="large results"),
        pytest.param(
            ENDED,
            OUT_OF_MEMORY,
            "Spark ran out of memory: in $SPARK_CONF_DIR/spark-defaults.conf, raise spark.executor.memory or ",
            id="driver",
        ),
        pytest.param(ENDED, LOG, "the Java process of Spark has ended: Address in use", id="ended"),
        pytest.param(ENDED, "", "the Java process of Spark has ended", id="ended without a reason"),
        pytest.param(
            f"{CALL}java.lang.IllegalArgumentException: requirement failed: a port must be more" + TRACE,
            "",
            "requirement failed: a port must be more",
            id="Java",
        ),
        pytest.param(
            f"{CALL}io.KubernetesException: Try it later.{TRACE}Caused by: java.io.IOException: refused{TRACE}",
            "",
            "Try it later: refused",
            id="Java, with its cause",
        ),
        pytest.param("", LOG, "Spark gave no reason: Address in use", id="nothing said"),
    ],
)
def test_the_reason_is_one_line(text: str, log: str, reason: str) -> None:
    found = reason_of(text, log)
    assert found.startswith(reason)
    assert "\n" not in found
    assert "org.apache" not in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            f"{TWO}goodbot.errors.RunError: cannot read /logs/a on db1: No such file\n",
            "cannot read /logs/a on db1: No such file",
            id="with its cause",
        ),
        pytest.param(
            f"{PYTHON}goodbot.errors.RunError: cannot read x\n\n{TWO[len(PYTHON) :]}{PYTHON}ValueError: no\n",
            None,
            id="only the cause is ours",
        ),
        pytest.param(f"{PYTHON}ValueError: goodbot.errors.RunError: no\n", None, id="only the message names ours"),
        pytest.param(JOB + "goodbot.errors.RunError: no", None, id="no traceback"),
    ],
)
def test_an_error_that_goodbot_raised_in_a_task_keeps_its_message(text: str, message: str | None) -> None:
    assert own_message(text) == message


def test_what_says_that_spark_has_ended() -> None:
    assert has_ended("Answer from Java side is empty")
    assert not has_ended(JOB)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", ""),
        (LOG, ": Address in use"),
        ("Error: Could not create the Java Virtual Machine.\n", ": Could not create the Java Virtual Machine."),
        (
            'Exception in thread "main" org.apache.spark.SparkException: HADOOP_CONF_DIR must be set.\n\tat x\n',
            ": HADOOP_CONF_DIR must be set.",
        ),
    ],
)
def test_the_first_error_of_a_log(log: str, said: str) -> None:
    assert logged_error(log) == said
