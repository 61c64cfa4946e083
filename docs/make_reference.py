"""Writes docs/reference/commands.md and settings.md from the code. `make docs` runs it; a test fails if they differ."""

from dataclasses import fields
from pathlib import Path

import click

from goodbot.cli.commands import COMMANDS, EPILOG, group
from goodbot.config import Settings

REFERENCE = Path(__file__).parent / "reference"


def commands_page() -> str:
    """Every command with its own `--help`."""
    parts = ["# Commands", "", EPILOG, ""]
    for name, summary in COMMANDS.items():
        root = click.Context(group, info_name="goodbot", **group.context_settings)
        command = group.get_command(root, name)
        if command is None:
            raise SystemExit(f"no command {name}")
        parts += [f"## goodbot {name}", "", f"{summary}.", "", *_helps(command, name, root)]
    return "\n".join(parts)


def _helps(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """The help of a command; of a group, then that of each of its commands."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    parts = command.commands.items() if isinstance(command, click.Group) else ()
    own = ["```", command.get_help(context), "```", ""]
    return [*own, *(line for part, each in parts for line in _helps(each, part, context))]


def settings_page() -> str:
    """Every setting with its default and its reason."""
    parts = [
        "# Settings",
        "",
        "In force, from weakest to strongest: these defaults; `goodbot.toml` (the file named with `--config`, else",
        "that of the working folder, else that of the user's configuration folder); the environment",
        "(`GOODBOT_SCOPE=prefix`); `goodbot.toml` in the folder of a crawl that is resumed; options. An unknown key is",
        "an error, and so is an unknown name that begins with `GOODBOT_`, but for those that Kubernetes sets for a",
        "service called goodbot.",
        "",
        "| setting | default | what | why |",
        "|---|---|---|---|",
    ]
    for item in fields(Settings):
        metadata = item.metadata
        parts.append(f"| `{item.name}` | `{item.default!r}` | {metadata['help']} | {metadata['reason']} |")
    return "\n".join([*parts, ""])


def main() -> None:
    """Writes both pages."""
    REFERENCE.mkdir(exist_ok=True)
    (REFERENCE / "commands.md").write_text(commands_page(), encoding="utf-8")
    (REFERENCE / "settings.md").write_text(settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
