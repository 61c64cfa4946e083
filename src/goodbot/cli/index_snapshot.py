"""`goodbot index snapshot`: copies an index to another place, once or at intervals."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from goodbot.cli.command_class import Command, keep_folders_from_output
from goodbot.cli.index_progress import CopyProgress
from goodbot.cli.options import base_settings, index_option
from goodbot.cli.printing import complain, flush, say, write_json
from goodbot.cli.repeat_option import parse_every
from goodbot.cli.serve_options import settings_before_options
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import GoodbotError, InputError
from goodbot.human import counted, human_bytes

if TYPE_CHECKING:
    from goodbot.index.copies import Copying, CopyTarget, Origin, Snapshot

MAX_KEPT: Final = 100


@click.command(
    name="snapshot",
    cls=Command,
    short_help="Copy an index to a folder or URL, for goodbot serve --follow",
    examples="""
    goodbot index snapshot --in crawl --to /srv/www/copies
    goodbot index snapshot --in crawl --to s3://bucket/copies --every 10min
    """,
)
@index_option
@click.option(
    "--to",
    required=True,
    metavar="FOLDER|URL",
    help="Where to write: a folder, made if missing, or a URL of fsspec, such as s3://bucket/copies "
    "(pip install '.[remote]', and what fsspec needs for that URL).",
)
@click.option(
    "--keep",
    type=click.IntRange(1, MAX_KEPT),
    default=3,
    show_default=True,
    metavar="N",
    help="How many versions to keep.",
)
@click.option("--every", metavar="TIME", help="Go on until Ctrl-C, with a snapshot every 10min, 1h or 1d.")
def command(folder: Path, to: str, keep: int, every: str | None, as_json: bool) -> None:
    """Copy the index in DIR to FOLDER or URL, where `goodbot serve --follow` finds it.

    A snapshot is one commit of the index, whole. The crawl may be running. What searches must not show goes with it:
    pages that owners had removed, and pages that must not be found from a date on; so do the synonyms. A snapshot
    copies only what the place does not have yet. It can be interrupted or killed at any moment: the version before it
    stays whole.

    With --every, a snapshot that fails is reported, and tried again next time; if DIR or FOLDER cannot be used at the
    first one (status 2), the command ends. With --json, there is one line for each.

    Exit status: 0: done; 2: DIR has neither a crawl nor an index, the crawl was made with --no-index, or FOLDER or URL
    has files that are not of snapshots; 3: the index is missing or damaged, another snapshot is being written there, or
    it cannot be written; 130: --every was interrupted."""
    from goodbot.index.copies import FolderPlace  # noqa: PLC0415  (other commands of the group start faster)
    from goodbot.index_copies import open_target, origin_of  # noqa: PLC0415  (as above)

    every_s = None if every is None else parse_every(every, 1)
    crawl = CrawlFolder(folder)
    settings = base_settings() if crawl.is_import or not crawl.is_crawl else crawl.settings(base_settings())
    home = settings_before_options(folder).public_url
    target = open_target(to)
    keep_folders_from_output([crawl.index, *([Path(target.name)] if isinstance(target, FolderPlace) else [])])
    origin = origin_of(folder, settings, home)
    is_first = True
    while True:
        started = time.monotonic()
        try:
            _write(folder, target, keep, origin, as_json=as_json)
        except GoodbotError as error:
            if every_s is None or (is_first and isinstance(error, InputError)):
                raise
            complain(str(error))
        if every_s is None:
            return
        is_first = False
        flush()
        time.sleep(max(0.0, started + every_s - time.monotonic()))


def _write(folder: Path, target: "CopyTarget", keep: int, origin: "Origin", *, as_json: bool) -> None:
    from goodbot.index_copies import snapshot_index  # noqa: PLC0415  (as above)

    progress = CopyProgress(partial(say, err=True), "copied")

    def watch(copying: "Copying") -> None:
        progress(copying.done, copying.total, begins=copying.begins)

    done = snapshot_index(folder, target, keep, origin, watch)
    _print(done, target.name, as_json=as_json)


def _print(done: "Snapshot", place: str, *, as_json: bool) -> None:
    manifest = done.manifest
    if as_json:
        write_json(
            {
                "done": True,
                "version": manifest.version,
                "documents": manifest.documents,
                "files": len(manifest.files),
                "size_bytes": manifest.size,
                "copied_files": done.copied_files,
                "copied_bytes": done.copied_bytes,
            }
        )
        return
    files = f"{counted(len(manifest.files), 'file')}, {human_bytes(manifest.size)}"
    new = f"{counted(done.copied_files, 'file')}, {human_bytes(done.copied_bytes)}"
    documents = counted(manifest.documents, "document")
    say(f"wrote version {manifest.version} ({documents}, {files}; new: {new}) to {place}")
