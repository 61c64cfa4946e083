"""`goodbot resume`: resumes a paused crawl."""

from pathlib import Path

import click

from goodbot.cli.options import in_option
from goodbot.cli.run_control import tell


@click.command(name="resume")
@in_option
def command(folder: Path) -> None:
    """Resume the crawl that is paused in DIR.

    To resume a crawl that was stopped or killed, use `goodbot crawl --into DIR`.

    Exit status: 0: resumed, or no crawl is running in DIR; 3: the crawl does not answer.
    """
    tell(folder, "resume")
