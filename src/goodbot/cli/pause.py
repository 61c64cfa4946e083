"""`goodbot pause`: pauses a running crawl."""

from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.options import in_option
from goodbot.cli.run_control import give_order


@click.command(name="pause", cls=Command, output=False, examples="goodbot pause --in crawl")
@in_option
def command(folder: Path, as_json: bool) -> None:
    """Pause the crawl that runs in DIR. Pages in flight finish, and nothing new begins until `goodbot resume`.

    The process of the crawl keeps running.

    Exit status: 0: paused, or no crawl is running in DIR; 3: the crawl does not answer.
    """
    give_order(folder, "pause", as_json=as_json)
