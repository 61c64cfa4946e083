"""Writes a version of a copy of an index to a place.

Contents are named by their digests, so a version shares them with the versions before it, and only new ones are
written. The order of writing makes a kill harmless: contents, manifest, pointer; only then are old versions removed.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import file_digest
from importlib.metadata import version
from io import BytesIO
from typing import Final, NamedTuple
from uuid import uuid4

from goodbot.errors import BusyError, DamagedError, InputError
from goodbot.index.copies.copy_manifest import (
    FILES,
    HIDDEN,
    INDEX,
    LATEST,
    MANIFESTS,
    MAX_POINTER_BYTES,
    SYNONYMS,
    CopiedFile,
    Manifest,
    Origin,
    Unusable,
    format_hidden,
    format_manifest,
    format_pointer,
    is_content_name,
    is_leftover,
    is_manifest_name,
    named_digests,
    parse_pointer,
)
from goodbot.index.copies.held_index import HeldFile, HeldIndex
from goodbot.index.copies.published import load_manifest, load_pointer, load_versions
from goodbot.index.copies.verification import Verified, verify_contents
from goodbot.index.schema import SCHEMA_VERSION
from goodbot.places.folder_place import LOCK
from goodbot.places.place import Place
from goodbot.search_values import Hidden

_OWN: Final = frozenset({FILES, MANIFESTS, LATEST, LOCK})
_PIECE_BYTES: Final = 1 << 20
_ATTEMPTS: Final = 3


class Copying(NamedTuple):
    """The progress of a snapshot or a fetch: how many bytes of the contents that may be missing have been written, or
    found. `begins`: nothing has been written yet. `verifies`: it is about the contents that are read to verify them."""

    done: int
    total: int
    finished: bool = False
    begins: bool = False
    verifies: bool = False


class Snapshot(NamedTuple):
    """A snapshot that was written: what the version contains, how many contents were written, and their bytes.
    `verified`: which contents had been read before; None: none."""

    manifest: Manifest
    copied_files: int
    copied_bytes: int
    verified: Verified | None = None


class Contents(NamedTuple):
    """What is copied besides the index: the pages that no search shows, the file of synonyms, and where the index comes
    from. `documents`: how many of them searches can find; None: all."""

    hidden: Hidden
    synonyms: bytes
    origin: Origin
    documents: int | None = None


Watch = Callable[[Copying], object]


def take_snapshot(
    held: HeldIndex, contents: Contents, target: Place, keep: int, watch: Watch, *, verify: bool = False
) -> Snapshot:
    """Writes a version, and keeps the last `keep` versions of this place. A content that is there is not read: its size
    must be right. `verify`: all contents are read; those that are damaged are written again, or removed if only older
    versions need them.

    Raises InputError if the place has other files, BusyError if another snapshot is written there, RunError if it
    cannot be read or written, or if a newer goodbot has written there.
    """
    if others := sorted(_other_files(target)):
        raise InputError(f"{target.name} has other files, such as {others[0]}: give an empty folder")
    with target.exclusive():
        writing = _Writing(held, contents, target, watch)
        if verify:
            writing.verify()
        for _ in range(_ATTEMPTS):
            done = writing.write()
            _remove_old(target, done.manifest.version, keep, writing.damaged)
            if _is_whole(target, done.manifest):
                watch(Copying(done.copied_bytes, done.copied_bytes, finished=True))
                return done
    raise BusyError(f"another snapshot is being written to {target.name}")


class _Writing:
    """Writes a version. `damaged`: contents that were found damaged, and have not been written again."""

    def __init__(self, held: HeldIndex, contents: Contents, target: Place, watch: Watch) -> None:
        self._held = held
        self._contents = contents
        self._target = target
        self._watch = watch
        self._copied_files = self._copied_bytes = self._done = self._total = 0
        self._verified: Verified | None = None
        self.damaged: set[str] = set()

    def verify(self) -> None:
        """Finds the contents that are damaged. They count as missing from now on."""

        def read(done: int, total: int) -> None:
            self._watch(Copying(done, total, begins=not done, verifies=True))

        self._verified = verify_contents(self._target, read)
        self.damaged = set(self._verified.damaged)

    def write(self) -> Snapshot:
        """Writes what is missing, the manifest, and the pointer."""
        there = {name: size for name, size in self._target.list(FILES).items() if name not in self.damaged}
        known = self._known_digests()
        extra = {HIDDEN: format_hidden(self._contents.hidden), SYNONYMS: self._contents.synonyms}
        files = [each._replace(path=f"{INDEX}/{each.path}") for each in self._held.files]
        files += [HeldFile(path, len(content), BytesIO(content), False) for path, content in extra.items()]
        self._done = 0
        self._total = sum(each.size for each in files if each.path not in known or not _has(there, known[each.path]))
        self._watch(Copying(0, self._total, begins=True))
        manifest = self._manifest(tuple(self._copy(each, known, there) for each in files))
        self._target.write(manifest.place, [format_manifest(manifest)])
        self._target.write(LATEST, [format_pointer(manifest)])
        return Snapshot(manifest, self._copied_files, self._copied_bytes, self._verified)

    def _known_digests(self) -> Mapping[str, CopiedFile]:
        """Returns the segment files of the last version of this index: they need not be read again."""
        try:
            pointer = load_pointer(self._target)
            before = load_manifest(self._target, pointer) if pointer is not None else None
        except DamagedError:
            return {}
        if before is None or before.identity != self._held.identity:
            return {}
        files = {file.path: file for file in before.files}
        sizes = {f"{INDEX}/{held.path}": held.size for held in self._held.files if held.is_segment}
        return {path: files[path] for path, size in sizes.items() if path in files and files[path].size == size}

    def _copy(self, held: HeldFile, known: Mapping[str, CopiedFile], there: dict[str, int]) -> CopiedFile:
        file = known.get(held.path)
        if file is not None and _has(there, file):
            return file
        file = CopiedFile(held.path, held.size, _digest(held))
        if _has(there, file):
            self._progress(file.size)
            return file
        self._target.write(file.place, self._pieces(held))
        self.damaged.discard(file.digest)
        there[file.digest] = file.size
        self._copied_files += 1
        self._copied_bytes += file.size
        return file

    def _pieces(self, held: HeldFile) -> Iterator[bytes]:
        for piece in _read(held):
            yield piece
            self._progress(len(piece))

    def _progress(self, count: int) -> None:
        self._done += count
        self._watch(Copying(self._done, self._total))

    def _manifest(self, files: tuple[CopiedFile, ...]) -> Manifest:
        now, documents = time.time(), self._contents.documents
        return Manifest(
            version=f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}-{uuid4().hex[:8]}",
            taken_at=now,
            goodbot=version("goodbot"),
            schema=SCHEMA_VERSION,
            identity=self._held.identity,
            byte_order=sys.byteorder,
            committed_ns=self._held.committed_ns,
            documents=self._held.documents if documents is None else documents,
            files=files,
            origin=self._contents.origin,
        )


def _other_files(target: Place) -> Iterator[str]:
    """Yields the files that no snapshot has written. Hidden ones may stay: file managers and network file systems make
    them."""
    names = target.list("")
    manifests = target.list(MANIFESTS) if MANIFESTS in names else {}
    yield from (name for name in names if name not in _OWN and not name.startswith("."))
    yield from (f"{MANIFESTS}/{name}" for name in manifests if not (is_manifest_name(name) or name.startswith(".")))
    if FILES in names:
        contents = target.list(FILES)
        yield from (f"{FILES}/{name}" for name in contents if not (is_content_name(name) or name.startswith(".")))
    if LATEST in names and not any(map(is_manifest_name, manifests)) and not _is_pointer(target):
        yield LATEST


def _is_pointer(target: Place) -> bool:
    """Whether latest.json is ours: one that is damaged has manifests beside it."""
    found = parse_pointer(target.read(LATEST, 0, MAX_POINTER_BYTES + 1) or b"")
    return not isinstance(found, Unusable) or found.is_newer


def _has(there: Mapping[str, int], file: CopiedFile) -> bool:
    """Whether a content was written whole: a kill may have left a part of it."""
    return there.get(file.digest) == file.size


def _read(held: HeldFile) -> Iterator[bytes]:
    held.content.seek(0)
    while piece := held.content.read(_PIECE_BYTES):
        yield piece


def _digest(held: HeldFile) -> str:
    held.content.seek(0)
    return file_digest(held.content, "sha256").hexdigest()


def _remove_old(target: Place, latest: str, keep: int, damaged: Collection[str]) -> None:
    """Removes all but the last `keep` versions, and the contents that none of these names: also those of a snapshot
    that was killed. Contents that are `damaged` are removed in any case: a later snapshot would rely on their sizes.
    What has another name than ours stays."""
    manifests = [name for name in target.list(MANIFESTS) if is_manifest_name(name) or is_leftover(name)]
    versions = sorted((name.removesuffix(".json") for name in manifests if is_manifest_name(name)), reverse=True)
    kept = load_versions(target, [latest, *(name for name in versions if name != latest)][:keep])
    for name in manifests:
        if name.removesuffix(".json") not in kept:
            target.remove(f"{MANIFESTS}/{name}")
    named = named_digests(kept.values()).difference(damaged)
    for name in target.list(FILES):
        if name not in named and (is_content_name(name) or is_leftover(name)):
            target.remove(f"{FILES}/{name}")


def _is_whole(target: Place, manifest: Manifest) -> bool:
    """Whether nothing of a version is missing: where there is no lock, another snapshot may have removed something."""
    there = target.list(FILES)
    return f"{manifest.version}.json" in target.list(MANIFESTS) and all(_has(there, file) for file in manifest.files)
