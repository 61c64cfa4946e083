"""The options of commands that read access logs beside `goodbot watch`: how lines are read."""

from collections.abc import Callable
from typing import Any

import click


def line_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--log-format`, `--real-ip` and `--trusted-proxy`: `pattern`, `real_ip` and `proxies`, as `CountingChoices`
    takes them."""
    command = click.option(
        "--trusted-proxy",
        "proxies",
        multiple=True,
        metavar="ADDRESS",
        help="With --real-ip: public address or network of a proxy of yours. Repeatable.",
    )(command)
    command = click.option("--real-ip", is_flag=True, help="Take the address of the client from X-Forwarded-For.")(
        command
    )
    return click.option(
        "--log-format", "pattern", metavar="PATTERN", help="Format of the lines, needed only for unusual formats."
    )(command)
