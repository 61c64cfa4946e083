"""Writes WACZ files (https://specs.webrecorder.net/wacz/1.1.1/), in one pass and with bounded memory."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

from isal import isal_zlib

from goodbot.store.warc.cdxj import SortedLines, index_line

VERSION: Final = "1.1.1"

_BLOCK_LINES: Final = 3000
"""Lines of the index in one gzip member; a reader fetches one of these for a URL."""


class WaczPage(NamedTuple):
    """A page that a replay program offers as a starting point. `at`: Unix seconds."""

    id: str
    url: str
    at: float
    title: str


class WaczWriter:
    """Writes one file to `output`, which may be a pipe. First come the WARC files, then `finish`. `folder`: where lines
    of the index wait if there are many. Methods may raise OSError."""

    def __init__(self, output: BinaryIO, folder: Path, software: str, now: float) -> None:
        self._zip = zipfile.ZipFile(output, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._software = software
        self._now = now
        self._resources: list[dict[str, object]] = []
        self._index = SortedLines(folder)

    @contextmanager
    def warc(self, name: str) -> Iterator["WarcEntry"]:
        """Adds a WARC file."""
        with self._entry(f"archive/{name}") as entry:
            yield WarcEntry(entry, name, self._index)

    def finish(self, pages: Iterable[WaczPage]) -> None:
        """Adds the index, the pages and the description, and completes the file."""
        blocks: list[tuple[str, int, int, str]] = []
        with self._entry("indexes/index.cdx.gz") as entry:
            for first, packed in _blocks(self._index):
                digest = f"sha256:{hashlib.sha256(packed).hexdigest()}"
                blocks.append((first, entry.size, len(packed), digest))
                entry.write(packed)
        self._index.close()
        with self._entry("indexes/index.idx") as entry:
            entry.write(_json_line("!meta 0 ", {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}))
            for first, offset, length, digest in blocks:
                place = {"offset": offset, "length": length, "digest": digest, "filename": "index.cdx.gz"}
                entry.write(_json_line(f"{first} ", place))
        with self._entry("pages/pages.jsonl", zipfile.ZIP_DEFLATED) as entry:
            head = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": False}
            entry.write(_json_line("", head))
            for page in pages:
                line = {"id": page.id, "url": page.url, "ts": _iso(page.at), "title": page.title}
                entry.write(_json_line("", line))
        self._describe()
        self._zip.close()

    def close(self) -> None:
        """Frees what an unfinished file holds. `output` stays open, and gets no more data."""
        self._index.close()
        # else its finalizer would write the end of a ZIP file to `output`, which may be closed by then
        self._zip.fp = None

    def _describe(self) -> None:
        description = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "software": self._software,
            "created": _iso(self._now),
            "resources": self._resources,
        }
        data = json.dumps(description, indent=2).encode()
        self._write("datapackage.json", data)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        self._write("datapackage-digest.json", json.dumps(digest, indent=2).encode())

    def _write(self, name: str, data: bytes) -> None:
        with self._zip.open(self._info(name, zipfile.ZIP_DEFLATED), "w") as file:
            file.write(data)

    @contextmanager
    def _entry(self, path: str, compression: int = zipfile.ZIP_STORED) -> Iterator["DigestedEntry"]:
        with self._zip.open(self._info(path, compression), "w", force_zip64=True) as file:
            entry = DigestedEntry(file)
            yield entry
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": entry.digest, "bytes": entry.size})

    def _info(self, name: str, compression: int) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, datetime.fromtimestamp(max(self._now, 315_532_800), UTC).timetuple()[:6])
        info.compress_type = compression
        info.external_attr = 0o644 << 16
        return info


class DigestedEntry:
    """An entry of a ZIP file that is being written, with its size and SHA-256."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._state = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._state.update(data)
        self.size += len(data)

    @property
    def digest(self) -> str:
        return f"sha256:{self._state.hexdigest()}"


class WarcEntry:
    """A WARC file in the WACZ file, which takes its records one after another."""

    def __init__(self, entry: DigestedEntry, name: str, index: SortedLines) -> None:
        self._entry = entry
        self._name = name
        self._index = index

    def add(self, pieces: Iterable[bytes], entry: str | None) -> None:
        """Adds a record. `entry`: that of a capture in the index; None for other records."""
        offset = self._entry.size
        for piece in pieces:
            self._entry.write(piece)
        if entry is not None:
            self._index.add(index_line(entry, offset, self._entry.size - offset, self._name))


def _blocks(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields the key and time of the first line of each block, and the block compressed."""
    block: list[bytes] = []
    for line in lines:
        block.append(line)
        if len(block) == _BLOCK_LINES:
            yield _packed(block)
            block = []
    if block:
        yield _packed(block)


def _packed(block: list[bytes]) -> tuple[str, bytes]:
    key, time, _ = block[0].split(b" ", 2)
    return f"{key.decode()} {time.decode()}", isal_zlib.compress(b"".join(block), 2, 31)


def _json_line(before: str, value: object) -> bytes:
    return f"{before}{json.dumps(value)}\n".encode()


def _iso(at: float) -> str:
    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%dT%H:%M:%SZ}"
