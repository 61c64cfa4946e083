"""The option `--store` of the commands that work on a crawl in cycles."""

from collections.abc import Callable
from typing import Any

import click


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--store`: `store`, as `open_files` takes it."""
    return click.option(
        "--store",
        required=True,
        metavar="URL",
        help="Where the crawl is kept: a path that all machines share, or s3://BUCKET/FOLDER.",
    )(command)
