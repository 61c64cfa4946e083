"""A command that works by itself and has others below it: `goodbot who "USER-AGENT"`, `goodbot who update`."""

from collections.abc import Mapping
from typing import Any

import click

from goodbot.cli.command_class import Command


class CommandWithOthers(Command):
    """A command whose first argument may be the name of one of `others`: name → command.

    So the command can get no first argument that is such a name. Choose names that it never needs: no robot is called
    `update`.
    """

    def __init__(self, *args: Any, others: Mapping[str, Command], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.others = others

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Returns the context of this command, or of the one that is named first."""
        other = self.others.get(args[0]) if args else None
        if other is None:
            return super().make_context(info_name, args, parent, **extra)
        return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the other commands, then the options."""
        if self.others:
            with formatter.section("Commands"):
                formatter.write_dl([(name, other.get_short_help_str(200)) for name, other in self.others.items()])
        super().format_options(ctx, formatter)
