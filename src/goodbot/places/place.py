"""Defines a place where files are kept, and a place that can only be read."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from goodbot.errors import RunError


class TooSlowError(RunError):
    """A part of a file did not arrive in time; a smaller one might."""


class ReadablePlace(Protocol):
    """Reads files by their paths, whose parts are separated by `/`. Raises RunError if the place cannot be reached or
    read, TooSlowError if the bytes did not arrive in time."""

    @property
    def name(self) -> str:
        """The folder, or the URL without its password, for messages."""
        ...

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Returns up to `length` bytes of a file from `start` on, fewer only at its end; None: there is no such
        file."""
        ...

    def close(self) -> None:
        """Closes connections. Nothing may be read afterwards."""
        ...


class Place(ReadablePlace, Protocol):
    """Also writes files. Raises RunError if the place cannot be written."""

    @property
    def folder(self) -> Path | None:
        """The absolute path of the place if it is a folder on this computer, else None."""
        ...

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Writes a file, or replaces it; the content comes in pieces. Folders that are missing are made."""
        ...

    def list(self, folder: str) -> dict[str, int]:
        """Returns the names of files and folders in a folder, with the sizes of files; none for a missing
        folder. If `folder` is empty, lists the place itself."""
        ...

    def remove(self, path: str) -> None:
        """Removes a file. A missing one is not an error."""
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Keeps other snapshots away within the block, if the place can do that. Raises BusyError if one is being
        written."""
        ...
