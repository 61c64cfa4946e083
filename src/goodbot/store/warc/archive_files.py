"""Finds the files of an archive and opens them, in its folder or at the places they were moved to; moves them there,
and fetches them back to change them.

Only a file without a local copy is read at its place. A file is moved in this order: a note that names the place, the
copies of the WARC file and its index, the note again, now marked whole, and only then the local WARC file is
removed. So a kill leaves the local file, or a whole copy, or both; whoever opens the archive for writing next
completes the move. The index stays here, too."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.errors import DamagedError, GoodbotError, RunError
from goodbot.files import is_same_file
from goodbot.places.opening import open_place
from goodbot.places.place import Place
from goodbot.places.place_address import shown_address
from goodbot.store.warc.cdxj import index_path
from goodbot.store.warc.index_proof import proof_of_index
from goodbot.store.warc.moved_file import ALL_BYTES, NEAR_BYTES, MovedFile
from goodbot.store.warc.moved_note import MovedNote, drop_note, load_note, save_note
from goodbot.store.warc.warc_files import archive_files, damage_path, pieces

_LOG: Final = logging.getLogger(__name__)

PlaceOpener = Callable[[str], Place]


class ArchiveFiles:
    """The files of the archive in `folder`. `address`: the URL of a place with its password, which notes omit. Methods
    may raise OSError for a local file, RunError for a place that cannot be used, DamagedError for a note that cannot be
    read. Only one thread may use it: some connections to places cannot be shared."""

    def __init__(self, folder: Path, address: str | None = None, opener: PlaceOpener = open_place) -> None:
        self.folder = folder
        self._addresses = {} if address is None else {place_of(address): address}
        self._opener = opener
        self._places: dict[str, Place] = {}

    def paths(self) -> list[Path]:
        """Returns the files in the order written, by their paths in the folder, wherever they are."""
        return archive_files(self.folder)

    def open(self, path: Path, *, all_of_it: bool = False) -> BinaryIO:
        """Opens a file for reading. `all_of_it`: it is read to its end. Raises FileNotFoundError if it is not here and
        was not moved."""
        try:
            return path.open("rb")
        except FileNotFoundError:
            note = load_note(path)
            if note is None:
                raise
        moved = MovedFile(self.place(note), path.name, note.size)
        return BufferedReader(moved, ALL_BYTES if all_of_it else NEAR_BYTES)

    def size(self, path: Path) -> int:
        """Returns the length of a file in bytes; of a moved one, the length that it had then."""
        try:
            return path.stat().st_size
        except FileNotFoundError:
            note = load_note(path)
            if note is None:
                raise
        return note.size

    def place(self, note: MovedNote) -> Place:
        """Returns the place that a note names."""
        if note.place not in self._places:
            self._places[note.place] = self._opener(self._addresses.get(note.place, note.place))
        return self._places[note.place]

    def close(self) -> None:
        """Closes the places."""
        for place in self._places.values():
            place.close()
        self._places.clear()

    def move(self, path: Path, place: str, watch: Callable[[int], object] = lambda count: None) -> None:
        """Moves a closed file to a place (see `place_of`), or completes a move. `watch` is called with numbers of bytes
        copied; what it raises leaves a state that can be completed. Raises RunError if the copy is not there, if it
        would be the local file itself, or if the place has a file of this name that no note says is a copy of it."""
        noted = find_note(path)
        if noted is not None and noted.place != place and not self._is_left(path, noted):
            noted = None
        if noted is None or not self._is_whole(path, noted):
            note = MovedNote(place, path.stat().st_size)
            self._check_free(path, note, is_noted=noted is not None)
            save_note(path, note)
            self._copy(path, note, watch)
            with path.open("rb") as file:
                proof = proof_of_index(path, file)
            watch(0)
            save_note(path, replace(note, whole=True, index=proof))
            noted = note
        watch(0)
        self._check_apart(path, noted)
        path.unlink()

    def fetch(self, path: Path) -> bool:
        """Fetches a moved file back, so that it can be changed; it still has to be moved again. Returns False if it is
        not at its place: then the archive drops it. If the copy is cut off, fetches what is left."""
        note = find_note(path)
        draft = path.with_name(path.name + ".new")
        try:
            with self.open(path, all_of_it=True) as file, draft.open("wb") as new:
                for piece in pieces(file, 0, file.seek(0, os.SEEK_END)):
                    new.write(piece)
                new.flush()
                os.fsync(new.fileno())
        except (FileNotFoundError, DamagedError):  # the latter: its note does not say where it is
            draft.unlink(missing_ok=True)
            self._drop(path)
            return False
        _make_as_old_as_index(path, draft)
        draft.replace(path)
        if note is not None:
            self.distrust(path, note)
        return True

    def distrust(self, path: Path, note: MovedNote) -> None:
        """Notes that the local file is about to change, so that the copy is made anew."""
        save_note(path, replace(note, whole=False, index=""))

    def move_back(self, path: Path, note: MovedNote) -> None:
        """Moves a changed file to where it was; if nothing is left of it, removes the copy."""
        if path.exists():
            self.move(path, note.place)
        else:
            self._remove_copy(path, note)

    def _copy(self, path: Path, note: MovedNote, watch: Callable[[int], object]) -> None:
        place, index = self.place(note), index_path(path)
        with path.open("rb") as file:
            place.write(path.name, _watched(pieces(file, 0, note.size), watch))
        with index.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            place.write(index.name, pieces(file, 0, size))
        there = place.list("")
        if (there.get(path.name), there.get(index.name)) != (note.size, size):
            raise RunError(f"{place.name} does not have all of {path.name} after it was written there")

    def _check_free(self, path: Path, note: MovedNote, *, is_noted: bool) -> None:
        """Raises RunError if a copy would replace the local file, or a file that is not noted as the copy. So
        nothing is lost if the place is an archive by another name, such as `sftp://localhost/…`."""
        place = self.place(note)
        there = place.list("")  # also opens a connection that was closed since the last file; no write can be repeated
        self._check_apart(path, note)
        taken = [each.name for each in (path, index_path(path)) if each.name in there and not is_noted]
        if taken:
            raise RunError(f"{place.name} has a file {taken[0]} that is not known as a copy of ours: use another URL")

    def _check_apart(self, path: Path, note: MovedNote) -> None:
        if self._is_itself(path, note):
            raise RunError(f"{self.place(note).name} is the folder of the archive: use another URL")

    def _is_itself(self, path: Path, note: MovedNote) -> bool:
        """Whether the place is a folder in which the file, or its index, is the local one."""
        there = self.place(note).folder
        return there is not None and any(is_same_file(each, there / each.name) for each in (path, index_path(path)))

    def _is_whole(self, path: Path, note: MovedNote) -> bool:
        """Whether the noted copy of a local file is complete, and is not the local file itself."""
        if not note.whole or self.place(note).list("").get(path.name) != note.size or self._is_itself(path, note):
            return False
        return note.size == path.stat().st_size

    def _is_left(self, path: Path, note: MovedNote) -> bool:
        """Whether the place in the note, which is not the present one, has the whole file. If not, removes the partial
        copy there."""
        try:
            if self._is_whole(path, note):
                return True
            self._remove_copy(path, note)
        except GoodbotError as error:
            _LOG.warning("%s may have a copy of %s, which is moved elsewhere now: %s", note.place, path.name, error)
        return False

    def _remove_copy(self, path: Path, note: MovedNote) -> None:
        place = self.place(note)
        if not self._is_itself(path, note):
            place.remove(path.name)
            place.remove(index_path(path).name)
        drop_note(path)

    def _drop(self, path: Path) -> None:
        """Removes what is kept here of a file that is gone."""
        for beside in (index_path(path), damage_path(path)):
            beside.unlink(missing_ok=True)
        drop_note(path)


def place_of(address: str) -> str:
    """Returns the URL of a place as notes have it: without a password, with a `/` at its end."""
    shown = shown_address(address)
    return shown if shown.endswith("/") else f"{shown}/"


def find_note(path: Path) -> MovedNote | None:
    """Returns the note of a file; None if there is none that can be read."""
    try:
        return load_note(path)
    except DamagedError:
        return None


def _watched(parts: Iterator[bytes], watch: Callable[[int], object]) -> Iterator[bytes]:
    for part in parts:
        watch(len(part))
        yield part


def _make_as_old_as_index(path: Path, draft: Path) -> None:
    """Makes a fetched file no younger than its index, which belongs to it."""
    try:
        made = index_path(path).stat().st_mtime_ns
    except FileNotFoundError:
        return
    os.utime(draft, ns=(made, made))
