"""Places for moved files: one that is away or cut off on demand, and functions that move everything there."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from goodbot.errors import RunError
from goodbot.places.opening import open_place
from goodbot.places.place import Place
from goodbot.store.warc.archive_files import ArchiveFiles, PlaceOpener, place_of
from goodbot.store.warc.warc_archive import WarcArchive
from store.warc.archive_samples import StillClock, warc_files


class Killed(BaseException):
    """Ends what runs, as a kill does: nothing handles it."""


class Steps:
    """Counts steps, and ends the program at the step `last`."""

    def __init__(self, last: int = -1) -> None:
        self.last = last
        self.done = 0

    def __call__(self) -> None:
        if self.done == self.last:
            raise Killed
        self.done += 1


class SamplePlace:
    """Implements `Place` by another place. It may be `away`, counts bytes read, and makes a step before and after each
    operation and within each file written."""

    def __init__(self, url: str, steps: Steps | None = None) -> None:
        self._place = open_place(url)
        self._step = steps or Steps()
        self.is_away = False
        self.refuses_behind_the_end = False
        self.reads: list[tuple[str, int, int]] = []

    @property
    def name(self) -> str:
        return self._place.name

    @property
    def folder(self) -> Path | None:
        return self._place.folder

    def read(self, path: str, start: int, length: int) -> bytes | None:
        self._use()
        self.reads.append((path, start, length))
        if self.refuses_behind_the_end and start >= self._place.list("").get(path, start + 1):
            raise RunError(f"cannot read {path} at {self.name}: the range is not satisfiable")
        return self._place.read(path, start, length)

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        self._use()
        self._place.write(path, self._in_steps(pieces))
        self._step()

    def list(self, folder: str) -> dict[str, int]:
        self._use()
        return self._place.list(folder)

    def remove(self, path: str) -> None:
        self._use()
        self._place.remove(path)
        self._step()

    def exclusive(self) -> AbstractContextManager[None]:
        return self._place.exclusive()

    def close(self) -> None:
        self._place.close()

    def _use(self) -> None:
        self._step()
        if self.is_away:
            raise RunError(f"cannot reach {self.name}")

    def _in_steps(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece[: len(piece) // 2]
            self._step()
            yield piece[len(piece) // 2 :]


def opener(place: Place) -> PlaceOpener:
    """Opens this place, whatever its URL."""
    return lambda url: place


def move_all(folder: Path, url: str, place: Place | None = None) -> None:
    """Moves every closed file of the archive in `folder` to `url`."""
    files = ArchiveFiles(folder, url, open_place if place is None else opener(place))
    for path in warc_files(folder):
        files.move(path, place_of(url))
    files.close()


def moving_writer(folder: Path, url: str, place: Place, size_limit_bytes: int = 1_000_000_000) -> WarcArchive:
    """Opens an archive that moves its files to `url`, which opens as `place`."""
    return WarcArchive(
        *(folder, StillClock(), "goodbot/test"),
        size_limit_bytes=size_limit_bytes,
        writer="0123abcd",
        move_to=url,
        opener=opener(place),
    )


def rest_moved(archive: WarcArchive) -> str | None:
    """Moves the rest of the archive; gives the line that says what stays."""
    return archive.move_rest(lambda done, size: None, lambda: False)
