"""Moves the closed files of an archive to a place, in a thread beside the crawl, so that no page waits for it."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from goodbot.errors import GoodbotError
from goodbot.human import counted
from goodbot.store.warc.archive_files import ArchiveFiles, place_of
from goodbot.store.warc.cdxj import index_path
from goodbot.store.warc.warc_files import archive_files

_LOG: Final = logging.getLogger(__name__)

FIRST_PAUSE_S: Final = 5.0
MAX_PAUSE_S: Final = 300.0
"""The pauses after failures, each twice as long as the one before. A file that is closed ends a pause."""
_LOOK_EVERY_S: Final = 0.1
_CLOSE_TIMEOUT_S: Final = 5.0

Watch = Callable[[int, int], object]
"""Called with the number of bytes moved and the number of all bytes."""


class _StoppedError(GoodbotError):
    """The mover is paused or closed."""


class WarcMover:
    """Moves closed files to the place at `address`. `open_files` opens the files for its thread, which only `start`
    begins. If the place is away, the files stay here and are tried again."""

    def __init__(self, folder: Path, open_files: Callable[[], ArchiveFiles], address: str) -> None:
        self._folder = folder
        self._open_files = open_files
        self._place = place_of(address)
        self._notices: deque[str] = deque()
        self._woken = threading.Event()
        self._moving = threading.Lock()
        self._is_paused = self._is_closed = False
        self._trouble: str | None = None
        self._moved_bytes = 0
        self._thread = threading.Thread(target=self._run, name="goodbot-mover", daemon=True)

    def start(self) -> None:
        """Begins with what earlier runs have left."""
        self._thread.start()

    def wake(self) -> None:
        """Looks for closed files now."""
        self._woken.set()

    def notices(self) -> Iterator[str]:
        """Yields lines for the user, each once: that files cannot be moved now, and that they are moved again."""
        while self._notices:
            yield self._notices.popleft()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Moves nothing within the block. A file that is being moved is moved anew after it."""
        self._is_paused = True
        try:
            with self._moving:
                yield
        finally:
            self._is_paused = False
            self._woken.set()

    def move_rest(self, watch: Watch, is_stopped: Callable[[], bool]) -> str | None:
        """Waits until all closed files are moved. Returns a line that says what stays here and why, if the place is
        away or if `is_stopped`; else None."""
        total = sum(map(_size, self._left()))
        before, self._trouble = self._moved_bytes, None
        self._woken.set()
        while (left := self._left()) and self._thread.is_alive() and self._trouble is None and not is_stopped():
            watch(min(self._moved_bytes - before, total), total)
            time.sleep(_LOOK_EVERY_S)
        if is_stopped():
            self.close()
            left = self._left()
        if not left:
            return None
        why = f" ({self._trouble})" if self._trouble is not None else ""
        self._notices.clear()
        return f"{counted(len(left), 'WARC file')} not moved yet{why}: the next crawl moves {_them(left)}"

    def close(self) -> None:
        """Stops. What is not moved stays here."""
        self._is_closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_TIMEOUT_S)  # a place may block for longer; its answer is then ignored

    def _left(self) -> list[Path]:
        """Returns the closed files that are here."""
        return [path for path in archive_files(self._folder) if path.exists() and index_path(path).exists()]

    def _run(self) -> None:
        files, pause_s = self._open_files(), FIRST_PAUSE_S
        while True:
            self._woken.clear()
            if self._is_closed:
                break
            try:
                while not self._is_stopping() and self._move_next(files):
                    pass
                pause_s = FIRST_PAUSE_S
            except _StoppedError:
                _LOG.debug("a move is stopped")
            except (GoodbotError, OSError) as error:
                self._report(error)
                self._woken.wait(pause_s)
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
                continue
            self._woken.wait()
        files.close()

    def _move_next(self, files: ArchiveFiles) -> bool:
        """Moves the first closed file; returns False if there is none."""
        with self._moving:
            left = self._left()
            if self._is_stopping() or not left:
                return False
            files.move(left[0], self._place, self._count)
        _LOG.info("moved %s to %s", left[0], self._place)
        if self._trouble is not None:
            self._trouble = None
            self._notices.append(f"moving WARC files to {self._place} again")
        return True

    def _count(self, count: int) -> None:
        """Counts bytes; ends a move if this is paused or closed."""
        if self._is_stopping():
            raise _StoppedError
        self._moved_bytes += count

    def _is_stopping(self) -> bool:
        return self._is_closed or self._is_paused

    def _report(self, error: GoodbotError | OSError) -> None:
        _LOG.warning("cannot move WARC files to %s: %s", self._place, error)
        if self._trouble is None:
            self._notices.append(f"cannot move WARC files now, trying again later: {error}")
        self._trouble = str(error)


def _size(path: Path) -> int:
    """Returns the length of a file; 0 if it was moved in this moment."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _them(left: list[Path]) -> str:
    return "it" if len(left) == 1 else "them"
