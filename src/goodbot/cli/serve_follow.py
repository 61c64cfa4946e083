"""Follows the snapshots of an index for `goodbot serve --follow`."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from goodbot.errors import AwaitedError, InputError
from goodbot.human import counted, human_time
from goodbot.interrupts import stopped_as_by_ctrl_c
from goodbot.ports import Search
from goodbot.search_values import CopyState
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
        help="With --follow: folder for the copy; with several --follow, a subfolder for each copy. Default: a folder "
        "in your cache folder.",
    )(command)
    return click.option(
        "--follow",
        "places",
        multiple=True,
        metavar="FOLDER|URL",
        help="Serve the snapshots of an index instead of a crawl, and follow them: a folder of goodbot index snapshot, "
        "the URL of a Web server that serves it, or a URL of fsspec. Repeatable: several are searched as one.",
    )(command)


@dataclass(frozen=True, slots=True)
class Following:
    """The indexes that are followed, and a search in all of them. `origin` is that of the first."""

    search: Search
    origin: "Origin"
    followers: "tuple[Follower, ...]"
    names: tuple[str, ...]

    def state(self) -> CopyState:
        """Returns how old the copies are: the oldest of them counts."""
        states = [follower.state() for follower in self.followers]
        if len(states) == 1:
            return states[0]
        versions, taken, checked, problems = zip(*states, strict=True)
        named = [f"{name}: {why}" for name, why in zip(self.names, problems, strict=True) if why]
        version = "+".join(versions) if all(versions) else None
        return CopyState(version, _earliest(taken), _earliest(checked), "; ".join(named) or None)

    def stop(self) -> None:
        """Ends following soon, without waiting for it."""
        for follower in self.followers:
            follower.stop()


def _earliest(times: Sequence[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return min(known) if len(known) == len(times) else None


def start_following(
    places: Sequence[str], copies: Path | None, every: str | None, folders: Sequence[Path]
) -> Following | None:
    """Begins to follow the snapshots in some places; the folders for copies are locked until the command ends. Returns
    None if nothing is to be followed. A signal that ends the server also ends the command while it waits. Raises
    InputError if the options contradict each other or two places have the same index, RunError if one has neither a
    snapshot nor an earlier copy of one."""
    if not places:
        for option, value in (("--into", copies), ("--follow-every", every)):
            if value is not None:
                raise InputError(f"{option} needs --follow FOLDER|URL")
        return None
    if folders:
        raise InputError("--follow serves the copy of an index, and --in a crawl: give one of them")
    every_s = parse_interval("--follow-every", every or "60s", 1)
    from goodbot.index.copies import FollowedTogether, Follower  # noqa: PLC0415  (a crawl is served without them)
    from goodbot.index_copies import open_copies, open_source  # noqa: PLC0415  (as above)

    sources = [open_source(place) for place in places]
    names = tuple(source.name for source in sources)
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"--follow {repeated} is given twice")
    followers = []
    for source in sources:
        into = default_folder(source.name) if copies is None else copies
        if copies is not None and len(sources) > 1:
            into = copies / default_folder(source.name).name
        cache = click.get_current_context().with_resource(open_copies(into, source))
        waiting = partial(say, f"waiting for {source.name}", err=True)
        followers.append(Follower(source, cache, every_s, _progress(), _say_new, waiting))
    together = followers[0].search if len(followers) == 1 else FollowedTogether([each.search for each in followers])
    try:
        with stopped_as_by_ctrl_c():
            origins = [follower.start().origin for follower in followers]
        with suppress(AwaitedError):
            together.count()  # opens the indexes
    except KeyboardInterrupt:
        for follower in followers:
            follower.stop()
        end_without_waiting()
        return click.get_current_context().exit(0)
    return Following(together, origins[0], tuple(followers), names)


def _progress() -> "Callable[[Copying], None]":
    progress = CopyProgress(partial(say, err=True), "fetched")

    def watch(copying: "Copying") -> None:
        progress(copying.done, copying.total, begins=copying.begins)

    return watch


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
