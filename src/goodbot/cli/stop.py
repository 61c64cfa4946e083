"""`goodbot stop`: a running crawl ends, as by Ctrl-C."""

from pathlib import Path

import click

from goodbot.cli.control import tell
from goodbot.cli.options import in_option


@click.command(name="stop")
@in_option
def command(folder: Path) -> None:
    """Have the crawl that runs in DIR end, as Ctrl-C does: pages in flight finish, all is kept.

    Waits for the end ten seconds at most. The crawl itself ends with status 130; `goodbot crawl --into DIR` goes on. If
    none runs, there is nothing to do (exit 0). Exit status: 3 if the crawl does not answer.
    """
    tell(folder, "stop")
