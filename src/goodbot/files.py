"""Writes a file whole or not at all, and makes folders."""

import errno
import os
import stat
from pathlib import Path

from goodbot.errors import InputError, RunError


def make_folder(path: Path) -> None:
    """Makes a folder if it is missing, and those above it. Raises InputError if a file is in the way, RunError if the
    folder cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"cannot make the folder {path}: a file is in the way") from error
    except OSError as error:
        raise RunError(f"cannot make the folder {path}: {error.strerror}") from error


def write_whole(path: Path, content: bytes) -> None:
    """Replaces what the file at `path` holds, or makes the file. A crash or a full disk at any moment leaves the old
    content.

    The content is written to a temporary file in the same folder, which then takes the place of the old file with its
    mode, and with its owner and group where the system permits that. A symbolic link stays one: its target is replaced.
    What is no regular file, such as a pipe or /dev/stdout, is written to directly. Raises RunError if it cannot be
    written; a file that is write-protected stays as it is.
    """
    try:
        old = _status(path)
        if old is not None and not os.access(path, os.W_OK):  # the rename in `_replace` would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if old is not None and not stat.S_ISREG(old.st_mode):
            path.write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content, old)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error


def _status(path: Path) -> os.stat_result | None:
    """None if the file is missing or a symbolic link is broken."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(target: Path, content: bytes, old: os.stat_result | None) -> None:
    part = target.with_name(f".goodbot-{os.urandom(8).hex()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                _take_after(descriptor, old)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _take_after(descriptor: int, old: os.stat_result) -> None:
    """Gives a file the owner, group and mode of the one it replaces."""
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError:
        pass  # only root may give a file away: it is then the user's own, as any file that an editor saves
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Makes sure the new name is on disk too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
