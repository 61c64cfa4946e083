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
from goodbot.human import counted, human_bytes, in_shell
from goodbot.interrupts import run_async
from goodbot.store.foreign.foreign_values import Skipped

if TYPE_CHECKING:
    from goodbot.archive_import import ImportReport

MAX_SHOWN = 20
"""Maximum number of damaged places printed as text; --json lists more."""

_REASONS: dict[Skipped, str] = {
    "not http": "URLs that are not http or https",
    "not GET": "responses to requests other than GET",
    "no HTTP response": "captures without an HTTP response",
    "not modified": "304 responses, which contain no page",
    "no usable date": "captures without a usable date",
    "no usable URL": "URLs that cannot be parsed",
    "no original": "revisit records whose original is in none of the files",
    "forgotten": "captures of hosts removed with goodbot forget",
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
    help="Folder of a crawl; created if it does not exist.",
)
def command(files: tuple[Path, ...], folder: Path, as_json: bool) -> int:
    """Import the pages of WARC and WACZ files of other programs into the crawl in DIR. Nothing is fetched.

    FILE is a WARC file (plain, gzip or zstd) or a WACZ file, such as those of Heritrix, wget, Browsertrix and Common
    Crawl. Its captures are copied to the archive of DIR, and the latest one of each URL becomes its page: goodbot
    indexes, finds, exports and explains it like a page that it has fetched. Pages with noindex are not indexed, and of
    pages with noarchive only the header is copied.

    Import more files at any time: captures that DIR has already are skipped. After Ctrl-C or a kill, run the command
    again: nothing is lost or doubled. Pages that are only linked are recorded as out of scope; goodbot crawl SEED
    --into DIR fetches those in the scope of SEED.

    Damage is listed, and reading goes on after it. Records that are cut short or cannot be decompressed are skipped;
    records with a wrong length or digest are imported.

    Exit status: 0: done; 1: done, but a file is damaged; 2: a file cannot be read or is not a WARC or WACZ file, or DIR
    cannot take it; 3: a crawl is running in DIR, the disk fails, or a file became unreadable during the import (what
    was imported is kept).
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
    return 1 if report.damage_count else 0


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
        "damage_count": report.damage_count,
        "damaged": [
            {"file": one.file, "entry": one.entry or None, "at": one.at, "url": one.url or None, "what": one.what}
            for one in report.damaged
        ],
    }


def _lines(report: "ImportReport", folder: Path) -> Iterator[str]:
    counts = report.counts
    read = f"{counted(report.files, 'file')}, {human_bytes(report.bytes)}, {counted(report.records, 'record')}"
    robots = f", {counts.robots:,} of them robots.txt" if counts.robots else ""
    yield f"{read}: {counted(counts.captures, 'capture')} imported{robots}"
    if counts.known:
        yield f"{counted(counts.known, 'capture')} imported before"
    skipped = sum(counts.skipped.values())
    if skipped:
        yield f"{counted(skipped, 'capture')} skipped:"
        yield from (f"  {count:,}: {_REASONS[reason]}" for reason, count in counts.skipped.most_common())
    if report.damage_count:
        yield f"damaged places in the files: {report.damage_count:,}"
        yield from (f"  {damage}" for damage in report.damaged[:MAX_SHOWN])
        if report.damage_count > MAX_SHOWN:
            yield f"  … and {report.damage_count - MAX_SHOWN:,} more (--json lists {len(report.damaged):,})"
    if report.status is not None:
        states = report.status.states
        others = [f"{states[state]:,} {state}" for state in ("gone", "failed") if states[state]]
        now = ", ".join([counted(report.status.pages, "visited URL"), *others])
        yield f"{folder} now has {now}" + (f": goodbot search WORD --in {in_shell(folder)}" if report.has_index else "")
