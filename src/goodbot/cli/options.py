"""Options that several commands share, and how results are written."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def in_option(command: Command) -> Command:
    """`--in DIR`: the folder of a crawl."""
    return click.option(
        "--in", "folder", required=True, metavar="DIR", type=click.Path(path_type=Path), help="Folder of the crawl."
    )(command)


def json_option(command: Command) -> Command:
    """`--json`: for machines."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def write_json(value: object) -> None:
    """One JSON value on one line of standard output. Text that is no Unicode (lone surrogates) is escaped."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, allow_nan=False) + "\n")
