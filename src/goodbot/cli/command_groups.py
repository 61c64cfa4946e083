"""A group of commands, and what is suggested in place of a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import click

from goodbot.cli.command_class import Command, Context, example_lines, write_examples, write_help_text

NEAR = 0.8
"""How similar (0 to 1, `difflib`) a name must be to an option or a command to be suggested."""


class CommandGroup(click.Group):
    """A group whose commands have the shared options, with one wording for a command that does not exist. `examples`:
    command lines, one per line of text."""

    context_class = Context
    command_class = Command

    def __init__(self, *args: Any, examples: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = example_lines(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the text and the examples."""
        write_help_text(self.help or "", formatter)
        write_examples(self.examples, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands, each with the whole first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(200)) for name in self.list_commands(ctx)]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a command. Raises click.UsageError, with a suggestion, for a name that does not exist."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            whole = f"{ctx.command_path} {name}".partition(" ")[2]
            raise click.UsageError(f"there is no command {whole!r}{did_you_mean(name, [*known, '--help'])}", ctx)
        return super().resolve_command(ctx, args)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `; did you mean --keep-fresh?`, or nothing if no known name is near."""
    near = get_close_matches(name, known, 1, NEAR)
    return f"; did you mean {near[0]}?" if near else ""
