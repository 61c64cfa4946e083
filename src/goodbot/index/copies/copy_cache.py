"""Keeps fetched copies of an index on this machine.

The folder has contents by their digests (`files/`), and the versions (`versions/`), whose files are links to them. A
content that is not whole ends in `.part`; the next attempt continues it. A version is put in place by one rename.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, NamedTuple

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.files import make_folder, write_whole
from goodbot.human import human_bytes
from goodbot.index.copies.copy_manifest import (
    FILES,
    HIDDEN,
    INDEX,
    SYNONYMS,
    CopiedFile,
    Manifest,
    Unusable,
    format_manifest,
    is_content_name,
    is_version_name,
    named_digests,
    parse_hidden,
    parse_manifest,
)
from goodbot.index.copies.held_index import count_documents
from goodbot.index.copies.snapshot import Copying
from goodbot.index.integrity import META_FILE, SEGMENT_PARTS
from goodbot.index.schema import SCHEMA_VERSION
from goodbot.index.searcher import TantivySearch
from goodbot.index.synonyms import load_synonyms
from goodbot.index.version_file import COPY_FILE
from goodbot.places.folder_place import LOCK, locked
from goodbot.places.place import ReadablePlace, TooSlowError
from goodbot.search_values import Hidden

VERSIONS: Final = "versions"
SOURCE_FILE: Final = "source"
FIRST_PIECE_BYTES: Final = 256 * 1024
MIN_PIECE_BYTES: Final = 64 * 1024
MAX_PIECE_BYTES: Final = 4 * 1024 * 1024
QUICK_S: Final = 10.0
"""After a piece that took less, the next one is twice as large; after one that did not arrive in time, half."""
CHECKED_BYTES: Final = 1 << 20
"""Larger segment files of pages are compared by their sizes only: opening an index reads their own checksums."""
FREE_BYTES: Final = 64 * 1024 * 1024
"""What stays free on the disk."""
_PART: Final = ".part"
_REWRITTEN: Final = "the next goodbot index snapshot writes it again"
_SEGMENT_SUFFIXES: Final = frozenset(f".{part}" for part in SEGMENT_PARTS)

Watch = Callable[[Copying], object]
"""Gets the progress of a fetch, and may raise `StoppedError` to end it."""


class LocalCopy(NamedTuple):
    """A version that is in place on this machine."""

    manifest: Manifest
    folder: Path

    def check(self) -> None:
        """Raises DamagedError if a file is missing or has changed since it was fetched."""
        for file in self.manifest.files:
            place = self.folder / file.path
            try:
                is_whole = place.stat().st_size == file.size and (
                    _is_checked_later(file) or _digest(place) == file.digest
                )
            except OSError as error:
                raise DamagedError(f"cannot read {place}: {error.strerror}") from error
            if not is_whole:
                raise DamagedError(f"{place} is damaged")

    def open(self) -> TantivySearch:
        """Opens the index with its synonyms and the pages that must not be shown. Raises DamagedError if a file
        cannot be used."""
        return open_together([self])

    def documents(self) -> int:
        """Returns how many documents the segments of the index have, also those that searches do not show. Raises
        DamagedError if it cannot be read."""
        return count_documents(self.folder / INDEX)

    def hidden(self) -> Hidden:
        """Returns the pages that must not be shown. Raises DamagedError if the file cannot be used."""
        file = self.folder / HIDDEN
        try:
            found = parse_hidden(file.read_bytes())
        except OSError as error:
            raise DamagedError(f"cannot read {file}: {error.strerror}") from error
        if isinstance(found, Unusable):
            raise DamagedError(f"{file} is damaged ({found.reason})")
        return found


def open_together(copies: Sequence[LocalCopy]) -> TantivySearch:
    """Opens the indexes of copies as one, with the synonyms of all; pages that one of them must not show are hidden.
    Raises DamagedError if a file cannot be used, InputError if two are the same index."""
    hidden = [copy.hidden() for copy in copies]
    urls, sites = (one.urls for one in hidden), (one.sites for one in hidden)
    every = Hidden(frozenset().union(*urls), frozenset().union(*sites))
    synonyms = dict.fromkeys(pair for copy in copies for pair in load_synonyms(copy.folder / SYNONYMS))
    return TantivySearch([copy.folder / INDEX for copy in copies], None, tuple(synonyms), lambda: every)


@contextmanager
def open_cache(folder: Path, source: str) -> Iterator["CopyCache"]:
    """Opens the folder for copies from `source`, which nobody else may use until the block ends. Raises InputError if
    it has other files or copies from elsewhere, BusyError if another process uses it, RunError if it cannot be
    written."""
    make_folder(folder)
    if others := sorted(_other_files(folder)):
        raise InputError(f"{folder} has other files, such as {others[0]}: give an empty folder (--into)")
    with locked(folder, f"another goodbot serve --follow uses {folder}: give another folder (--into)"):
        file = folder / SOURCE_FILE
        known = file.read_text("utf-8", "replace").strip() if file.is_file() else ""
        if known and known != source:
            raise InputError(f"{folder} has the copy of another index ({known}): give another folder (--into)")
        for name in (FILES, VERSIONS):
            make_folder(folder / name)
        yield CopyCache(folder, source)


def _other_files(folder: Path) -> Iterator[str]:
    """Yields the files that are not of copies. Hidden ones may stay."""
    own = {FILES: is_content_name, VERSIONS: is_version_name}
    for place in folder.iterdir():
        is_own = own.get(place.name)
        if is_own is not None and place.is_dir():
            names = (each.name for each in place.iterdir())
            yield from (f"{place.name}/{name}" for name in names if not (_named(name, is_own) or name.startswith(".")))
        elif place.name not in {*own, SOURCE_FILE, LOCK} and not place.name.startswith("."):
            yield place.name


def _named(name: str, is_own: Callable[[str], bool]) -> bool:
    """Whether a content or version, whole or not, has this name."""
    return is_own(name.removesuffix(_PART))


def check_usable(manifest: Manifest, source: ReadablePlace) -> None:
    """Raises RunError if this goodbot, or this machine, cannot use a version."""
    if manifest.schema > SCHEMA_VERSION:
        raise RunError(
            f"a newer goodbot ({manifest.goodbot}) made the index at {source.name}: use that version here too"
        )
    if manifest.schema < SCHEMA_VERSION:
        older = f"an older goodbot ({manifest.goodbot}) made the index at {source.name}"
        raise RunError(f"{older}: make a snapshot with the version that you use here")
    if manifest.byte_order != sys.byteorder:
        raise RunError(f"a machine with another byte order made the index at {source.name}: it cannot be used here")


class CopyCache:
    """The copies in a folder. One thread may use it. Raises RunError if the folder cannot be read or written."""

    def __init__(self, folder: Path, source: str) -> None:
        self._files = folder / FILES
        self._versions = folder / VERSIONS
        self._source_file = folder / SOURCE_FILE
        self._source = source
        self._piece_bytes = FIRST_PIECE_BYTES

    def current(self) -> LocalCopy | None:
        """Returns the latest version that is in place; None: there is none."""
        found = [copy for place in self._versions.iterdir() if (copy := _local_copy(place)) is not None]
        return max(found, key=lambda copy: copy.manifest.taken_at, default=None)

    def check_room(self, manifest: Manifest) -> None:
        """Raises RunError if there is no room for the contents that are missing."""
        wanted = self._missing(manifest)
        missing = sum(file.size for file in wanted) - self._begun(wanted)
        free = shutil.disk_usage(self._files).free
        if missing > 0 and missing + FREE_BYTES > free:
            room = f"{human_bytes(missing)} must be fetched, {human_bytes(free)} are free"
            raise RunError(
                f"no room for the copy in {self._files.parent}: {room}, and {human_bytes(FREE_BYTES)} must stay free"
            )

    def fetch(self, source: ReadablePlace, manifest: Manifest, watch: Watch) -> None:
        """Fetches the contents that are missing. Raises DamagedError if one is missing at the source or is not what
        the manifest says."""
        wanted = self._missing(manifest)
        total = sum(file.size for file in wanted)
        progress = _Progress(watch, min(self._begun(wanted), total), total)
        for file in wanted:
            with _writing(self._part(file)):
                self._fetch(source, file, progress)

    def put_in_place(self, manifest: Manifest) -> LocalCopy:
        """Makes the folder of a version whose contents are here."""
        place = self._versions / manifest.version
        draft = place.with_name(f"{manifest.version}{_PART}")
        with _writing(place):
            lay_out(manifest, self._files, draft)
            (draft / COPY_FILE).write_bytes(format_manifest(manifest))
            write_whole(self._source_file, f"{self._source}\n".encode())
            draft.rename(place)
        return LocalCopy(manifest, place)

    def renew(self, copy: LocalCopy, manifest: Manifest) -> LocalCopy:
        """Notes that a version in place is also a later one, which has the same files."""
        write_whole(copy.folder / COPY_FILE, format_manifest(manifest))
        return LocalCopy(manifest, copy.folder)

    def discard(self, copy: LocalCopy) -> None:
        """Removes a version that cannot be opened, and those of its contents that are damaged."""
        shutil.rmtree(copy.folder, ignore_errors=True)
        for file in copy.manifest.files:
            content = self._files / file.digest
            with _writing(content):
                if content.is_file() and _digest(content) != file.digest:
                    content.unlink()

    def tidy(self, kept: Collection[LocalCopy], wanted: Manifest | None = None) -> None:
        """Removes all versions but `kept`, and all contents but theirs and those of `wanted`."""
        folders = {copy.folder for copy in kept}
        for place in self._versions.iterdir():
            if place not in folders and _named(place.name, is_version_name):
                shutil.rmtree(place, ignore_errors=True)
        manifests = [copy.manifest for copy in kept] + ([wanted] if wanted is not None else [])
        named = named_digests(manifests)
        for content in self._files.iterdir():
            if _named(content.name, is_content_name) and content.name.removesuffix(_PART) not in named:
                with _writing(content):
                    content.unlink()

    def _fetch(self, source: ReadablePlace, file: CopiedFile, progress: "_Progress") -> None:
        """Fetches one content; continues where the last attempt ended."""
        part = self._part(file)
        if _size(part) > file.size:
            part.unlink()
        with part.open("ab") as out:
            at = out.tell()
            while at < file.size:
                piece = self._read(source, file, at)
                if piece is None or not 0 < len(piece) <= file.size - at:
                    raise DamagedError(f"{_named_at(source, file)} {_size_fault(file, at, piece)}: {_REWRITTEN}")
                out.write(piece)
                at += len(piece)
                progress.add(len(piece))
            _flush(out)
        if _digest(part) != file.digest:
            part.unlink()
            raise DamagedError(
                f"{_named_at(source, file)} is damaged: its SHA-256 is another one; goodbot index snapshot --verify "
                "writes it again"
            )
        part.replace(self._files / file.digest)

    def _read(self, source: ReadablePlace, file: CopiedFile, at: int) -> bytes | None:
        """Reads a piece, as large as the line allows. The last one shows whether the file is longer than it should
        be."""
        while True:
            began, left = time.monotonic(), file.size - at
            try:
                piece = source.read(file.place, at, left + 1 if left <= self._piece_bytes else self._piece_bytes)
            except TooSlowError:
                if self._piece_bytes == MIN_PIECE_BYTES:
                    raise
                self._piece_bytes = max(MIN_PIECE_BYTES, self._piece_bytes // 2)
                continue
            if piece is not None and len(piece) == self._piece_bytes and time.monotonic() - began < QUICK_S:
                self._piece_bytes = min(MAX_PIECE_BYTES, self._piece_bytes * 2)
            return piece

    def _part(self, file: CopiedFile) -> Path:
        return self._files / f"{file.digest}{_PART}"

    def _has(self, file: CopiedFile) -> bool:
        place = self._files / file.digest
        return place.is_file() and _size(place) == file.size

    def _missing(self, manifest: Manifest) -> list[CopiedFile]:
        return list({file.digest: file for file in manifest.files if not self._has(file)}.values())

    def _begun(self, files: Collection[CopiedFile]) -> int:
        """Returns how many bytes of these contents are here."""
        return sum(_size(self._part(file)) for file in files)


class _Progress:
    def __init__(self, watch: Watch, done: int, total: int) -> None:
        self._watch, self._done, self._total = watch, done, total
        watch(Copying(done, total, begins=True))

    def add(self, count: int) -> None:
        self._done += count
        self._watch(Copying(self._done, self._total))


def _named_at(source: ReadablePlace, file: CopiedFile) -> str:
    return f"{file.place} ({file.path}) at {source.name}"


def _size_fault(file: CopiedFile, at: int, piece: bytes | None) -> str:
    """Returns what is wrong with the size of a file that was read up to `at`, then this piece."""
    if piece is None:
        return "is missing"
    found = f"too long: more than the {file.size:,} bytes" if piece else f"too short: {at:,} of the {file.size:,} bytes"
    return f"is {found} of the manifest"


def _local_copy(place: Path) -> LocalCopy | None:
    """Returns the version in a folder; None: it is not whole, or a newer goodbot made it."""
    try:
        manifest = parse_manifest((place / COPY_FILE).read_bytes())
    except OSError:
        return None
    is_whole = isinstance(manifest, Manifest) and is_version_name(place.name)
    return LocalCopy(manifest, place) if is_whole and isinstance(manifest, Manifest) else None


def _is_checked_later(file: CopiedFile) -> bool:
    """Whether opening the index finds out if a file is damaged. Damaged link texts are only left out of searches."""
    place = PurePosixPath(file.path)
    return file.size > CHECKED_BYTES and place.parent.name == INDEX and place.suffix in _SEGMENT_SUFFIXES


def lay_out(manifest: Manifest, contents: Path, folder: Path) -> None:
    """Makes the folder of a version, in place of what is there, whose files are links to those in `contents`. Raises
    OSError."""
    shutil.rmtree(folder, ignore_errors=True)
    for file in manifest.files:
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        _link(contents / file.digest, folder / file.path)
    meta = folder / INDEX / META_FILE  # searches say that the index is as old as this file
    shutil.copyfile(meta, meta.with_suffix(_PART))
    os.utime(meta.with_suffix(_PART), ns=(manifest.committed_ns, manifest.committed_ns))
    meta.with_suffix(_PART).replace(meta)


def _link(content: Path, place: Path) -> None:
    """Links a file; by a symbolic link where the file system has no others."""
    try:
        os.link(content, place)
    except OSError:
        place.symlink_to(content.resolve())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write {place}: {error.strerror or error}") from error
