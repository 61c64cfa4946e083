"""The Python processes in which Spark runs tasks."""

import gc
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")


def in_task(function: Callable[[A], R]) -> Callable[[A], R]:
    """Returns a function for tasks: `function`, which must be picklable, in a process that is prepared for many tasks.

    Spark keeps a Python process for later tasks, and collects garbage after each. That takes 50 ms of CPU time if it
    visits all that goodbot and pyarrow have imported, more than a small task itself; so these objects are left out."""
    return partial(_run, function)


def _run(function: Callable[[A], R], argument: A) -> R:
    _leave_out_imports()
    return function(argument)


@cache
def _leave_out_imports() -> None:
    gc.collect()
    gc.freeze()
