"""Writes files atomically, makes folders, and locks that of a crawl."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.errors import BusyError, GoodbotError, InputError, RunError

LOCK_TIMEOUT_S: Final = 2.0
"""How long to wait for another writer of a crawl's folder: `submit` and similar commands take milliseconds."""


def lock_folder(frontier: Path) -> int:
    """Locks the folder of a crawl for one writer, by a file beside its frontier; waits for one that ends soon. Closing
    the descriptor that it returns unlocks it, and so does the end of the process. Raises BusyError, and OSError if that
    fails."""
    # Not on the file itself: closing a second descriptor of it drops the locks SQLite holds there (fcntl(2)).
    descriptor = os.open(frontier.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    until = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                os.close(descriptor)
                raise BusyError(
                    f"another crawl or command is using {frontier.parent}: wait until it ends, or stop it"
                ) from error
            time.sleep(0.02)
        else:
            return descriptor


def make_folder(path: Path) -> None:
    """Makes a folder and its parents if they are missing. Raises InputError if a file is in the way, RunError if the
    folder cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"cannot make the folder {path}: a file is in the way") from error
    except OSError as error:
        raise RunError(f"cannot make the folder {path}: {error.strerror}") from error


def write_whole(path: Path, content: bytes) -> None:
    """Replaces the file at `path`, or makes it. A crash or a full disk at any moment leaves the old content.

    The content goes to a temporary file in the same folder, which is then renamed. The new file has the mode of the old
    one, and its owner and group if the system permits that. A symbolic link stays a link: its target is replaced. A
    pipe, /dev/stdout or other special file is written directly. Raises InputError or RunError (see `cannot_write`).
    """
    try:
        with writing_whole(path) as file:
            file.write(content)
    except OSError as error:
        raise cannot_write(path, error) from error


def create_file(path: Path, content: bytes, mode: int) -> None:
    """Makes a file that does not exist yet; it is on disk when this returns. If it cannot be written, nothing is left.
    Raises FileExistsError, InputError if its folder does not exist, RunError if it cannot be written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"no such folder: {path.parent}") from None
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        with suppress(OSError):  # report the disk's first error, not this one
            path.unlink()
        raise RunError(f"cannot write {path}: {error.strerror}") from error


Stamp = tuple[int, int, int, int]
"""What shows that a file has changed: times of content and of permissions in nanoseconds, size, inode."""


def stamp_of(path: Path) -> Stamp | None:
    """Returns the stamp of a file; None if it is not there."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Reads a file that the user named: at most one byte more than `most_bytes`, so that a longer one is noticed.
    Raises InputError if it cannot be read; a pipe is not waited for."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot read {path}: it is not a file")
        with path.open("rb") as opened:
            return opened.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def cannot_write(path: Path, error: OSError) -> GoodbotError:
    """Returns the error to raise for a file that cannot be written: InputError if `path` is a folder, or its folder
    does not exist; else RunError, such as for a full disk or a missing permission."""
    refused = isinstance(error, PermissionError)
    fits = os.path.isdir(os.path.dirname(os.path.realpath(path))) and not os.path.isdir(path)
    kind = RunError if fits or refused else InputError
    return kind(f"cannot write {path}: {error.strerror or error}")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether both paths lead to one regular file, which may not exist yet."""
    try:
        if not one.exists() and not other.exists():
            return one.resolve() == other.resolve()
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):  # missing; or no path at all, such as a long URL
        return False


def is_same_folder(one: Path, other: Path) -> bool:
    """Whether both absolute paths lead to one folder, which may not exist yet."""
    try:
        return one == other or one.samefile(other)
    except OSError:  # one is missing, or cannot be read
        return False


def is_standard_input(path: Path) -> bool:
    """Whether standard input reads this regular file."""
    try:
        return path.is_file() and os.path.samestat(os.fstat(0), path.stat())
    except (OSError, ValueError):  # standard input is closed; or no path at all
        return False


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing as `write_whole` does: the new content takes the place of the old one when the block
    ends, and is dropped if the block raises. Raises OSError."""
    old = _status(path)
    if old is not None and not os.access(path, os.W_OK):  # a rename would succeed even if the file is write-protected
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if old is not None and not stat.S_ISREG(old.st_mode):
        with path.open("wb") as file:
            yield file
    else:
        with _replacing(Path(os.path.realpath(path)), old) as file:
            yield file


def _status(path: Path) -> os.stat_result | None:
    """None if the file is missing or a symbolic link is broken."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _replacing(target: Path, old: os.stat_result | None) -> Iterator[BinaryIO]:
    part = target.with_name(f".goodbot-{os.urandom(8).hex()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                _copy_owner_and_mode(old, descriptor)
            yield file
            file.flush()
            os.fsync(descriptor)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def _copy_owner_and_mode(old: os.stat_result, descriptor: int) -> None:
    """Gives the new file the owner, group and mode of the old one."""
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError:
        pass  # only root may change the owner: the file then belongs to the user, like any file an editor saves
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def sync_folder(folder: Path) -> None:
    """Makes durable what was created, renamed or removed in a folder. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
