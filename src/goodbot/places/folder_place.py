"""Keeps files in a folder."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from goodbot.errors import BusyError, InputError, RunError
from goodbot.files import cannot_write, make_folder, writing_whole

LOCK: Final = "lock"


class FolderPlace:
    """Implements `Place` in a folder, which is made when something is written. A file is replaced atomically; a
    symbolic link in its place is replaced too, so that nothing is written outside the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    @property
    def folder(self) -> Path:
        """The absolute path of the folder."""
        return self._folder.absolute()

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Reads a part of a file. Raises RunError if it is a pipe or another special file, which might never end."""
        try:
            if not (self._folder / path).is_file() and (self._folder / path).exists():
                raise RunError(f"{self._folder / path} is not a file")
            with (self._folder / path).open("rb") as file:
                file.seek(start)
                return file.read(length)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunError(f"cannot read {self._folder / path}: {error.strerror}") from error

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Writes a file, which is on disk when this returns. Raises InputError if a folder or a special file is in its
        place."""
        file = self._folder / path
        make_folder(file.parent)
        try:
            if file.is_symlink():
                file.unlink()
            elif file.exists() and not file.is_file():
                raise InputError(f"{file} is not a file: remove it")
            with writing_whole(file) as out:
                for piece in pieces:
                    out.write(piece)
        except OSError as error:
            raise cannot_write(file, error) from error

    def list(self, folder: str) -> dict[str, int]:
        """Lists a folder. What is not a file has no size."""
        try:
            with os.scandir(self._folder / folder) as found:
                return {
                    entry.name: entry.stat().st_size if entry.is_file(follow_symlinks=False) else 0 for entry in found
                }
        except FileNotFoundError:
            return {}
        except NotADirectoryError as error:
            raise InputError(f"{self._folder / folder} is a file, not a folder") from error
        except OSError as error:
            raise RunError(f"cannot read the folder {self._folder / folder}: {error.strerror}") from error

    def remove(self, path: str) -> None:
        """Removes a file."""
        try:
            (self._folder / path).unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"cannot remove {self._folder / path}: {error.strerror}") from error

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the lock of the folder. A killed process releases it."""
        with locked(self._folder, f"another snapshot is being written to {self._folder}"):
            yield

    def close(self) -> None:
        """Does nothing."""


@contextmanager
def locked(folder: Path, message: str) -> Iterator[None]:
    """Holds a lock on `folder`, which is made if it is missing. Raises BusyError with this message if another process
    holds it."""
    make_folder(folder)
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RunError(f"cannot write {folder / LOCK}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(message) from error
        yield
    finally:
        os.close(descriptor)
