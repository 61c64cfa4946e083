"""Folders of a task on its own machine, for files that are uploaded when they are whole."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "goodbot-task-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Makes a folder among the temporary files, and removes it at the end. Removes those of killed tasks first: the
    lock of a folder ends with its process, however that ends."""
    remove_left()
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_left() -> int:
    """Removes the folders of tasks on this machine that were killed; returns their number. Those of other users
    stay."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
                removed += 1
    return removed


def _made() -> tuple[Path, int]:
    """Makes a folder and locks it. Another process may remove the folder before it is locked: then makes another."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            lock = _locked(folder)
            if lock is not None and folder.exists():
                return folder, lock
            if lock is not None:
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """Returns the descriptor that locks a folder. None: another process has locked it."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except BaseException:
        os.close(lock)
        raise
    return lock
