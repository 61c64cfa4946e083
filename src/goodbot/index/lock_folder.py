"""Makes an index readable where Tantivy cannot write the lock file that it needs even to read."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from goodbot.errors import RunError
from goodbot.index.integrity import META_FILE

LOCK_FILE: Final = ".tantivy-meta.lock"


@contextmanager
def lockable(folder: Path) -> Iterator[Path]:
    """Yields `folder` itself if this process may write there. Otherwise (a read-only disk, another user's folder) it
    yields a temporary folder with links to the files. Once the index is open, tantivy does not need that folder any
    more.

    Raises RunError if a temporary folder cannot be made either, FileNotFoundError if the index is replaced meanwhile.
    """
    if _may_lock(folder):
        yield folder
        return
    try:
        shadow = tempfile.TemporaryDirectory(prefix="goodbot-index-", ignore_cleanup_errors=True)
    except OSError as error:
        raise RunError(
            f"the index in {folder} cannot be read: neither the index folder nor a temporary folder is writable "
            f"({error.strerror}); set TMPDIR to a writable folder"
        ) from error
    try:
        with shadow as name:
            _link(folder, Path(name))
            yield Path(name)
    finally:  # a thread of Tantivy may create the lock file again while the folder is deleted
        shutil.rmtree(name, ignore_errors=True)


def _may_lock(folder: Path) -> bool:
    lock = folder / LOCK_FILE
    return os.access(folder, os.W_OK) and (not lock.exists() or os.access(lock, os.W_OK))


def _link(folder: Path, shadow: Path) -> None:
    """Links the files of the index. It reads the state first, so that every file in it is linked; newer files do no
    harm."""
    state = (folder / META_FILE).read_bytes()
    for file in folder.resolve().iterdir():
        if file.name != META_FILE and not file.name.startswith("."):
            (shadow / file.name).symlink_to(file)
    (shadow / META_FILE).write_bytes(state)
