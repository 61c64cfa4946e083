"""The option `--master` of the commands that work on Spark."""

from collections.abc import Callable
from typing import Any

import click


def master_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--master`: `master`, as `spark_session` takes it."""
    return click.option(
        "--master",
        default="local[*]",
        show_default=True,
        metavar="URL",
        help="The Spark master: local[*] (all cores of this machine), spark://HOST:7077; yarn, k8s://… (untested).",
    )(command)
