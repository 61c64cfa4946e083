"""`goodbot index snapshot`: copies an index to another place, once or at intervals."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
    from goodbot.index.copies import Copying, Snapshot

MAX_KEPT: Final = 100


@click.command(
    name="snapshot",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Copy an index to a folder or URL, for goodbot serve --follow",
    examples="""
    goodbot index snapshot --in crawl --to /srv/www/copies
    goodbot index snapshot --in crawl --to s3://bucket/copies --every 10min
    goodbot index snapshot --in crawl --to /srv/www/copies --verify
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
@click.option(
    "--verify",
    is_flag=True,
    help="Also read all files that are there, compare them with their SHA-256, and write again what is damaged.",
)
@click.option("--every", metavar="TIME", help="Take a snapshot every TIME, such as 10min, 1h or 1d, until Ctrl-C.")
def command(folder: Path, to: str, keep: int, verify: bool, every: str | None, as_json: bool) -> None:
    """Copy the index in DIR to FOLDER or URL, where `goodbot serve --follow` finds it.

    A snapshot is one commit of the index, whole. The crawl may be running. What searches must not show goes with it:
    which pages were removed at the request of their owners, and which must not be found from a date on. So do the
    synonyms. A snapshot copies only what FOLDER or URL does not have yet. It can be interrupted or killed at any
    moment: the version before it stays whole.

    A snapshot looks only at the sizes of the files that are there. If a server that follows reports a file whose
    SHA-256 is another one, use --verify. It takes as long as reading all files of the place; with --every, each time.

    With --every, a snapshot that fails is reported, and tried again next time; but if the first one fails because of
    bad input (status 2), the command ends. With --json, each snapshot prints one line; one that failed prints "done":
    false and the "error".

    Exit status: 0: done; 2: DIR has neither a crawl nor an index, the crawl was made with --no-index, or FOLDER or URL
    has files that no snapshot wrote; 3: the index is missing or damaged, another snapshot is being written there, or
    FOLDER or URL cannot be written; 130: interrupted by Ctrl-C, SIGTERM or SIGHUP (the terminal was closed), which is
    the usual end of --every."""
    from goodbot.index_copies import open_target, origin_of, snapshot_index  # noqa: PLC0415  (as above)
    from goodbot.places.folder_place import FolderPlace  # noqa: PLC0415  (other commands of the group start faster)

    every_s = None if every is None else parse_every(every, 1)
    crawl = CrawlFolder(folder)
    settings = base_settings() if crawl.is_import or not crawl.is_crawl else crawl.settings(base_settings())
    home = settings_before_options(folder).public_url
    target = open_target(to)
    keep_folders_from_output([crawl.index, *([Path(target.name)] if isinstance(target, FolderPlace) else [])])
    origin = origin_of(folder, settings, home)

    def write() -> None:
        done = snapshot_index(folder, target, keep, origin, _progress(), verify=verify)
        _print(done, target.name, as_json=as_json)

    if every_s is None:
        write()
    else:
        _repeat(write, every_s, as_json=as_json)


def _repeat(write: Callable[[], None], every_s: int, *, as_json: bool) -> None:
    """Writes snapshots until a signal ends the command. One that fails is reported, unless it is the first one and the
    user has to change something. Raises InputError then."""
    is_first = True
    while True:
        started = time.monotonic()
        try:
            write()
        except GoodbotError as error:
            if is_first and isinstance(error, InputError):
                raise
            complain(str(error))
            if as_json:
                write_json({"done": False, "error": str(error)})
        is_first = False
        flush()
        time.sleep(max(0.0, started + every_s - time.monotonic()))


def _progress() -> "Callable[[Copying], None]":
    copied, verified = (CopyProgress(partial(say, err=True), done) for done in ("copied", "verified"))

    def watch(copying: "Copying") -> None:
        progress = verified if copying.verifies else copied
        progress(copying.done, copying.total, begins=copying.begins)

    return watch


def _print(done: "Snapshot", place: str, *, as_json: bool) -> None:
    if as_json:
        write_json(_json(done))
        return
    manifest = done.manifest
    if done.verified is not None:
        read = f"{counted(done.verified.files, 'file')}, {human_bytes(done.verified.size)}"
        say(f"verified {place} ({read}): {_damage(done)}")
    files = f"{counted(len(manifest.files), 'file')}, {human_bytes(manifest.size)}"
    new = f"{counted(done.copied_files, 'file')}, {human_bytes(done.copied_bytes)}"
    documents = counted(manifest.documents, "document")
    say(f"wrote version {manifest.version} ({documents}, {files}; new: {new}) to {place}")


def _damage(done: "Snapshot") -> str:
    """Returns what was damaged, and what became of it."""
    damaged = done.verified.damaged if done.verified is not None else frozenset[str]()
    if not damaged:
        return "nothing is damaged"
    again = len(damaged & {file.digest for file in done.manifest.files})
    parts = [f"{again:,} damaged, written again"] if again else []
    if removed := len(damaged) - again:
        parts.append(f"{removed:,} damaged, of older versions, removed")
    return "; ".join(parts)


def _json(done: "Snapshot") -> dict[str, Any]:
    manifest = done.manifest
    written = {
        "done": True,
        "version": manifest.version,
        "documents": manifest.documents,
        "files": len(manifest.files),
        "size_bytes": manifest.size,
        "copied_files": done.copied_files,
        "copied_bytes": done.copied_bytes,
    }
    if done.verified is None:
        return written
    return {**written, "verified_files": done.verified.files, "damaged_files": len(done.verified.damaged)}
