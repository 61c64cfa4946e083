"""`goodbot completion`: prints the script by which a shell completes `goodbot` commands."""

import click

from goodbot.cli.command_class import Command
from goodbot.cli.completion_scripts import SHELLS, script
from goodbot.cli.printing import put, write_json


@click.command(
    name="completion",
    cls=Command,
    examples="""
    goodbot completion bash >> ~/.bashrc
    goodbot completion zsh >> ~/.zshrc
    goodbot completion fish > ~/.config/fish/completions/goodbot.fish
    """,
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def command(shell: str, as_json: bool) -> None:
    """Print a script for SHELL, which is bash (4.4 or newer), zsh or fish. With it, the Tab key completes commands,
    options, files and known values: dialects, formats, codes of findings, names of robots.

    Put the script where your shell reads it at its start, as the examples do, and open a new terminal. In ~/.zshrc it
    must come after `compinit`. The script asks the installed goodbot, so it need not be printed again after an update.

    With --json: one object with the shell and the script.

    Exit status: 0: done; 2: bad input, such as an unknown shell.
    """
    if as_json:
        write_json({"shell": shell, "script": script(shell)})
    else:
        put(script(shell).encode())
