"""`goodbot pause`: a running crawl rests until it is told to go on."""

from pathlib import Path

import click

from goodbot.cli.control import tell
from goodbot.cli.options import in_option


@click.command(name="pause")
@in_option
def command(folder: Path) -> None:
    """Have the crawl that runs in DIR pause: pages in flight finish, and nothing new begins until `goodbot resume`.

    Its process stays. If none runs, there is nothing to do (exit 0). Exit status: 3 if the crawl does not answer.
    """
    tell(folder, "pause")
