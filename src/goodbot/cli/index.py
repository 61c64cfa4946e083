"""`goodbot index`: rebuilds the search index of a crawl."""

import asyncio
from functools import partial
from pathlib import Path

import click

from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.index_progress import IndexProgress
from goodbot.cli.options import in_option
from goodbot.cli.printing import say, write_json
from goodbot.config import Settings
from goodbot.crawl_admin import rebuild_index
from goodbot.crawl_folder import CHANGES_NO_INDEX, KEEPS_NO_INDEX, CrawlFolder
from goodbot.human import counted


@click.group(name="index", cls=CommandGroup, examples="goodbot index rebuild --in crawl")
def command() -> None:
    """Rebuild the search index of a crawl."""


@command.command(
    name="rebuild",
    short_help="Rebuild the search index from the archive",
    output=False,
    examples="goodbot index rebuild --in crawl",
)
@in_option
def rebuild(folder: Path, as_json: bool) -> None:
    """Rebuild the search index of the crawl in DIR from the pages in its archive.

    Use it to get an index for a crawl made with --no-index, or when the index is missing, damaged, an older copy or
    another crawl's: then `goodbot crawl` rebuilds it too.

    If there is an old index that can be read, it answers searches until the new one is complete; if not, `goodbot
    search` and `goodbot serve` end with status 3 until then. If the command is interrupted or killed, run it again: it
    continues where it stopped. Pages whose text is not in the archive are put back into the queue: the next `goodbot
    crawl --into DIR` fetches them again.

    Exit status: 0: the index is rebuilt; 2: there is no crawl in DIR; 3: a crawl is running there, or the index cannot
    be written.
    """
    tell = partial(say, err=True)
    done, documents = asyncio.run(rebuild_index(folder, IndexProgress(tell)))
    if not CrawlFolder(folder).settings(Settings()).index:
        effect = "so pages visited from now on will not be in the index"
        tell(f"{KEEPS_NO_INDEX}, {effect}; {CHANGES_NO_INDEX} --into {folder}")
    if as_json:
        write_json(
            {
                "done": True,
                "documents": documents,
                "requeued": done.lost.total(),
                "requeued_why": {reason: done.lost[reason] for reason in ("not kept", "withheld", "damaged")},
            }
        )
        return
    say(f"{counted(documents, 'page')} can be found")
    if done.lost:
        say(f"fetch the missing pages with: goodbot crawl --into {folder}")
