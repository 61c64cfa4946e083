"""Stores long lists of seeds: first in a temporary file, then in the crawl's folder, for its scope and for resuming."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from goodbot.errors import DamagedError, RunError
from goodbot.url import Url

_NEW = ".new.txt"
_LINE = re.compile(r"(https?://[^\s/]+/\S*)\n", re.ASCII)


class SeedSpool:
    """Seeds that are not stored yet, in an unnamed temporary file, so that they take no memory."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._digest = hashlib.sha256()
        self.count = 0

    def add(self, url: Url) -> None:
        """Adds a seed. Raises RunError if the disk is full."""
        line = url.text.encode("ascii") + b"\n"
        self._digest.update(line)
        self.count += 1
        try:
            self._file.write(line)
        except OSError as error:
            raise RunError(f"cannot write a temporary file: {error.strerror}") from error

    def save(self, folder: Path) -> None:
        """Writes them to a new list in `folder`, named by their digest, completely or not at all. Raises RunError."""
        if not self.count:
            return
        name = self._digest.hexdigest()[:16]
        file, part = folder / (name + _NEW), folder / f"{name}.part"
        try:
            folder.mkdir(exist_ok=True)
            self._file.seek(0)
            with part.open("wb") as copy:
                shutil.copyfileobj(self._file, copy)
                copy.flush()
                os.fsync(copy.fileno())
            part.replace(file)
        except OSError as error:
            raise RunError(f"cannot write {file}: {error.strerror}") from error

    def __iter__(self) -> Iterator[Url]:
        """Yields the seeds added so far, one at a time."""
        self._file.seek(0)
        for line in self._file:
            yield Url(line.decode("ascii").rstrip("\n"))

    def close(self) -> None:
        """Removes the temporary file; saved lists stay."""
        self._file.close()

    def __enter__(self) -> "SeedSpool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SeedFolder:
    """The lists of seeds in a crawl's folder, read one URL at a time.

    A list is new until the frontier has all of it, because offering it a million known URLs takes 20 s. Reading raises
    DamagedError for a line that goodbot has not written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __bool__(self) -> bool:
        return next(self.path.glob("*.txt"), None) is not None

    def __iter__(self) -> Iterator[Url]:
        return _read(sorted(self.path.glob("*.txt")))

    def take(self, spool: SeedSpool | None) -> None:
        """Stores the seeds of a spool, if there is one, as a new list."""
        if spool is not None:
            spool.save(self.path)

    def new(self) -> Iterator[Url]:
        """Yields the seeds of new lists."""
        return _read(sorted(self.path.glob("*" + _NEW)))

    def settle(self) -> None:
        """Marks all lists as known. Raises RunError."""
        for file in self.path.glob("*" + _NEW):
            try:
                file.replace(file.with_name(file.name.removesuffix(_NEW) + ".txt"))
            except OSError as error:
                raise RunError(f"cannot rename {file}: {error.strerror}") from error


def _read(files: Iterable[Path]) -> Iterator[Url]:
    for file in files:
        try:
            with file.open(encoding="ascii", newline="\n") as lines:
                for number, line in enumerate(lines, start=1):
                    match = _LINE.fullmatch(line)
                    if match is None:
                        raise DamagedError(f"{file}, line {number}: not a URL as goodbot writes it: {line[:100]!r}")
                    yield Url(match[1])
        except (OSError, UnicodeDecodeError) as error:
            raise DamagedError(f"cannot read {file}: {error}") from error
