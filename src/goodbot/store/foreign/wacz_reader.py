"""Reads WACZ files (https://specs.webrecorder.net/wacz/1.1.1/): ZIP files with WARC files in their folder `archive/`.

Nothing is unpacked to the disk, so no path in the file matters; entries with `..` in their path, and others that an
honest program does not write, are refused all the same.
"""

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from goodbot.store.foreign.unpacking import Readable, cause_of

ZIP_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")
DESCRIPTION: Final = "datapackage.json"

MAX_DIRECTORY_BYTES: Final = 64 * 1024 * 1024
"""A longer directory of a ZIP file is not read: that of a million files is shorter."""
MAX_DESCRIPTION_BYTES: Final = 16 * 1024 * 1024

_WARC: Final = re.compile(r"archive/[^/]+\.warc(?:\.gz|\.zst|\.zstd)?", re.IGNORECASE)
_WARC_NAME: Final = re.compile(r"\.warc(?:\.gz|\.zst|\.zstd)?\Z", re.IGNORECASE)
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_END_64: Final = b"PK\x06\x06"
_LOCATOR_BYTES: Final = 20
_LOCAL_HEAD_BYTES: Final = 30
_ENCRYPTED: Final = 1
_SHA_256: Final = re.compile(r"sha256:([0-9a-fA-F]{64})")

ERRORS: Final = (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError, ValueError)
"""What reading a damaged ZIP file raises, beside OSError."""


class NoZipError(Exception):
    """The ZIP file cannot be used; its message says why."""


class WaczFile:
    """An open WACZ file. Raises NoZipError if its directory cannot be read."""

    def __init__(self, file: BinaryIO) -> None:
        size = _directory_bytes(file)
        if size is None:
            raise NoZipError("the ZIP directory is missing, because the file is cut short")
        if size > MAX_DIRECTORY_BYTES:
            raise NoZipError("the ZIP directory is too long")
        self._file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except ERRORS as error:
            raise NoZipError(f"the ZIP directory is damaged ({error})") from error
        self.is_description_damaged = False
        self._digests = self._load_digests()

    def entries(self) -> Iterator[tuple[zipfile.ZipInfo, str]]:
        """Yields the WARC files, in the order of the file, each with the reason why it is not read, empty if it is; and
        other entries that no honest program writes."""
        seen: set[str] = set()
        end = 0
        for info in sorted(self._zip.infolist(), key=lambda info: info.header_offset):
            refused = _refusal(info)
            name = _normal_name(info)
            if not refused and name in seen:
                refused = "its name occurs twice in the ZIP file"
            if not refused and info.header_offset < end:
                refused = "it overlaps with another entry of the ZIP file"
            if not refused and not _WARC.fullmatch(name) and _WARC_NAME.search(name):
                refused = "it is not read, because it is not in the folder archive/"
            seen.add(name)
            end = max(end, info.header_offset + info.compress_size)
            if refused or _WARC.fullmatch(name):
                yield info, refused

    @contextmanager
    def opened(self, info: zipfile.ZipInfo) -> Iterator["VerifiedEntry"]:
        """Opens an entry for reading. Raises one of `ERRORS` if it is damaged."""
        stated = self._digests.get(_normal_name(info))
        if info.compress_type == zipfile.ZIP_STORED:
            yield VerifiedEntry(_Stored(self._file, info), stated)
            return
        with self._zip.open(info) as file:
            yield VerifiedEntry(file, stated)

    def is_wacz(self) -> bool:
        """Whether it has a description, WARC files, or other WACZ files."""
        names = set(map(_normal_name, self._zip.infolist()))
        return DESCRIPTION in names or self.is_collection() or any(map(_WARC.fullmatch, names))

    def missing(self) -> list[str]:
        """Returns the WARC files that the description lists, but the ZIP file lacks."""
        names = set(map(_normal_name, self._zip.infolist()))
        return [name for name in self._digests if _WARC.fullmatch(name) and name not in names]

    def is_collection(self) -> bool:
        """Whether it only names other WACZ files (multi-wacz)."""
        return any(info.filename.lower().endswith(".wacz") for info in self._zip.infolist())

    def _load_digests(self) -> dict[str, str]:
        """Returns the SHA-256 that the description states for files, in hexadecimal; empty if it cannot be read."""
        try:
            with self._zip.open(DESCRIPTION) as file:
                data = file.read(MAX_DESCRIPTION_BYTES)
            resources = json.loads(data)["resources"]
            stated = ((one.get("path"), _SHA_256.fullmatch(str(one.get("hash")))) for one in resources)
            return {str(path): found[1].lower() for path, found in stated if found}
        except (*ERRORS, KeyError, TypeError, AttributeError, RecursionError, OSError):
            self.is_description_damaged = DESCRIPTION in self._zip.namelist()
            return {}


class _Stored:
    """The bytes of an entry that is not compressed. `zipfile` would withhold the last ones if its checksum is wrong."""

    def __init__(self, file: BinaryIO, info: zipfile.ZipInfo) -> None:
        file.seek(info.header_offset)
        head = file.read(_LOCAL_HEAD_BYTES)
        if len(head) < _LOCAL_HEAD_BYTES or not head.startswith(ZIP_STARTS[0]):
            raise zipfile.BadZipFile("the header of the entry is missing")
        names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        self._at = info.header_offset + _LOCAL_HEAD_BYTES + names
        self._left = info.file_size
        self._file = file

    def read(self, count: int, /) -> bytes:
        """See `Readable.read`. Raises EOFError if the file ends before the entry."""
        self._file.seek(self._at)
        data = self._file.read(min(count, self._left))
        if self._left and not data:
            raise EOFError("the file ends within the entry")
        self._at += len(data)
        self._left -= len(data)
        return data


class VerifiedEntry:
    """The bytes of one entry, and their digest. Implements `Readable`."""

    def __init__(self, file: Readable, stated: str | None) -> None:
        self._file = file
        self._stated = stated
        self._state = hashlib.sha256(usedforsecurity=False)
        self._done = False
        self.error = ""
        """Why reading ended early; empty if it did not."""

    def read(self, count: int, /) -> bytes:
        """Reads up to `count` bytes; none at the end, or where the ZIP file is damaged."""
        if self.error:
            return b""
        try:
            data = self._file.read(count)
        except ERRORS as error:
            self.error = f"the ZIP file is damaged: {cause_of(error)}"
            return b""
        self._state.update(data)
        self._done = not data
        return data

    @property
    def is_altered(self) -> bool:
        """Whether all was read, and is not what the description states."""
        return self._done and not self.error and self._stated not in (None, self._state.hexdigest())


def _normal_name(info: zipfile.ZipInfo) -> str:
    """Returns the name of an entry as the format wants it: some programs write `archive\\a` or `./archive/a`."""
    return "/".join(part for part in re.split(r"[/\\]", info.filename) if part not in ("", "."))


def _refusal(info: zipfile.ZipInfo) -> str:
    """Returns why an entry is not read; empty if it may be."""
    name = info.orig_filename
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", name):
        return "its path leads out of the ZIP file"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a symbolic link"
    return "it is encrypted" if info.flag_bits & _ENCRYPTED else ""


def _directory_bytes(file: BinaryIO) -> int | None:
    """Returns the stated length of the directory of a ZIP file; None if the file has none."""
    size = file.seek(0, 2)
    start = max(size - 65_535 - _END_BYTES, 0)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        return None
    stated = int.from_bytes(tail[at + 12 : at + 16], "little")
    if stated != 0xFFFFFFFF:
        return stated
    locator = tail[max(at - _LOCATOR_BYTES, 0) : at]
    file.seek(int.from_bytes(locator[8:16], "little") if int.from_bytes(locator[8:16], "little") < size else 0)
    record = file.read(56)
    return int.from_bytes(record[40:48], "little") if record.startswith(_END_64) else None
