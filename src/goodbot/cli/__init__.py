"""The command line: one module per command, loaded when it is called."""

from goodbot.cli.app import main

__all__ = ["main"]
