"""Checks that the files of an index have not changed since they were written. Tantivy does not check this when it opens
an index, and fails later."""

import json
import re
import struct
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isal.isal_zlib import crc32

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.index.schema import LABELS, NUMBERS, WEIGHTS
from goodbot.index.version_file import VERSION_FILE, check_version, remedy
from goodbot.search_values import IndexMark

PAGE_FIELDS = frozenset({*LABELS, *NUMBERS, *WEIGHTS})
META_FILE = "meta.json"
SEGMENT_PARTS = ("term", "idx", "pos", "fieldnorm", "fast", "store")

CHECKED_BYTES = 1 << 30
"""The limit for checksums of new segment files when an index is opened; beyond it only the files' ends are checked. 1
GiB takes 0.2 s once it is in memory."""

_CHUNK = 1 << 20
FOOTER_MAGIC = 1337
_MAX_FOOTER = 1 << 16
_SEGMENT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Stamp:
    """Identifies the state of a file. It changes with every commit, because a commit replaces the file."""

    inode: int
    modified_ns: int
    size: int


def stamp(file: Path) -> Stamp:
    """Returns the state of a file. Raises OSError."""
    found = file.stat()
    return Stamp(found.st_ino, found.st_mtime_ns, found.st_size)


class CheckedIndex:
    """Checks an index folder, which must have `fields`. It checks segment files only once, because they never
    change."""

    def __init__(self, folder: Path, fields: Collection[str] = PAGE_FIELDS) -> None:
        self._folder = folder
        self._fields = frozenset(fields)
        self._sound: set[str] = set()

    def check(self) -> None:
        """Raises InputError if there is no index, RunError if it has a newer schema, OutdatedError if it has an older
        one, DamagedError with the name of a damaged file."""
        require_index(self._folder)
        check_version(self._folder)
        for attempt in range(10):
            before = stamp(self._folder / META_FILE)
            try:
                self._check_segments()
            except DamagedError:
                # A writer may have merged the checked segments: only an unchanged meta.json proves damage.
                if attempt == 9 or stamp(self._folder / META_FILE) == before:
                    raise
            else:
                return

    def _check_segments(self) -> None:
        names = _segment_files(self._folder / META_FILE, self._fields)
        bytes_left = CHECKED_BYTES
        for name in names:
            if name not in self._sound:
                bytes_left -= _check_file(self._folder / name, bytes_left)
        self._sound = set(names)


def load_mark(folder: Path) -> IndexMark:
    """Returns the identity of the index in `folder`, and the position of its last commit. Raises the same errors as
    `CheckedIndex.check`, but reads no segment file."""
    require_index(folder)
    identity = check_version(folder)
    file = folder / META_FILE
    try:
        written = int(json.loads(file.read_bytes())["opstamp"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(file) from error
    return IndexMark(identity, written)


def share_meta(folder: Path) -> None:
    """Lets everybody who may read the version file read meta.json, which the engine writes for its owner only. Raises
    OSError."""
    (folder / META_FILE).chmod((folder / VERSION_FILE).stat().st_mode & 0o777)


def require_index(folder: Path) -> None:
    """Raises InputError if there is no index, DamagedError if its meta.json is missing."""
    if (folder / META_FILE).is_file():
        return
    if folder.is_dir() and any(folder.glob("*.store")):
        raise DamagedError(f"{folder / META_FILE} is missing: {remedy(folder)}")
    raise InputError(f"no index in {folder}")


def _segment_files(meta: Path, fields: frozenset[str]) -> list[str]:
    try:
        return segment_files(json.loads(meta.read_bytes()), fields)
    except PermissionError as error:
        raise RunError(f"cannot read {meta}: {error.strerror}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(meta) from error


def segment_files(state: dict[str, Any], fields: frozenset[str]) -> list[str]:
    """Returns the names of the segment files that belong to a state, which is the content of a meta.json. Raises
    ValueError, KeyError, TypeError or AttributeError for anything else, and if the index lacks some of `fields`."""
    if not fields <= {field["name"] for field in state["schema"]}:
        raise ValueError("fields are missing")
    return [name for segment in state["segments"] for name in _names_of(segment)]


def _names_of(segment: dict[str, Any]) -> list[str]:
    if not _SEGMENT_ID.fullmatch(segment["segment_id"]):
        raise ValueError("not a segment id")
    stem = segment["segment_id"].replace("-", "")
    names = [f"{stem}.{part}" for part in SEGMENT_PARTS]
    if segment["deletes"] is not None:
        names.append(f"{stem}.{int(segment['deletes']['opstamp'])}.del")
    return names


def _check_file(file: Path, max_bytes: int) -> int:
    """Compares a file with the checksum in its footer; returns how many bytes it read.

    It reads only the footer of a file larger than `max_bytes`.
    """
    try:
        size = file.stat().st_size
        footer_size, expected = _footer(file, size)
        if size > max_bytes:
            return 0
        found = _checksum(file, size - footer_size)
    except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError) as error:
        raise _damaged(file) from error
    if found != expected:
        raise _damaged(file)
    return size


def _footer(file: Path, size: int) -> tuple[int, int]:
    """Returns the size of the footer and the checksum in it."""
    footer = _footer_of(file, size)
    return len(footer) + 8, int(json.loads(footer)["crc"])


def read_footer(file: Path) -> dict[str, Any]:
    """Returns the content of the footer of a segment file: its checksum and the versions of its writer. Raises OSError,
    and ValueError or struct.error if it has none."""
    found: dict[str, Any] = json.loads(_footer_of(file, file.stat().st_size))
    return found


def _footer_of(file: Path, size: int) -> bytes:
    """Returns the footer of a file. It is JSON, its length and a magic number, four bytes each."""
    with file.open("rb") as stream:
        stream.seek(max(0, size - 8))
        length, magic = struct.unpack("<II", stream.read(8))
        if magic != FOOTER_MAGIC or not length <= min(_MAX_FOOTER, size - 8):
            raise ValueError("no footer")
        stream.seek(size - 8 - length)
        return stream.read(length)


def _checksum(file: Path, size: int) -> int:
    checksum = 0
    with file.open("rb") as stream:
        while size > 0 and (chunk := stream.read(min(_CHUNK, size))):
            checksum = crc32(chunk, checksum)
            size -= len(chunk)
    return checksum


def _damaged(file: Path) -> DamagedError:
    return DamagedError(f"{file} is damaged: {remedy(file.parent)}")
