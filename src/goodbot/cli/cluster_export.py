"""`goodbot cluster export`: brings a crawl in cycles back to one machine."""

from functools import partial
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.printing import can_rewrite, complain, is_quiet, overwrite, say, say_folded, write_json
from goodbot.human import counted, in_shell

DAMAGED_SHOWN = 20
"""Damaged files that are named as text at most; --json names all."""


@click.command(
    name="export",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Bring a crawl in cycles back to one machine",
    output=False,
    examples="""
    goodbot cluster export --store /mnt/crawl --into crawl
    goodbot cluster export --store s3://bucket/crawl --into crawl --json
    """,
)
@click.option("--store", required=True, metavar="URL", help="The store: a path, or s3://BUCKET/FOLDER.")
@click.option(
    "--into",
    "folder",
    required=True,
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Folder for the crawl. It must have none yet.",
)
def command(store: str, folder: Path, as_json: bool) -> int:
    """Copy the crawl of a store into the folder of one machine: its URLs and hosts become the frontier there, and its
    archive is copied. The store stays as it is. `goodbot crawl --into DIR` goes on with the crawl; it makes the search
    index from the archive first.

    It is refused while cycles run. If it was interrupted, repeat the command: files of the archive that are copied
    already are not copied again. If a file of the archive is missing, or has another size than it should, all the rest
    is copied; after `goodbot archive repair --in DIR` the crawl requests the lost pages again. `goodbot archive check
    --in DIR` reads the whole archive, and finds other damage too.

    Exit status: 0: done; 1: done, but files of the archive are missing or have another size; 2: there is no crawl in
    the store, or there is one in DIR; 3: a driver is at work on the store, its table is damaged, or a file cannot be
    written; 130: interrupted by Ctrl-C, SIGTERM or SIGHUP.
    """
    from goodbot.cluster.spark.driver_lock import driver_lock  # noqa: PLC0415  (loads pyarrow)
    from goodbot.cluster.spark.opening import open_files  # noqa: PLC0415
    from goodbot.cluster.spark.table_version import load_existing  # noqa: PLC0415
    from goodbot.crawl_transfer import export_to_folder  # noqa: PLC0415

    files = open_files(store)
    load_existing(files)  # before the lock, which would make the folder of a store
    with driver_lock(files, "goodbot cluster export", partial(say, err=True)):
        done = export_to_folder(files, load_existing(files).version, folder, show_count)
    wipe_count()
    for line in done.damaged[:DAMAGED_SHOWN]:
        complain(line)
    if len(done.damaged) > DAMAGED_SHOWN:
        complain(f"and {counted(len(done.damaged) - DAMAGED_SHOWN, 'other file')} missing or damaged")
    if as_json:
        counts = {"urls": done.urls, "hosts": done.hosts, "archive_files": done.warcs}
        write_json({**counts, "damaged": list(done.damaged), "into": str(folder)})
        return 1 if done.damaged else 0
    what = (counted(done.urls, "URL"), counted(done.hosts, "host"), counted(done.warcs, "archive file"))
    first = f"run goodbot archive repair --in {in_shell(folder)}; then " if done.damaged else ""
    say_folded(
        f"{', '.join(what)} copied into {folder}: {first}goodbot crawl --into {in_shell(folder)} goes on with the crawl"
    )
    return 1 if done.damaged else 0


def show_count(what: str, count: int) -> None:
    """Shows how many are copied, if standard error is a terminal."""
    if can_rewrite() and not is_quiet():
        overwrite(f"{count:,} {what} copied")


def wipe_count() -> None:
    """Removes what `show_count` has shown."""
    if can_rewrite() and not is_quiet():
        overwrite("")
