"""The options of commands that crawl: one for each setting that is not internal."""

from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, get_args, get_origin

import click

from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import Bytes
from goodbot.config import FollowRel, ScopeKind, Settings, SignatureAgentForm
from goodbot.exclusion import DIALECTS

_TYPES: dict[str, Any] = {
    "scope": click.Choice(get_args(ScopeKind)),
    "dialect": click.Choice(list(DIALECTS)),
    "follow_rel": click.Choice(get_args(FollowRel)),
    "signature_agent_form": click.Choice(get_args(SignatureAgentForm)),
    "depth": click.IntRange(0),
    "max_size": Bytes(),
    "workers": click.IntRange(1, 256),
    "host_pages": click.IntRange(1),
    "concurrency": click.IntRange(1, 10_000),
    "per_host": click.IntRange(1, 1000),
    "delay": click.FloatRange(0),
    "ca_file": NamedPath(exists=True, dir_okay=False),
    "sign": NamedPath(),
}
_METAVARS = {
    "depth": "N",
    "include": "GLOB",
    "exclude": "GLOB",
    "types": "TYPE",
    "max_size": "BYTES",
    "resolve": "HOST:PORT:ADDRESS",
    "workers": "N",
    "concurrency": "N",
    "per_host": "N",
    "host_pages": "N",
    "delay": "SECONDS",
    "crawl_delay_most": "SECONDS",
    "agent": "TOKEN",
    "contact": "MAIL|URL",
    "scope": "SCOPE",
    "follow_rel": "WHICH",
    "dialect": "DIALECT",
    "signature_agent_form": "FORM",
    "ca_file": "FILE",
    "sign": "FILE",
    "signature_agent": "URL",
    "proxy": "URL",
    "frontier": "URL",
    "archive_to": "URL",
}


def settings_options(command: Callable[..., Any], without: Collection[str] = ()) -> Callable[..., Any]:
    """Adds one option for each setting that is not internal, with its help and reason from the setting's own record.
    `without`: settings that get none."""
    for item in reversed([item for item in fields(Settings) if not item.metadata["internal"]]):
        if item.name in without:
            continue
        name = item.name.replace("_", "-")
        text = item.metadata["help"] + (f" ({item.metadata['reason']})" if item.metadata["reason"] else "") + "."
        if item.default is True:
            option = click.option(f"--{name}/--no-{name}", default=None, help=f"{text} [default: on]")
        elif item.default is False:
            option = click.option(f"--{name}", is_flag=True, default=None, help=text)
        elif get_origin(item.type) is tuple:
            name = "type" if item.name == "types" else name
            option = click.option(
                f"--{name}", item.name, multiple=True, metavar=_METAVARS[item.name], help=f"{text} Repeatable."
            )
        else:
            shown = None if item.default is None else f" [default: {item.default}]"
            option = click.option(
                f"--{name}", type=_TYPES.get(item.name), metavar=_METAVARS.get(item.name), help=text + (shown or "")
            )
        command = option(command)
    return command
