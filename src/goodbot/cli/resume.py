"""`goodbot resume`: resumes a paused crawl."""

from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.options import in_option
from goodbot.cli.run_control import give_order


@click.command(name="resume", cls=Command, output=False, examples="goodbot resume --in crawl")
@in_option
def command(folder: Path, as_json: bool) -> None:
    """Resume the crawl that is paused in DIR.

    To resume a crawl that was stopped or killed, use `goodbot crawl --into DIR`.

    Exit status: 0: resumed, or no crawl is running in DIR; 3: the crawl does not answer.
    """
    give_order(folder, "resume", as_json=as_json)
