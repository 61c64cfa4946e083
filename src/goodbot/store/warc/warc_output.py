"""Writes one WARC file: buffers records, writes them to disk, and turns repeated payloads into revisit records."""

import os
from pathlib import Path

from goodbot.archive_values import EncodedRecords
from goodbot.store.warc.cdxj import IndexFile, revisited
from goodbot.store.warc.warc_record import revisit_record
from goodbot.values import RecordRef

MIN_REPEAT_BYTES = 1024
"""A shorter response record is written again when its payload repeats: a revisit record would save little."""

_PENDING_BYTES = 1024 * 1024
_PAYLOADS = 8192


class WarcOutput:
    """A new file at `path`, begun with `info`. Up to 1 MiB waits in memory between flushes. Methods may raise OSError.

    A response whose payload is already in this file, under any URL, becomes a revisit record; so each file can be read,
    moved and deleted on its own.
    """

    def __init__(self, path: Path, folder: int, info: bytes) -> None:
        self.name = path.name
        self._folder = folder
        self._file = path.open("xb", buffering=0)
        self._index = IndexFile(path)
        self._payloads = Payloads()
        self._new = True
        self._safe_bytes = 0
        self._written_bytes = 0
        self._pending = bytearray(info)

    @property
    def end(self) -> int:
        """Where the next member begins: the length of the file including what waits in memory."""
        return self._written_bytes + len(self._pending)

    def append(self, encoded: EncodedRecords) -> int:
        """Adds records; returns the offset of the response or revisit record."""
        offset, data, length, entry = self.end, encoded.data, encoded.length, encoded.entry
        if encoded.digest is not None and length >= MIN_REPEAT_BYTES:
            if original := self._payloads.find(encoded.digest):
                place, date, url = original.split(" ")
                record = revisit_record(data[:length], RecordRef(self.name, int(place)), url, date)
                data, length, entry = record + data[length:], len(record), revisited(entry)
            else:
                self._payloads.remember(encoded.digest, f"{offset} {encoded.date} {encoded.url}")
        self._pending += data
        self._index.add(entry, offset, length)
        if len(self._pending) >= _PENDING_BYTES:
            self.write_out()
        return offset

    def write_out(self) -> None:
        """Writes each byte to a fixed place, so that a write interrupted by a signal may be repeated."""
        while self._pending:
            count = os.pwrite(self._file.fileno(), self._pending, self._written_bytes)
            self._written_bytes, self._pending = self._written_bytes + count, self._pending[count:]

    def flush(self) -> None:
        """Writes all records to disk, and returns when they are there."""
        self.write_out()
        if self._safe_bytes < self._written_bytes:
            os.fsync(self._file.fileno())
            self._safe_bytes = self._written_bytes
        if self._new:
            os.fsync(self._folder)
            self._new = False

    def finish(self) -> None:
        """Flushes and writes the index, which settles the file."""
        self.flush()
        self._index.save()

    def close(self) -> None:
        """Closes the file, finished or not."""
        self._index.close()
        self._file.close()


class Payloads:
    """Maps a digest to a note on where that payload is. Remembers the 8,192 payloads that were used last, and up to
    8,192 more. With URLs of 57 characters they take 5 MB."""

    def __init__(self) -> None:
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def find(self, digest: str) -> str | None:
        """Returns the note, or None if it is unknown or forgotten."""
        note = self._young.get(digest)
        if note is None and (note := self._old.get(digest)):
            self.remember(digest, note)
        return note

    def remember(self, digest: str, note: str) -> None:
        if len(self._young) >= _PAYLOADS:
            self._young, self._old = {}, self._young
        self._young[digest] = note
