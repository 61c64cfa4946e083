"""Finds the processes of Spark."""

from typing import Any

import psutil


def command_of(process: psutil.Process) -> str:
    """Returns the command line; empty if the process has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def executors(context: Any) -> list[psutil.Process]:
    """Returns the Java processes that run tasks, those of a local cluster."""
    driver = psutil.Process(context._jvm.java.lang.ProcessHandle.current().pid())
    return [child for child in driver.children() if "CoarseGrainedExecutorBackend" in command_of(child)]
