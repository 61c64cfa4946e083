"""Writes src/goodbot/cli/completions.json from the commands: what a shell completes. `make docs` runs it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from goodbot.check.checker import KINDS
from goodbot.check.policy_writer import Policy
from goodbot.cli.command_class import shared_options
from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.commands import COMMANDS, group
from goodbot.errors import InputError
from goodbot.exam.sites import chosen_sites
from goodbot.registry import robots
from goodbot.registry.robot_records import load_records

FILE = Path(__file__).parent.parent / "src" / "goodbot" / "cli" / "completions.json"


def _is_accepted(token: str) -> bool:
    """Whether `goodbot write` takes it for a product token."""
    try:
        Policy(no_robots=(token,))
    except InputError:
        return False
    return True


_TOKENS = sorted({robot.token for robot in robots() if robot.token}, key=str.lower)

LISTS = {
    "codes": sorted(KINDS),
    "robots": sorted({robot.name for robot in robots()}, key=str.lower),
    "tokens": _TOKENS,
    "writable": [token for token in _TOKENS if _is_accepted(token)],
    "sites": [site.name for site in chosen_sites(())],
    "address-lists": sorted(load_records().lists),
}
"""Values that several options take."""

VALUES = {
    "explain code": "codes",
    "check --ignore": "codes",
    "who user_agents": "robots",
    "who update lists": "address-lists",
    "exam --site": "sites",
    "write --only": "writable",
    "write --no-robot": "writable",
}
"""Command and parameter → a list of `LISTS`."""

_DETAILS = re.compile(r"[.:;] | \(")
"""Where the summary of an option's help ends."""
_SHARED = {name for option in shared_options(output=True) for name in option.opts}
_OF_OPTIONS = {"--robot": "robots", "--agent": "tokens"}
_OWN_NAME = {"crawl"}
"""Commands in which `--agent` is the name of the user's robot, which is not one of the known ones."""
_FILES = re.compile(r"FILE|FOLDER|INPUT|LOG\b|LOG\]|PLAN|NEW|ROBOTS|PAGE\b")
"""Metavars, or names of arguments, of values that may be files but also something else, such as URLs."""


def table() -> dict[str, Any]:
    """Returns the table: `lists`, the options that commands `shared`, and `commands` by name."""
    shared = [each for option in shared_options(output=True) for each in _options("", option)]
    with click.Context(group, info_name="goodbot") as context:
        commands = {name: _entry(name, _load(name, context)) for name in COMMANDS}
    own = [each for param in group.params if isinstance(param, click.Option) for each in _options("", param)]
    return {"lists": LISTS, "shared": shared, "options": own, "commands": commands}


def _load(name: str, context: click.Context) -> click.Command:
    command = group.get_command(context, name)
    if command is None:
        raise SystemExit(f"no command {name}")
    return command


def _entry(path: str, command: click.Command) -> dict[str, Any]:
    summary = COMMANDS.get(path) or command.get_short_help_str(200)
    if isinstance(command, click.Group):
        below = {name: _entry(f"{path} {name}", each) for name, each in command.commands.items()}
        return {"help": summary, "commands": below}
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    entry: dict[str, Any] = {
        "help": summary,
        "options": [each for option in options if not _SHARED & {*option.opts} for each in _options(path, option)],
        "arguments": [
            [_kind(path, param), param.nargs] for param in command.params if isinstance(param, click.Argument)
        ],
    }
    if not any("--output" in option.opts for option in options):
        entry["prints"] = False
    if not command.context_settings.get("allow_interspersed_args", True):
        entry["runs"] = True  # what follows is another program's command line, which may name files
        entry["arguments"] = [["file", nargs] for _, nargs in entry["arguments"]]
    others: Mapping[str, click.Command] = command.others if isinstance(command, CommandWithOthers) else {}
    if others:
        entry["others"] = {name: _entry(f"{path} {name}", each) for name, each in others.items()}
    return entry


def _options(path: str, option: click.Option) -> list[dict[str, Any]]:
    """The entry of an option, and that of its `--no-` form."""
    said = _DETAILS.split(option.help or "", maxsplit=1)[0].rstrip(".:")
    entry = {"names": option.opts, "kind": _kind(path, option), "help": said}
    if option.multiple:
        entry["repeatable"] = True
    off = {"names": option.secondary_opts, "kind": "flag", "help": f"Opposite of {option.opts[0]}"}
    return [entry, off] if option.secondary_opts else [entry]


def _kind(path: str, param: click.Parameter) -> str | list[str]:
    """The kind of a value, as `goodbot.cli.completing` reads it."""
    if isinstance(param, click.Option) and (param.is_flag or param.count):
        return "flag"
    name = param.opts[-1] if isinstance(param, click.Option) else str(param.name)
    listed = VALUES.get(f"{path} {name}") or (None if path in _OWN_NAME else _OF_OPTIONS.get(name))
    if listed:
        return listed
    if isinstance(param.type, click.Choice):
        return [str(choice) for choice in param.type.choices]
    if isinstance(param.type, click.Path):
        return "file" if param.type.file_okay and param.metavar != "DIR" else "dir"
    return "file" if _FILES.search(param.metavar or name.upper()) else "text"


def text() -> str:
    """Returns the file's content: one command per line."""
    made = table()
    lists = ",\n".join(f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in made["lists"].items())
    options = {name: ",\n".join(f"  {json.dumps(each)}" for each in made[name]) for name in ("shared", "options")}
    commands = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in made["commands"].items())
    flat = "".join(f' "{name}": [\n{entries}\n ],\n' for name, entries in options.items())
    return f'{{"lists": {{\n{lists}\n }},\n{flat} "commands": {{\n{commands}\n }}}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
