"""`goodbot stop`: stops a running crawl, as Ctrl-C does."""

from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.options import in_option
from goodbot.cli.run_control import give_order


@click.command(name="stop", cls=Command, output=False, examples="goodbot stop --in crawl")
@in_option
def command(folder: Path, as_json: bool) -> None:
    """Stop the crawl that runs in DIR, as Ctrl-C does. Pages in flight finish, and nothing is lost.

    Waits at most ten seconds for the end. The crawl itself ends with status 130. To resume it, use
    `goodbot crawl --into DIR`.

    Exit status: 0: stopped or stopping, or no crawl is running in DIR; 3: the crawl does not answer.
    """
    give_order(folder, "stop", as_json=as_json)
