"""`goodbot archive import`: takes the archives of other programs into a crawl."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from goodbot.cli.command_class import Command, keep_folders_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import base_settings
from goodbot.cli.printing import say, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.human import counted, human_bytes
from goodbot.interrupts import run_async
from goodbot.store.foreign.foreign_values import Skipped

if TYPE_CHECKING:
    from goodbot.archive_import import ImportReport

MAX_SHOWN = 20
"""Damages printed as text at most; --json prints more."""

_REASONS: dict[Skipped, str] = {
    "not http": "have a URL that is not http or https",
    "not GET": "answer a POST or another request that is not a GET",
    "no HTTP response": "have no HTTP response",
    "not modified": "say only that a page has not changed (304)",
    "no usable date": "have no usable date",
    "no usable URL": "have a URL that cannot be parsed",
    "no original": "refer to an answer that is in none of the files (revisit)",
    "forgotten": "are of a host that goodbot forget bars",
}


@click.command(
    name="import",
    cls=Command,
    short_help="Import WARC and WACZ files of other programs",
    examples="""
    goodbot archive import old.warc.gz --into library
    goodbot archive import crawls/*.wacz more.warc.gz --into library
    """,
)
@click.argument("files", nargs=-1, required=True, type=NamedPath(path_type=Path), metavar="FILE…")
@click.option(
    "--into",
    "folder",
    required=True,
    metavar="DIR",
    type=NamedPath(path_type=Path),
    help="Folder of a crawl. It is made if it is missing.",
)
def command(files: tuple[Path, ...], folder: Path, as_json: bool) -> int:
    """Take the pages in WARC and WACZ files that other programs wrote into the crawl in DIR. Nothing is fetched.

    FILE is a WARC file (plain, gzip or zstd) or a WACZ file, such as those of Heritrix, wget, Browsertrix and Common
    Crawl. Its captures are copied to the archive of DIR, and the latest one of each URL becomes its page: it is
    indexed, searched, exported and explained like a page that goodbot has fetched. Pages that ask not to be indexed are
    not, and of pages with noarchive only the header is copied.

    Import more files at any time: captures that DIR has already are skipped. After Ctrl-C or a kill, run the command
    again: nothing is lost or doubled. Links to other pages are known as out of scope; goodbot crawl SEED --into DIR
    fetches those in its scope.

    Damaged records are skipped and listed, and reading goes on after them.

    Exit status: 0: done; 1: done, but a file is damaged; 2: a file cannot be read or is no archive, or DIR cannot take
    it; 3: a crawl is running in DIR, or the disk fails.
    """
    from goodbot.archive_import import import_archives  # noqa: PLC0415  (what reads pages is not for `archive check`)
    from goodbot.cli.index_progress import IndexProgress  # noqa: PLC0415

    keep_folders_from_output([folder])
    watch = IndexProgress(partial(say, err=True))
    with ProgressLine() as progress:
        report = run_async(lambda: import_archives(folder, files, base_settings(), progress.report, watch))
    if as_json:
        write_json(_json(report))
    else:
        for line in _lines(report, folder):
            say(line)
    return 1 if report.damaged else 0


def _json(report: "ImportReport") -> dict[str, object]:
    counts = report.counts
    return {
        "done": True,
        "files": report.files,
        "bytes": report.bytes,
        "records": report.records,
        "captures": counts.captures,
        "known": counts.known,
        "pages": counts.pages,
        "robots_txt": counts.robots,
        "skipped": {reason: counts.skipped[reason] for reason in get_args(Skipped)},
        "damages": report.damaged,
        "damaged": [
            {"file": one.file, "entry": one.entry or None, "at": one.at, "what": one.what} for one in report.damages
        ],
    }


def _lines(report: "ImportReport", folder: Path) -> Iterator[str]:
    counts = report.counts
    read = f"{counted(report.files, 'file')}, {human_bytes(report.bytes)}, {counted(report.records, 'record')}"
    yield f"{read}: {counted(counts.captures, 'capture')} imported"
    if counts.known:
        yield f"{counted(counts.known, 'capture')} imported before"
    skipped = sum(counts.skipped.values())
    if skipped:
        yield f"{counted(skipped, 'capture')} skipped:"
        yield from (f"  {count:,} {_REASONS[reason]}" for reason, count in counts.skipped.most_common())
    if report.damaged:
        yield f"damaged: {report.damaged:,}"
        yield from (f"  {damage}" for damage in report.damages[:MAX_SHOWN])
        if report.damaged > MAX_SHOWN:
            yield f"  … and {report.damaged - MAX_SHOWN:,} more (--json lists {len(report.damages):,})"
    if report.status is not None:
        yield f"{folder} now has {counted(report.status.pages, 'page')}: goodbot search WORD --in {folder}"
