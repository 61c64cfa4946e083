"""Parses command lines of goodbot that stand in files, without running them."""

from collections.abc import Sequence

from goodbot.cli.commands import group


def parse(words: Sequence[str]) -> None:
    """Raises click.UsageError if `goodbot` does not take these words."""
    with group.make_context("goodbot", [*words]) as context:
        name, command, rest = group.resolve_command(context, [*words])
        assert command is not None
        command.make_context(name, rest, parent=context).close()
