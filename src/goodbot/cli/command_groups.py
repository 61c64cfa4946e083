"""A group of commands, and what is suggested in place of a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

import click

NEAR = 0.8
"""How similar (0 to 1, `difflib`) a name must be to an option or a command to be suggested."""


class CommandGroup(click.Group):
    """Says in the same words in every group that there is no such command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            whole = f"{ctx.command_path} {name}".partition(" ")[2]
            raise click.UsageError(f"there is no command {whole!r}{did_you_mean(name, known)}", ctx)
        return super().resolve_command(ctx, args)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean --keep-fresh?`, or nothing if none is near."""
    near = get_close_matches(name, known, 1, NEAR)
    return f"; did you mean {near[0]}?" if near else ""
