"""Copies the index of a crawl or of imported documents to another place, and opens places by their URLs."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path

from goodbot.config import Settings
from goodbot.copy_over_http import HttpSource
from goodbot.crawl_folder import CrawlFolder, open_search
from goodbot.errors import DamagedError, InputError
from goodbot.index.copies import (
    Contents,
    CopyCache,
    Copying,
    Origin,
    Snapshot,
    hold_index,
    open_cache,
    take_snapshot,
)
from goodbot.places.folder_place import FolderPlace
from goodbot.places.opening import WEB, open_place
from goodbot.places.place import Place, ReadablePlace
from goodbot.robot.fetch.identity import identity_of
from goodbot.store.control.removals import RemovalFile
from goodbot.url import parse_url


def snapshot_index(
    path: Path,
    target: Place,
    keep: int,
    origin: Origin,
    watch: Callable[[Copying], object] = lambda progress: None,
    *,
    verify: bool = False,
) -> Snapshot:
    """Writes a version of the index in `path` that answers searches now, with the removals of the crawl and the
    synonyms. A crawl may be running. `verify`: also reads what is there, and writes again what is damaged. Raises the
    errors of `open_search` and of `take_snapshot`."""
    folder = CrawlFolder(path)
    search = open_search(path)  # checks the files, and that this is the index of the crawl
    with hold_index(folder.index) as held:
        contents = Contents(RemovalFile(path).hidden(), _synonyms(folder), origin, search.count())
        return take_snapshot(held, contents, target, keep, watch, verify=verify)


def origin_of(path: Path, settings: Settings, home: str | None) -> Origin:
    """Returns where the index in `path` comes from. `settings` are those of its crawl, `home` is the URL of its search
    service."""
    if CrawlFolder(path).is_import:
        return Origin(home=home or "")
    identity = identity_of(settings, version("goodbot"))
    return Origin(identity.token, identity.user_agent, settings.contact or "", home or "")


def open_target(text: str) -> Place:
    """Opens the place that a user names: a folder, or a URL of fsspec. Raises InputError if it cannot be used."""
    return _open_folder(text) or open_place(text)


def open_source(text: str) -> ReadablePlace:
    """Opens the place that a user names: a folder, the URL of a Web server that serves one, or a URL of fsspec. Raises
    InputError if it cannot be used."""
    if text.lower().startswith(WEB):
        url = parse_url(text)
        if url is None or "?" in url.text:
            raise InputError(f"not the URL of a folder of snapshots: {text}")
        if "@" in text.partition("//")[2].partition("/")[0]:
            raise InputError("a URL to follow cannot have a name or password: they are not sent")
        return HttpSource(url)
    return _open_folder(text) or open_place(text)


def open_copies(folder: Path, source: ReadablePlace) -> AbstractContextManager[CopyCache]:
    """Opens the folder for fetched copies. Raises InputError, BusyError or RunError if it cannot be used."""
    CrawlFolder(folder).check_name()
    if CrawlFolder(folder).is_crawl or CrawlFolder(folder).is_import:
        raise InputError(f"{folder} has an index of its own: give an empty folder (--into)")
    return open_cache(folder, source.name)


def _open_folder(text: str) -> FolderPlace | None:
    """Returns None for a URL."""
    if not text:
        raise InputError("the name of a folder is empty")
    if "://" in text:
        return None
    folder = Path(text)
    CrawlFolder(folder).check_name()
    return FolderPlace(folder.absolute())


def _synonyms(folder: CrawlFolder) -> bytes:
    try:
        return folder.synonyms.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise DamagedError(f"cannot read {folder.synonyms}: {error.strerror}") from error
