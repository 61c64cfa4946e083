"""Writes docs/reference/commands.md and settings.md from the code. `make docs` runs it; a test fails if they differ."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import click

from goodbot.cli.command_class import SHARED_HEADING
from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.commands import COMMANDS, EPILOG, SECTIONS, group
from goodbot.config import Settings
from goodbot.live import HOLDINGS
from goodbot.serve_settings import ServeSettings

REFERENCE = Path(__file__).parent / "reference"


def commands_page() -> str:
    """Builds the page of commands: the list, the options that all have, then the `--help` of each."""
    parts = ["# Commands", "", EPILOG, ""]
    for heading, commands in SECTIONS.items():
        parts += [f"**{heading}**", "", "| command | what it does |", "|---|---|"]
        parts += [f"| [`goodbot {name}`](#goodbot-{name}) | {summary} |" for name, summary in commands.items()] + [""]
    every = {name: _commands_of(name) for name in COMMANDS}
    with_output = [path for leaves in every.values() for path, leaf in leaves if _has_output(leaf)]
    parts += [f"## {SHARED_HEADING}", "", "```", _shared_help(every["status"][0][1]), "```", ""]
    parts += [f"`--output` is an option of the commands that print a result: {', '.join(with_output)}.", ""]
    for heading, commands in SECTIONS.items():
        parts += [f"## {heading}", ""]
        for name, summary in commands.items():
            parts += [f"### goodbot {name}", "", f"{summary}.", "", *_helps(_load(name), name, _root())]
            parts += _holdings() if name == "status" else []
    return "\n".join(parts)


def _holdings() -> list[str]:
    """The memory in the JSON of `goodbot status`."""
    return [
        "With `--json`, `live.store_away` says why the crawl waits for its database, and for how long; it",
        "is empty if it answers, or if the frontier is in the folder. `live.memory` has the memory of a running crawl,",
        "measured every five seconds: `bytes` (PSS of all processes), `peak_bytes` (the largest value in this run),",
        "and `processes`, each with `role`",
        "(`coordinator`, `worker`, or `crawler` if there is one process), `pid`, `pss_bytes`, `rss_bytes` and",
        "`holdings`. Sizes are `null` if the system does not report memory. `holdings` describes the caches and queues",
        "of the process: each has the number of `entries`, and their `bytes` if the process counts these:",
        "",
        "| holding | meaning |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in HOLDINGS.items()),
        "",
    ]


def _root() -> click.Context:
    return click.Context(group, info_name="goodbot", **group.context_settings)


def _load(name: str) -> click.Command:
    command = group.get_command(_root(), name)
    if command is None:
        raise SystemExit(f"no command {name}")
    return command


def _commands_of(name: str) -> list[tuple[str, click.Command]]:
    """The command itself, or the commands of a group, each with the words to type."""
    command = _load(name)
    if isinstance(command, click.Group):
        return [(f"{name} {part}", each) for part, each in command.commands.items()]
    return [(name, command), *((f"{name} {part}", each) for part, each in _others(command).items())]


def _others(command: click.Command) -> Mapping[str, click.Command]:
    return command.others if isinstance(command, CommandWithOthers) else {}


def _has_output(command: click.Command) -> bool:
    return any("--output" in param.opts for param in command.params)


def _helps(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """The help of a command, then that of each of the commands below it."""
    parts = command.commands.items() if isinstance(command, click.Group) else ()
    context = _context(command, name, parent)
    own = ["```", context.get_help().partition(f"\n{SHARED_HEADING}:\n")[0].rstrip(), "```", ""]
    below = [line for part, each in parts for line in _helps(each, part, context)]
    others = [line for part, each in _others(command).items() for line in _helps(each, f"{name} {part}", parent)]
    return [*own, *below, *others]


def _shared_help(command: click.Command) -> str:
    return _context(command, "status", _root()).get_help().partition(f"\n{SHARED_HEADING}:\n")[2].rstrip()


def _context(command: click.Command, name: str, parent: click.Context) -> click.Context:
    return command.context_class(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)


def settings_page() -> str:
    """Builds the page of settings: each with its default and the reason for the default."""
    parts = [
        "# Settings",
        "",
        "`goodbot config` shows the settings in force and where each comes from. From weakest to strongest:",
        "",
        "1. the defaults below;",
        "2. `goodbot.toml`: the file named with `--config`, else the one in the working folder, else the one in the",
        "   user's configuration folder;",
        "3. the environment, such as `GOODBOT_SCOPE=prefix`;",
        "4. `goodbot.toml` in the folder of a crawl that is resumed;",
        "5. options.",
        "",
        'In `goodbot.toml` a list is an array: `types = ["text/html", "text/plain"]`. In the environment, spaces or',
        'commas separate its values: `GOODBOT_TYPES="text/html, text/plain"`. Only spaces separate those of',
        f"{_with_commas()}, as they may have commas themselves. The option for one of its values may be repeated.",
        "",
        "An unknown key is an error. So is an unknown variable that begins with `GOODBOT_`, except those that",
        "Kubernetes sets for a service called goodbot.",
        "",
        "## Crawls",
        "",
        *_settings_table(Settings),
        "",
        "## goodbot serve",
        "",
        "These settings are in the table `[serve]` of `goodbot.toml`:",
        "",
        "```toml",
        "[serve]",
        'name = "Library search"',
        "port = 8020",
        "```",
        "",
        "The table may also be in `goodbot.toml` in the folder that is served; crawls keep it there. Variables of the",
        "environment are called `GOODBOT_SERVE_PORT` and so on.",
        "",
        *_settings_table(ServeSettings),
        "",
        "## goodbot check",
        "",
        "The table `[check]`, and variables such as `GOODBOT_CHECK_IGNORE`, have the settings of `goodbot check`:",
        "`ignore`, codes of findings that are not reported, and `fail_on`, the lowest severity that leads to exit",
        "status 1.",
        "",
        "## Your own records of robots",
        "",
        "Tables `[[robot]]` are your own records of robots, for `goodbot who` and `goodbot watch`. They come before",
        "those that goodbot includes:",
        "",
        "```toml",
        "[[robot]]",
        'name = "OurMonitor"',
        'purpose = "monitoring"',
        'contact = "web@example.org"',
        "```",
        "",
        "[Who is this robot?](../how-to/who.md) lists all fields.",
    ]
    return "\n".join([*parts, ""])


def _with_commas() -> str:
    names = [f"`{item.name}`" for item in fields(Settings) if item.metadata["may_have_commas"]]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _settings_table(settings: type[Settings | ServeSettings]) -> list[str]:
    rows = ["| setting | default | meaning | reason |", "|---|---|---|---|"]
    for item in fields(settings):
        metadata = item.metadata
        rows.append(f"| `{item.name}` | `{item.default!r}` | {metadata['help']} | {metadata['reason']} |")
    return rows


def main() -> None:
    """Writes both pages."""
    REFERENCE.mkdir(exist_ok=True)
    (REFERENCE / "commands.md").write_text(commands_page(), encoding="utf-8")
    (REFERENCE / "settings.md").write_text(settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
