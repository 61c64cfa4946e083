"""`goodbot index`: fills, rebuilds, refreshes, measures and copies a search index."""

from functools import partial
from pathlib import Path

import click

from goodbot.cli.command_class import keep_folders_from_output
from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.file_types import NamedPath
from goodbot.cli.index_progress import ImportProgress, IndexProgress, RefreshProgress
from goodbot.cli.index_snapshot import command as snapshot
from goodbot.cli.options import in_option, index_option, index_options, opened_input
from goodbot.cli.printing import say, write_json
from goodbot.config import Settings
from goodbot.crawl_admin import rebuild_index
from goodbot.crawl_folder import CHANGES_NO_INDEX, KEEPS_NO_INDEX, CrawlFolder
from goodbot.human import counted, human_bytes, in_shell
from goodbot.index_care import import_documents, refresh_index, statistics
from goodbot.interrupts import run_async


@click.group(
    name="index",
    cls=CommandGroup,
    examples="""
    goodbot index stats --in crawl
    goodbot index rebuild --in crawl
    goodbot index import documents.jsonl --into library
    goodbot index snapshot --in crawl --to /srv/www/copies
    """,
)
def command() -> None:
    """Fill, rebuild, refresh, measure or copy a search index. A document is a page of a crawl or an imported text."""


command.add_command(snapshot)


@command.command(
    name="rebuild",
    short_help="Rebuild the search index from the archive",
    output=False,
    examples="goodbot index rebuild --in crawl",
)
@in_option
def rebuild(folder: Path, as_json: bool) -> None:
    """Rebuild the search index of the crawl in DIR from the pages in its archive.

    Use it if the crawl was made with --no-index, or if the index is missing, damaged, older than the crawl, made by an
    older goodbot or copied from another crawl. Except in the first case, `goodbot crawl` also rebuilds it, at its
    start.

    If there is an old index that can be read, it answers searches until the new one is complete; if not, `goodbot
    search` and `goodbot serve` end with status 3 until then. If the command is interrupted or killed, run it again: it
    continues where it stopped. Pages whose text is not in the archive are put back into the queue: the next `goodbot
    crawl --into DIR` fetches them again.

    Exit status: 0: the index is rebuilt; 2: there is no crawl in DIR; 3: a crawl is running there, or the index cannot
    be written.
    """
    tell = partial(say, err=True)
    done, documents = run_async(lambda: rebuild_index(folder, IndexProgress(tell)))
    if not CrawlFolder(folder).settings(Settings()).index:
        effect = "so pages visited from now on will not be in the index"
        tell(f"{KEEPS_NO_INDEX}, {effect}; {CHANGES_NO_INDEX} --into {in_shell(folder)}")
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
    say(f"the index has {counted(documents, 'page')}")
    if done.lost:
        say(f"fetch the missing pages with: goodbot crawl --into {in_shell(folder)}")


@command.command(
    name="import",
    short_help="Add documents from a file to an index",
    examples="""
    goodbot index import documents.jsonl --into library
    zcat documents.jsonl.gz | goodbot index import - --into library
    """,
)
@click.argument("file", type=NamedPath(path_type=Path), metavar="FILE.jsonl")
@click.option(
    "--into",
    "folder",
    required=True,
    metavar="DIR",
    type=NamedPath(path_type=Path),
    help="Folder of the documents; their index is DIR/index.",
)
def import_(file: Path, folder: Path, as_json: bool) -> None:
    """Add the documents in FILE.jsonl (- for standard input) to the index in DIR. What is missing is created.

    Each line is a JSON object with "text" and an "id" (a string or a number), and optionally "title", "url",
    "headings", "description", "keywords" and "language" (a tag such as en), all strings. A line without "id" needs a
    "url", which is then the id. A document replaces the one with the same id. If a line cannot be used, nothing is
    imported.

    Exit status: 0: done; 2: a line cannot be used, FILE cannot be read, or DIR has a crawl; 3: the index cannot be
    written.
    """
    keep_folders_from_output([CrawlFolder(folder).index])
    with opened_input(str(file)) as stream:
        done = import_documents(folder, str(file), stream, ImportProgress(partial(say, err=True)))
    if as_json:
        write_json({"imported": done.read, "documents": done.documents})
        return
    say(f"{counted(done.read, 'document')} imported; the index now has {counted(done.documents, 'document')}")


@command.command(
    name="refresh",
    short_help="Bring link texts, PageRank and completions up to date",
    examples="""
    goodbot index refresh --in crawl
    goodbot index refresh --in /srv/machine1 --in /srv/machine2
    """,
)
@index_options
def refresh(folders: tuple[Path, ...], as_json: bool) -> None:
    """Read the links between the pages in DIR again. This updates the texts of links to each page, its PageRank, and
    the completions of queries.

    A crawl does this at its end if a page has changed; with more than 10,000 pages, if more than 1 % have. Searches go
    on meanwhile; if the command is interrupted, nothing changes.

    Give all folders that are searched as one: the link texts and the PageRank of a page are then those of the links
    from all pages. The end of a crawl in one of the folders updates them from the links in that folder alone, so run
    the command again afterwards.

    Exit status: 0: done; 2: DIR has neither a crawl nor an index or is given twice, or the crawl was made with
    --no-index; 3: the index of the crawl is missing, or the index cannot be read or written.
    """
    keep_folders_from_output([CrawlFolder(folder).index for folder in folders])
    done = refresh_index(folders, RefreshProgress(partial(say, err=True)))
    if as_json:
        write_json({"done": True, "documents": done.total})
        return
    say(f"the links of {counted(done.total, 'page')} are up to date")


@command.command(name="stats", short_help="Show the size of an index", examples="goodbot index stats --in crawl")
@index_option
def stats(folder: Path, as_json: bool) -> None:
    """Show how many documents the index in DIR has, in which languages, and how large it is.

    The output has the size of each part. texts: the text that hits show. postings, positions, terms: what searches
    read. numbers: the values that order hits. links: link texts, PageRank and completions.

    Exit status: 0: done; 2: DIR has neither a crawl nor an index, or the crawl was made with --no-index; 3: the index
    of the crawl is missing, or the index cannot be read.
    """
    keep_folders_from_output([CrawlFolder(folder).index])
    found = statistics(folder)
    if as_json:
        write_json(
            {
                "documents": found.documents,
                "size_bytes": found.size,
                "parts_bytes": found.parts,
                "languages": found.languages,
                "segments": found.segments,
                "schema": found.schema,
                "links": "none" if found.refreshed is None else "current" if found.refreshed else "older",
            }
        )
        return
    each = f", {found.size / found.documents:,.0f} bytes each" if found.documents else ""
    say(f"{counted(found.documents, 'document')}, {human_bytes(found.size)}{each}")
    say("languages: " + (", ".join(f"{name} {count:,}" for name, count in found.languages.items()) or "unknown"))
    for part, size in found.parts.items():
        say(f"{human_bytes(size):>12}  {part}")
    if found.refreshed is None:
        say(f"no texts of links yet; to add them: goodbot index refresh --in {in_shell(folder)}")
    elif not found.refreshed:
        refresh = f"goodbot index refresh --in {in_shell(folder)}"
        say(f"pages have changed since their links were read; to read them again: {refresh}")
