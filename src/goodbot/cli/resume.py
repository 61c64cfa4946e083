"""`goodbot resume`: a paused crawl goes on."""

from pathlib import Path

import click

from goodbot.cli.control import tell
from goodbot.cli.options import in_option


@click.command(name="resume")
@in_option
def command(folder: Path) -> None:
    """Have the crawl paused in DIR go on.

    A crawl that was stopped or killed goes on with `goodbot crawl --into DIR`. Exit status: 3 if the crawl does not
    answer.
    """
    tell(folder, "resume")
