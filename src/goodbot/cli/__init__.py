"""The command line: one module per command, loaded when it is called."""

from goodbot.cli.commands import main

__all__ = ["main"]
