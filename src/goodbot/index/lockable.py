"""An index where tantivy may write its lock file, without which it reads nothing."""

import os
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
    """`folder` itself; or, where this process may not write (a read-only disk, another user's folder), a temporary
    folder with links to its files. Once the index is open, tantivy needs that no more.

    Raises RunError if there is no room for a temporary folder either, FileNotFoundError for an index that is replaced
    meanwhile.
    """
    if _may_lock(folder):
        yield folder
        return
    try:
        shadow = tempfile.TemporaryDirectory(prefix="goodbot-index-")
    except OSError as error:
        raise RunError(
            f"the index in {folder} cannot be read: its library must write a lock file, and can do so neither in this "
            f"folder nor in a temporary one ({error.strerror}); set TMPDIR to a folder that can be written"
        ) from error
    with shadow as name:
        _link(folder, Path(name))
        yield Path(name)


def _may_lock(folder: Path) -> bool:
    lock = folder / LOCK_FILE
    return os.access(folder, os.W_OK) and (not lock.exists() or os.access(lock, os.W_OK))


def _link(folder: Path, shadow: Path) -> None:
    """Reads the state before it links files: every file the state names must be linked; newer files do no harm."""
    state = (folder / META_FILE).read_bytes()
    for file in folder.resolve().iterdir():
        if file.name != META_FILE and not file.name.startswith("."):
            (shadow / file.name).symlink_to(file)
    (shadow / META_FILE).write_bytes(state)
