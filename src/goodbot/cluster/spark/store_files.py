"""Defines the files of a store, the folder that has the table of a crawl on Spark. Pure."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from goodbot.cluster.spark.output_file import OutputFile
from goodbot.errors import DamagedError, InputError, quoted

PROBE: Final = "probe-"
"""How the names of the files begin that `check_conditional` makes and removes."""


class FileEntry(NamedTuple):
    """A file of a store. `size` is in bytes."""

    path: str
    size: int


class Tagged(NamedTuple):
    """The content of a file and its tag, which changes with the content."""

    data: bytes
    tag: str


class StoreFiles(Protocol):
    """Reads and writes the files of a store.

    Paths are relative to the store, with `/` between their parts; no part begins with a dot, and no file has the path
    of a folder. A path of another form raises DamagedError: only a damaged manifest has one. A file becomes visible
    when it is whole, and is durable when the call returns. The object can be pickled, and may be used by several
    threads.

    All methods raise RunError if the store cannot be reached, read or written, and InputError if it must be set up
    first: no bucket, no access, a file in place of a folder.
    """

    @property
    def url(self) -> str:
        """The URL of the store, or the absolute path of its folder, for messages. It has no secrets."""
        ...

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file; None: there is no such file."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Writes a file, or replaces it."""
        ...

    def open_input(self, path: str) -> Any:
        """Opens a file for random access, as a `pyarrow.NativeFile`. Raises DamagedError if there is no such file.

        Open Parquet files with `open_parquet`.
        """
        ...

    def open_output(self, path: str) -> AbstractContextManager[OutputFile]:
        """Opens a new file for writing, or one that takes the place of an old one when the block ends. If the block
        raises, nothing changes. Errors of the block itself are raised as they are."""
        ...

    def upload(self, local: Path, path: str) -> int:
        """Moves a finished local file into the store, and returns its size in bytes. `local` is gone when this returns,
        and kept if it raises."""
        ...

    def list(self, folder: str = "") -> list[FileEntry]:
        """Returns the files in a folder and in the folders below it, sorted by their paths; none for a missing folder.
        If `folder` is empty, lists the whole store. Files that are being written are left out."""
        ...

    def remove(self, paths: Iterable[str]) -> None:
        """Removes files. Missing ones are not an error."""
        ...

    def remove_drafts(self, before: float) -> int:
        """Removes what killed processes left half-written, and returns its number of files. `before`: epoch seconds; a
        file that was begun later (S3) or written to later (folders) stays. If a process still writes one of the
        others, it gets a RunError."""
        ...

    def read_tagged(self, path: str) -> Tagged | None:
        """Returns the content of a file with its tag for `write_if`; None: there is no such file."""
        ...

    def write_if(self, path: str, data: bytes, tag: str | None) -> str | None:
        """Replaces a file if it still has this tag; None: creates it if there is no such file. Returns the new tag, or
        None if the condition did not hold.

        The content must be unique, written by no other call: it shows who has written the file if an answer was lost.
        None may then also mean that the file was written here and replaced by another process since. After a RunError
        the file may have been written, now or a little later; the call may be repeated as it is.
        """
        ...

    def check_conditional(self) -> None:
        """Raises InputError if this store cannot write conditionally, by trying it with a file of its own."""
        ...


def checked_path(path: str) -> str:
    """Returns the path of a file in a store. Raises DamagedError if it leads out of the store, or has a form that no
    file of a store has."""
    if not path.isprintable() or any(not part or part.startswith(".") for part in path.split("/")):
        raise DamagedError(f"{quoted(path)} is not the path of a file in a store")
    return path


def checked_folder(folder: str) -> str:
    """Returns the path of a folder in a store, where the empty path is the store. Raises DamagedError as for files."""
    return checked_path(folder) if folder else folder


def damage_of(files: StoreFiles, wanted: Mapping[str, int], found: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yields the path of each file that is missing, or has another size than it should, and a clause that says so. Both
    have sizes in bytes, by the paths of files: as they should be, and as `list` says."""
    for path, size in wanted.items():
        if path not in found:
            yield path, f"{files.url}/{path} is missing"
        elif found[path] != size:
            yield path, f"{files.url}/{path} is damaged: it has {found[path]:,} bytes instead of {size:,}"


def try_conditional_writes(files: StoreFiles) -> None:
    """Writes a file of its own on conditions that hold and on conditions that do not. Raises InputError if a write
    succeeds that must not, or the other way round."""
    path = PROBE + os.urandom(8).hex()
    first = files.write_if(path, b"1", None)
    try:
        works = (
            first is not None
            and files.write_if(path, b"2", None) is None
            and files.write_if(path, b"3", first) is not None
            and files.write_if(path, b"4", first) is None
            and files.read(path) == b"3"
        )
    finally:
        files.remove([path])
    if not works:
        raise cannot_condition(files.url)


def cannot_condition(url: str, reason: str = "") -> InputError:
    """Returns the error for a store that cannot write conditionally."""
    return InputError(
        f"{url} does not support conditional writes{reason}, so two drivers could overwrite each other's work: use a"
        " folder where flock works, or a bucket of a server that obeys If-Match and If-None-Match"
    )
