"""Follows the copies of an index at a place, in a thread: fetches each new version, and swaps it in."""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from goodbot.errors import DamagedError, GoodbotError, OutdatedError, RunError
from goodbot.human import counted, human_duration, human_time
from goodbot.index.copies.copy_cache import CopyCache, LocalCopy, Watch, check_usable
from goodbot.index.copies.copy_manifest import INDEX, Manifest, Pointer
from goodbot.index.copies.followed_search import FollowedSearch
from goodbot.index.copies.published import load_manifest, load_pointer
from goodbot.index.copies.snapshot import Copying
from goodbot.index.index_reader import StoppedError
from goodbot.index.version_file import remedy
from goodbot.places.place import ReadablePlace
from goodbot.search_values import CopyState

_LOG: Final = logging.getLogger(__name__)

FIRST_WAIT_S: Final = 5.0
"""How long the start waits for the first copy: a small one is fetched by then."""
NOTE_S: Final = 1.0
"""After how long the start reports that it waits."""
AGAIN_S: Final = 3600.0
"""How often a fault that lasts is logged."""
CLOCKS_DIFFER_S: Final = 60.0
"""How far the clocks of two machines may be apart without a warning."""


class Follower:
    """Follows `source`, and keeps its versions in `cache`. `search` answers from the latest version that is whole;
    whatever goes wrong, the version before it goes on answering.

    `watch` gets the progress of each fetch. `changed` gets each version that was swapped in, also the one of the cache,
    and how many documents can be found in it. `waiting` is called if the start takes longer than a second.
    """

    def __init__(
        self,
        source: ReadablePlace,
        cache: CopyCache,
        every_s: float,
        watch: Watch = lambda progress: None,
        changed: Callable[[Manifest, int], object] = lambda manifest, documents: None,
        waiting: Callable[[], object] = lambda: None,
    ) -> None:
        self.search = FollowedSearch()
        self._source = source
        self._cache = cache
        self._every_s = every_s
        self._watch = watch
        self._changed = changed
        self._waiting = waiting
        self._checked_at: float | None = None
        self._problem: str | None = None
        self._logged_at = 0.0
        self._is_clock_noted = False
        self._known: Manifest | None = None
        self._failed: GoodbotError | None = None
        self._begun, self._looked, self._stopped = Event(), Event(), Event()
        self._thread = Thread(target=self._run, name="follow", daemon=True)

    def start(self) -> Manifest:
        """Begins to follow. Returns when there is a version to serve: one that is in the cache, or the latest one of
        the source, which may still be being fetched. Raises the error if there is neither."""
        self._thread.start()
        if not self._looked.wait(NOTE_S):
            self._waiting()
        self._begun.wait()
        self._looked.wait(FIRST_WAIT_S)
        if self._known is None:
            raise self._failed or RunError(f"{self._source.name} cannot be followed")
        return self._known

    def stop(self) -> None:
        """Ends following soon, without waiting for it."""
        self._stopped.set()

    def join(self) -> None:
        """Ends following, and waits for it."""
        self.stop()
        self._thread.join()

    def state(self) -> CopyState:
        """Returns how old the copy is, and what is wrong."""
        copy = self.search.copy
        version, taken_at = (copy.manifest.version, copy.manifest.taken_at) if copy is not None else (None, None)
        has_died = self._thread.ident is not None and not self._thread.is_alive() and not self._stopped.is_set()
        problem = "following has ended; the log of the server says why" if has_died else self._problem
        return CopyState(version, taken_at, self._checked_at, problem)

    def _run(self) -> None:
        try:
            self._open_cached()
            while True:
                self._look_and_note()
                self._looked.set()
                if not self._begun.is_set():  # there is nothing to serve
                    return
                if self._stopped.wait(self._every_s):
                    return
        finally:
            self._source.close()
            self._begun.set()
            self._looked.set()

    def _open_cached(self) -> None:
        copy = self._cache.current()
        if copy is None:
            return
        try:
            copy.check()
            search = copy.open()
            documents = search.count()
        except GoodbotError as error:
            _LOG.warning("the copy in %s cannot be used: %s", copy.folder, error)
            if isinstance(error, DamagedError):
                self._discard(copy)
        else:
            self.search.swap(copy, search)
            self._note_clock(copy.manifest)
            self._changed(copy.manifest, documents)
            self._begin(copy.manifest)
            self._looked.set()

    def _discard(self, copy: LocalCopy) -> None:
        try:
            self._cache.discard(copy)
        except GoodbotError as error:  # a fetch will fail in the same way, or make it good
            _LOG.warning("%s", error)

    def _look_and_note(self) -> None:
        try:
            checked_at = self._look()
        except StoppedError:
            return
        except GoodbotError as error:
            self._failed = error
            self._note(str(error))
        except OSError as error:  # somebody has changed the folder of the copies
            self._note(f"the folder of the copy cannot be used: {error}")
        else:
            self._checked_at = checked_at
            self._note(None)

    def _look(self) -> float:
        """Looks for a new version once, and fetches it. Returns when the pointer was read. Raises GoodbotError."""
        pointer, copy = self._pointer(), self.search.copy
        checked_at = time.time()
        if copy is not None and copy.manifest.version == pointer.version:
            self._cache.tidy(self.search.copies_in_use())
            return checked_at
        manifest = load_manifest(self._source, pointer)
        check_usable(manifest, self._source)
        self._note_clock(manifest)
        if copy is not None and copy.manifest.files == manifest.files:
            self.search.renew(self._cache.renew(copy, manifest))
        else:
            self._replace(manifest)
        return checked_at

    def _replace(self, manifest: Manifest) -> None:
        """Fetches a version and swaps it in."""
        self._cache.tidy(self.search.copies_in_use(), manifest)
        self._cache.check_room(manifest)
        self._begin(manifest)
        self._cache.fetch(self._source, manifest, self._progress)
        self._swap(self._cache.put_in_place(manifest))

    def _pointer(self) -> Pointer:
        pointer = load_pointer(self._source)
        if pointer is None:
            raise RunError(f"there is no snapshot of an index at {self._source.name}")
        return pointer

    def _swap(self, copy: LocalCopy) -> None:
        try:
            copy.check()
        except DamagedError:
            self._cache.discard(copy)
            raise
        try:
            search = copy.open()
            documents = search.count()
        except GoodbotError as error:
            fault = str(error).removesuffix(f": {remedy(copy.folder / INDEX)}")
            self._cache.discard(copy)
            if isinstance(error, OutdatedError):
                raise
            raise DamagedError(
                f"the snapshot at {self._source.name} was made of a damaged index ({fault}): rebuild the index there, "
                "and make a new snapshot"
            ) from error
        self.search.swap(copy, search)
        self._cache.tidy(self.search.copies_in_use())
        _LOG.info("now serving version %s of %s", copy.manifest.version, self._source.name)
        self._check_count(copy)
        self._changed(copy.manifest, documents)

    def _check_count(self, copy: LocalCopy) -> None:
        """Logs if a manifest says that there are more documents than its index has."""
        said, found = copy.manifest.documents, copy.documents()
        if said > found:
            _LOG.warning(
                "the manifest of version %s at %s says %s, but its index has %s",
                *(copy.manifest.version, self._source.name, counted(said, "document"), f"{found:,}"),
            )

    def _note_clock(self, manifest: Manifest) -> None:
        """Logs once if a version was made in the future."""
        ahead_s = manifest.taken_at - time.time()
        if ahead_s <= CLOCKS_DIFFER_S or self._is_clock_noted:
            return
        self._is_clock_noted = True
        _LOG.warning(
            "the snapshot at %s is of %s, %s in the future: check the clocks of both machines; until then the copy "
            "seems to be 0 s old",
            *(self._source.name, human_time(manifest.taken_at), human_duration(ahead_s)),
        )

    def _begin(self, manifest: Manifest) -> None:
        """Lets `start` return."""
        if not self._begun.is_set():
            self._known = manifest
            self._begun.set()

    def _progress(self, progress: Copying) -> None:
        if self._stopped.is_set():
            raise StoppedError
        self._watch(progress)

    def _note(self, problem: str | None) -> None:
        """Keeps what is wrong, and logs it: at once, then every hour."""
        now = time.time()
        before, self._problem = self._problem, problem
        if problem is None:
            if before is not None:
                _LOG.warning("%s can be followed again", self._source.name)
            return
        if self._begun.is_set() and (problem != before or now - self._logged_at >= AGAIN_S):
            self._logged_at = now
            _LOG.warning("%s; %s", problem, self._age(now))

    def _age(self, now: float) -> str:
        copy = self.search.copy
        if copy is None:
            return "there is no copy yet that could answer"
        taken_at = copy.manifest.taken_at
        return f"the copy of {human_time(taken_at)} goes on answering, {human_duration(max(0.0, now - taken_at))} old"
