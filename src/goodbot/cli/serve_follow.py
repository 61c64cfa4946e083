"""Follows the snapshots of an index for `goodbot serve --follow`."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goodbot.cli.abandoned_threads import end_without_waiting
from goodbot.cli.file_types import NamedPath
from goodbot.cli.index_progress import CopyProgress
from goodbot.cli.printing import say
from goodbot.cli.repeat_option import parse_interval
from goodbot.errors import InputError
from goodbot.human import counted, human_time
from goodbot.interrupts import stopped_as_by_ctrl_c
from goodbot.url import parse_url
from goodbot.web import Site

if TYPE_CHECKING:
    from goodbot.index.copies import Copying, Follower, Manifest, Origin


def follow_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options about following snapshots."""
    command = click.option(
        "--follow-every",
        metavar="TIME",
        help="With --follow: how often to look for a new snapshot, such as 10s or 5min.  [default: 60s]",
    )(command)
    command = click.option(
        "--into",
        "copies",
        metavar="DIR",
        type=NamedPath(path_type=Path),
        help="With --follow: folder for the copy. By default it is in your cache folder.",
    )(command)
    return click.option(
        "--follow",
        metavar="FOLDER|URL",
        help="Serve the snapshots of an index instead of a crawl, and follow them: a folder of goodbot index snapshot, "
        "the URL of a Web server that serves it, or a URL of fsspec.",
    )(command)


def start_following(
    place: str | None, copies: Path | None, every: str | None, folder: Path | None
) -> "tuple[Follower, Manifest] | tuple[None, None]":
    """Begins to follow the snapshots in `place`; the folder `copies` is locked until the command ends. Returns None if
    nothing is to be followed. A signal that ends the server also ends the command while it waits. Raises InputError if
    the options contradict each other, RunError if there is neither a snapshot nor an earlier copy of one."""
    if place is None:
        for option, value in (("--into", copies), ("--follow-every", every)):
            if value is not None:
                raise InputError(f"{option} needs --follow FOLDER|URL")
        return None, None
    if folder is not None:
        raise InputError("--follow serves the copy of an index, and --in a crawl: give one of them")
    every_s = parse_interval("--follow-every", every or "60s", 1)
    from goodbot.index.copies import Follower  # noqa: PLC0415  (a crawl is served without them)
    from goodbot.index_copies import open_copies, open_source  # noqa: PLC0415  (as above)

    source = open_source(place)
    into = copies or default_folder(source.name)
    cache = click.get_current_context().with_resource(open_copies(into, source))
    progress = CopyProgress(partial(say, err=True), "fetched")

    def watch(copying: "Copying") -> None:
        progress(copying.done, copying.total, begins=copying.begins)

    def waiting() -> None:
        say(f"waiting for {source.name}", err=True)

    follower = Follower(source, cache, every_s, watch, _say_new, waiting)
    try:
        with stopped_as_by_ctrl_c():
            return follower, follower.start()
    except KeyboardInterrupt:
        follower.stop()
        end_without_waiting()
        return click.get_current_context().exit(0)


def as_copy(site: Site, origin: "Origin") -> Site:
    """Returns the site of a copy: its robot is that of the original."""
    home = parse_url(origin.home) if origin.home else None
    named = replace(site, copy_of=home.text if home is not None else "")
    if not origin.token:
        return named
    return replace(named, token=origin.token, user_agent=origin.user_agent, contact=origin.contact or site.contact)


def default_folder(source: str) -> Path:
    """Returns the folder for a copy, in the user's cache folder."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "goodbot" / "copies" / blake2b(source.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _say_new(manifest: "Manifest", documents: int) -> None:
    say(f"serving the snapshot of {human_time(manifest.taken_at)}: {counted(documents, 'document')}", err=True)
