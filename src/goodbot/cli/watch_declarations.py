"""The declarations of the options of `goodbot watch`; `goodbot cluster watch` has most of them too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypedDict

import click

from goodbot.cli.file_types import NamedPath
from goodbot.cli.watch_options import ENGINES, Engine

FORMATS: Final = ("text", "json", "csv", "html", "prometheus")

_Function = Callable[..., Any]


class SharedOptions(TypedDict):
    """The values of the options that say what is counted and what the report shows; see `OPTIONS`."""

    since: str | None
    until: str | None
    robot: str | None
    robots: str | None
    host: str | None
    pattern: str | None
    real_ip: bool
    proxies: tuple[str, ...]
    keys: tuple[str, ...]
    anonymise: bool
    engine: Engine


OPTIONS: Final[dict[str, Callable[[_Function], _Function]]] = {
    "form": click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        metavar="FORMAT",
        help="Output format: text, json, csv, html or prometheus.",
    ),
    "since": click.option(
        "--since",
        metavar="TIME",
        help="Count requests from TIME on: a date (2026-11-01), a time (2026-11-01T14:30, UTC) or an age (7d, 24h).",
    ),
    "until": click.option("--until", metavar="TIME", help="Count requests before TIME."),
    "robot": click.option("--robot", metavar="NAME", help="Report one robot only, in detail."),
    "robots": click.option(
        "--robots",
        metavar="FILE|FOLDER",
        help="Judge requests by a robots.txt, or by the dated copies in a folder of goodbot remember.",
    ),
    "host": click.option(
        "--host",
        metavar="HOST",
        help="With --robots: the host whose requests are judged, if the log names several. Default: that of the "
        "folder.",
    ),
    "pattern": click.option(
        "--log-format",
        "pattern",
        metavar="PATTERN",
        help="Format of the lines, as in Apache's LogFormat or nginx's log_format; needed only for unusual formats.",
    ),
    "real_ip": click.option(
        "--real-ip",
        is_flag=True,
        help="For servers behind a proxy: take the address of the client from X-Forwarded-For.",
    ),
    "proxies": click.option(
        "--trusted-proxy",
        "proxies",
        multiple=True,
        metavar="ADDRESS",
        help="With --real-ip: public address or network of a proxy of yours; private ones are trusted. Repeatable.",
    ),
    "reverse_dns": click.option(
        "--reverse-dns",
        is_flag=True,
        help="Also verify robots by reverse DNS, if their operators support it.",
    ),
    "nameserver": click.option(
        "--nameserver",
        metavar="ADDRESS[:PORT]",
        help="With --reverse-dns: use this name server instead of the system's.",
    ),
    "keys": click.option(
        "--keys",
        multiple=True,
        metavar="[NAME=]FILE",
        help="Verify signed requests (Web Bot Auth) with a key directory that you saved. NAME: the robot, or the URL "
        "of its keys; without it, the name of the file counts. Repeatable.",
    ),
    "anonymise": click.option(
        "--anonymise", is_flag=True, help="Shorten addresses in the report: 192.0.2.0/24, 2001:db8::/48."
    ),
    "follow": click.option(
        "--follow", is_flag=True, help="Keep reading as the logs grow, also after rotation; refresh the report."
    ),
    "every": click.option(
        "--every",
        type=click.FloatRange(0.5, 86_400),
        metavar="SECONDS",
        help="With --follow: least time between reports.  [default: 2]",
    ),
    "state_file": click.option(
        "--state",
        "state_file",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Keep the counts in FILE and add new lines to them: no line is counted twice, also after rotation.",
    ),
    "processes": click.option(
        "--processes", default="1", show_default=True, metavar="N", help="Processes that count; auto: one per core."
    ),
    "engine": click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="auto",
        show_default=True,
        metavar="ENGINE",
        help="standard: Python's standard library; fast: pyarrow; auto: fast if installed. Both give the same counts.",
    ),
}
"""All options, by the names of their parameters."""


def watch_options(*without: str) -> Callable[[_Function], _Function]:
    """Adds all options but some, in their order."""

    def add(function: _Function) -> _Function:
        for name, option in reversed(OPTIONS.items()):
            if name not in without:
                function = option(function)
        return function

    return add
