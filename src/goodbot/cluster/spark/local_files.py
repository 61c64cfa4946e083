"""The files of a store in a local or mounted folder."""

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from goodbot.cluster.spark.mounts import locks_stay_here
from goodbot.cluster.spark.output_file import OutputFile
from goodbot.cluster.spark.store_files import (
    FileEntry,
    Tagged,
    cannot_condition,
    checked_folder,
    checked_path,
    try_conditional_writes,
)
from goodbot.errors import BusyError, DamagedError, InputError, RunError
from goodbot.files import cannot_write, make_folder, sync_folder, writing_whole

LOCK: Final = ".lock"
DRAFTS: Final = ".goodbot-*.part"
"""How `writing_whole` names files until they are whole."""
_LOCK_TIMEOUT_S: Final = 30.0
"""Conditional writes take milliseconds."""


class LocalFiles:
    """Implements `StoreFiles` in a folder, which is made when something is written. `flock` on a file of the folder
    makes conditional writes exclusive; the tag of a file is a hash of its content."""

    def __init__(self, folder: Path) -> None:
        self._root = folder.absolute()

    @property
    def url(self) -> str:
        """The absolute path of the folder."""
        return str(self._root)

    def read(self, path: str) -> bytes | None:
        """Reads a file. Raises RunError if it is a pipe or another special file, which might never end."""
        file = self._at(path)
        try:
            with open(file, "rb", opener=_open_at_once) as opened:
                if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                    raise RunError(f"cannot read {file}: it is not a regular file")
                return opened.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunError(f"cannot read {file}: {error.strerror}") from error

    def write(self, path: str, data: bytes) -> None:
        """Writes a file."""
        with self.open_output(path) as out:
            out.write(data)

    def open_input(self, path: str) -> Any:
        """Opens a file for random access."""
        import pyarrow as pa  # noqa: PLC0415  (an extra)

        file = self._at(path)
        try:
            return pa.OSFile(str(file), "rb")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DamagedError(f"{file} is missing") from error
        except OSError as error:
            raise RunError(f"cannot read {file}: {_reason(error)}") from error

    @contextmanager
    def open_output(self, path: str) -> Iterator[OutputFile]:
        """Opens a file for writing."""
        file = self._cleared(path)
        raised: BaseException | None = None
        try:
            with writing_whole(file) as out:
                try:
                    yield OutputFile(out, str(file))
                except BaseException as error:
                    raised = error
                    raise
        except OSError as error:
            if error is raised:
                raise
            raise cannot_write(file, error) from error

    def upload(self, local: Path, path: str) -> int:
        """Renames a file, or copies it if it is in another file system."""
        file = self._cleared(path)
        try:
            descriptor = os.open(local, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise RunError(f"cannot read {local}: {error.strerror}") from error
        try:
            size = os.fstat(descriptor).st_size
            os.fsync(descriptor)
            local.rename(file)
            sync_folder(file.parent)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise cannot_write(file, error) from error
            self._copy(local, path)
        finally:
            os.close(descriptor)
        return size

    def list(self, folder: str = "") -> list[FileEntry]:
        """Lists a folder and what is below it. Does not follow symbolic links."""
        start = self._root / checked_folder(folder)
        found = [entry for file in self._walk(start) if not file.name.startswith(".") for entry in self._entry(file)]
        return sorted(found)

    def remove(self, paths: Iterable[str]) -> None:
        """Removes files. Folders stay."""
        for path in paths:
            try:
                self._at(path).unlink(missing_ok=True)
            except NotADirectoryError:
                pass  # a file is in place of its folder, so it is missing
            except OSError as error:
                raise RunError(f"cannot remove {self._at(path)}: {error.strerror}") from error

    def remove_drafts(self, before: float) -> int:
        """Removes the drafts of files."""
        removed = 0
        for draft in self._walk(self._root):
            try:
                if draft.match(DRAFTS) and draft.stat().st_mtime < before:
                    draft.unlink()
                    removed += 1
            except FileNotFoundError:
                pass  # it has become a file meanwhile
            except OSError as error:
                raise RunError(f"cannot remove {draft}: {error.strerror}") from error
        return removed

    def read_tagged(self, path: str) -> Tagged | None:
        """Reads a file with its tag."""
        data = self.read(path)
        return None if data is None else Tagged(data, _tag(data))

    def write_if(self, path: str, data: bytes, tag: str | None) -> str | None:
        """Compares and writes while it holds the lock. Raises BusyError if another process keeps the lock."""
        checked_path(path)
        with self._locked():
            found = self.read_tagged(path)
            if (None if found is None else found.tag) != tag:
                return None
            self.write(path, data)
        return _tag(data)

    def check_conditional(self) -> None:
        """Tries conditional writes, and locks a file of its own through two descriptors."""
        self._make(self._root)
        mounts = Path("/proc/self/mountinfo")
        with suppress(OSError):  # a system without /proc
            device = self._root.stat().st_dev
            text = mounts.read_text(encoding="utf-8", errors="replace")
            if locks_stay_here(text, f"{os.major(device)}:{os.minor(device)}"):
                raise cannot_condition(self.url, " (it is mounted so that only this machine sees its locks)")
        self._check_lock()
        try_conditional_writes(self)

    def _check_lock(self) -> None:
        probe = self._root / DRAFTS.replace("*", os.urandom(8).hex())
        first = second = -1
        try:
            first, second = _lock_file(probe), _lock_file(probe)
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # as it must be
        except OSError as error:
            if second == -1:
                raise cannot_write(probe, error) from error
            raise cannot_condition(self.url, f" (flock: {error.strerror})") from error
        finally:
            for descriptor in {first, second} - {-1}:
                os.close(descriptor)
            if first != -1:
                probe.unlink(missing_ok=True)
        raise cannot_condition(self.url, " (flock does not exclude others)")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._make(self._root)
        lock = self._root / LOCK
        try:
            descriptor = _lock_file(lock)
        except OSError as error:
            raise cannot_write(lock, error) from error
        try:
            self._wait_for(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _wait_for(self, descriptor: int) -> None:
        until = time.monotonic() + _LOCK_TIMEOUT_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise BusyError(
                        f"another process has kept {self._root / LOCK} locked for {_LOCK_TIMEOUT_S:.0f} s: find it with"
                        " fuser or lsof on the machines that share the folder, and stop it"
                    ) from error
                time.sleep(0.01)
            except OSError as error:
                raise RunError(f"cannot lock {self._root / LOCK}: {error.strerror}") from error
            else:
                return

    def _at(self, path: str) -> Path:
        return self._root / checked_path(path)

    def _cleared(self, path: str) -> Path:
        """Makes the folder of a file, and removes a symbolic link in its place: nothing is written outside the
        store."""
        file = self._at(path)
        self._make(file.parent)
        try:
            if file.is_symlink():
                file.unlink()
            elif file.exists() and not file.is_file():
                raise InputError(f"cannot write {file}: it is not a regular file")
        except OSError as error:
            raise cannot_write(file, error) from error
        return file

    def _make(self, folder: Path) -> None:
        """Makes a folder and its parents, durably."""
        missing = list(takewhile(lambda each: not os.path.isdir(each), (folder, *folder.parents)))
        if missing:
            make_folder(folder)
        for made in missing:
            try:
                sync_folder(made.parent)
            except OSError as error:
                raise cannot_write(made, error) from error

    def _copy(self, local: Path, path: str) -> None:
        try:
            with local.open("rb") as source, self.open_output(path) as out:
                shutil.copyfileobj(source, out, 1 << 20)
            local.unlink()
        except OSError as error:
            raise RunError(f"cannot copy {local} into the store: {error.strerror}") from error

    def _walk(self, folder: Path) -> Iterator[Path]:
        for parent, folders, names in os.walk(folder, onerror=_cannot_list):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(parent, name) for name in names)

    def _entry(self, file: Path) -> Iterator[FileEntry]:
        try:
            status = file.lstat()
        except OSError:  # removed meanwhile
            return
        if stat.S_ISREG(status.st_mode):
            yield FileEntry(file.relative_to(self._root).as_posix(), status.st_size)


def _cannot_list(error: OSError) -> None:
    if isinstance(error, FileNotFoundError):  # removed meanwhile, or not made yet
        return
    if isinstance(error, NotADirectoryError):
        raise InputError(f"{error.filename} is a file, not a folder") from error
    raise RunError(f"cannot read the folder {error.filename}: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe without a writer would wait


def _lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _tag(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _reason(error: OSError) -> str:
    return error.strerror or " ".join(str(error).split())
