"""Opens the search index of a crawl for writing. If it does not match the frontier, rebuilds it from the archive first.

The frontier stores the mark of its index. A rebuild begins with an empty index in a separate folder, marks all pages as
pending, and stores the new index's mark in the frontier. When no page is pending, the new index replaces the old one.
So a rebuild can continue after a kill at any moment, and the old index answers searches meanwhile.
"""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import DamagedError, InputError, RunError
from goodbot.index import (
    META_FILE,
    Refreshed,
    StoppedError,
    TantivyIndex,
    TantivySearch,
    load_mark,
    needs_refresh,
    refresh_links,
    remedy,
)
from goodbot.ports import CrawlStore
from goodbot.robot.crawl.replay import Loss, replay
from goodbot.robot.manners.search_preferences import StoredPreferences
from goodbot.search_values import IndexMark
from goodbot.store.warc.warc_archive import WarcArchive


@dataclass(frozen=True, slots=True)
class Indexing:
    """The progress of indexing pages from the archive.

    `why` is the fault of the old index, if this is a rebuild. `read` of `total` pages were read. `lost` counts the
    pages that must be fetched again, by reason.
    """

    why: str | None
    total: int
    read: int = 0
    documents: int = 0
    lost: Counter[Loss] = field(default_factory=Counter)
    finished: bool = False


Watch = Callable[[Indexing], None]


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of an index. `token` is the robot's product token, which page directives may name."""

    folder: CrawlFolder
    settings: Settings
    token: str
    frontier: CrawlStore
    archive: WarcArchive | None


async def open_index(sources: Sources, watch: Watch) -> TantivyIndex:
    """Opens the index. It then has every page that the frontier counts as indexed, except pending ones. Raises RunError
    if a newer goodbot made it."""
    folder, frontier = sources.folder, sources.frontier
    why = index_fault(folder, frontier)
    if why is not None:
        await rebuild(sources, why, watch)
    _remove(folder.index_draft, folder.index_old)
    index = TantivyIndex(folder.index)
    mark = load_mark(folder.index)
    if mark != frontier.index_mark():
        frontier.indexed((), mark)
    return index


async def rebuild(sources: Sources, why: str, watch: Watch) -> Indexing:
    """Rebuilds the index, or continues a rebuild. Other tasks run between its steps. Raises RunError if it cannot write
    to the disk."""
    folder, frontier = sources.folder, sources.frontier
    if not _is_known(folder, frontier.index_mark()):
        _remove(folder.index_draft)
        new = TantivyIndex(folder.index_draft)
        try:
            frontier.expect_index(new.commit())
        finally:
            new.close()
    index = TantivyIndex(folder.index_draft)
    try:
        done = await index_pending(sources, index, watch, why)
    finally:
        index.close()
    refresh_links(folder.index_draft)
    _replace_index(folder)
    return done


async def index_pending(sources: Sources, index: TantivyIndex, watch: Watch, why: str | None = None) -> Indexing:
    """Indexes the pending pages. Other tasks run between its steps."""
    state = Indexing(why, sources.frontier.pending_count())
    watch(state)
    settings, frontier = sources.settings, sources.frontier
    preferences = StoredPreferences(frontier, sources.token, settings.dialect)
    for step in replay(settings, sources.token, frontier, sources.archive, index, preferences):
        state = replace(
            state,
            read=state.read + step.documents + step.passed_over + step.lost.total(),
            documents=state.documents + step.documents,
            lost=state.lost + step.lost,
        )
        watch(state)
        await asyncio.sleep(0)
    state = replace(state, finished=True)
    watch(state)
    return state


RefreshWatch = Callable[[Refreshed], object]


def refresh_if_needed(folder: CrawlFolder, index: TantivyIndex | None, watch: RefreshWatch) -> bool:
    """Rebuilds the link texts of a crawl's committed index, if there is one and many of its pages have changed.
    Returns whether it did. `watch` may raise StoppedError: then nothing changes, and the next crawl does it."""
    if index is None or not needs_refresh(folder.index):
        return False
    try:
        refresh_links(folder.index, watch)
    except StoppedError:
        return False
    return True


def index_fault(folder: CrawlFolder, frontier: CrawlStore) -> str | None:
    """Returns why the index must be rebuilt; None if it is sound, or if there is nothing to index yet."""
    mark = frontier.index_mark()
    if mark is not None and _is_known(folder, mark):
        return "a rebuild of the search index was interrupted"
    try:
        documents = TantivySearch(folder.index, now=lambda: 0.0).count()  # also those that must not be found any more
        found = load_mark(folder.index)
    except InputError:
        if mark is not None:
            return "the search index is missing"
        has_pages = frontier.lacks_documents(0) or frontier.pending_count()
        return "this crawl has no search index yet" if has_pages else None
    except DamagedError as error:
        return f"the search index is damaged ({str(error).removesuffix(': ' + remedy(folder.index))})"
    if mark is None:
        return "the search index lacks pages that it should have" if frontier.lacks_documents(documents) else None
    return found.fault_for(mark)


def _is_known(folder: CrawlFolder, mark: IndexMark | None) -> bool:
    """Whether the unfinished new index is sound and is the one that `mark` describes."""
    try:
        TantivySearch(folder.index_draft)
        return mark is not None and load_mark(folder.index_draft).fault_for(mark) is None
    except (InputError, DamagedError):
        return False


def _replace_index(folder: CrawlFolder) -> None:
    """Replaces the old index by the new one. After a kill in between, the next rebuild finds the new index under its
    draft name and continues."""
    _remove(folder.index_old)
    try:
        if os.path.lexists(folder.index):
            folder.index.rename(folder.index_old)
        folder.index_draft.rename(folder.index)
        place = os.open(folder.path, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
    except OSError as error:
        raise RunError(f"cannot put the new index into {folder.path}: {error.strerror}") from error
    _remove(folder.index_old)


def open_to_remove(folder: CrawlFolder, frontier: CrawlStore) -> list[TantivyIndex]:
    """Opens the indexes from which documents must be removed: the one that answers searches, and that of an unfinished
    rebuild.

    Deletes an index that cannot be used: a damaged one, and, if no rebuild is unfinished, one that the frontier does
    not know. (An older copy that is written to would look sound.)
    """
    mark = frontier.index_mark()
    is_rebuilt = _is_known(folder, mark)
    _remove(folder.index_old)
    if not is_rebuilt:
        _remove(folder.index_draft)
    if not _is_readable(folder.index) if is_rebuilt else mark is not None and index_fault(folder, frontier) is not None:
        _remove(folder.index)
    opened: list[TantivyIndex] = []
    try:
        opened.extend(TantivyIndex(place) for place in (folder.index, folder.index_draft) if place.is_dir())
    except BaseException:
        close_all(opened)
        raise
    return opened


def close_all(indexes: Iterable[TantivyIndex]) -> None:
    """Closes the indexes, which releases their locks."""
    for index in indexes:
        index.close()


def _is_readable(place: Path) -> bool:
    try:
        TantivySearch(place)
    except (InputError, DamagedError):
        return False
    return True


def _remove(*places: Path) -> None:
    for place in places:
        try:
            if place.is_symlink() and (place / META_FILE).is_file():  # delete the linked index too
                shutil.rmtree(place.resolve())
            if place.is_symlink() or place.is_file():
                place.unlink()
            elif place.exists():
                shutil.rmtree(place)
        except OSError as error:
            raise RunError(f"cannot remove {place}: {error.strerror}; remove it by hand") from error
