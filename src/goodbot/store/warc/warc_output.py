"""One WARC file while it is written: records gather, go to disk, and are known again when their payload comes twice."""

import os
from pathlib import Path

from goodbot.archive_values import EncodedRecords
from goodbot.store.warc.cdxj import IndexFile, revisited
from goodbot.store.warc.warc_record import revisit_record
from goodbot.values import RecordRef

REPEAT_LEAST_BYTES = 1024
"""A response record of fewer bytes is written again when its payload repeats: a revisit record would save little."""

_PENDING_BYTES = 1024 * 1024
_PAYLOADS = 32_768


class WarcOutput:
    """A new file at `path`, begun with `info`. Up to 1 MiB waits in memory between flushes. Methods may raise OSError.

    A response whose payload lies in this file already, under whatever URL, becomes a revisit record; so each file can
    be read, moved and thrown away by itself.
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
        """Where the next member goes: the length of the file with what waits in memory."""
        return self._written_bytes + len(self._pending)

    def append(self, encoded: EncodedRecords) -> int:
        """Gives the offset of the response or revisit record."""
        offset, data, length, entry = self.end, encoded.data, encoded.length, encoded.entry
        if encoded.digest is not None and length >= REPEAT_LEAST_BYTES:
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
        """Each byte has its place, so that a write interrupted by a signal may be done again."""
        while self._pending:
            count = os.pwrite(self._file.fileno(), self._pending, self._written_bytes)
            self._written_bytes, self._pending = self._written_bytes + count, self._pending[count:]

    def flush(self) -> None:
        """All that was appended is on disk when it returns."""
        self.write_out()
        if self._safe_bytes < self._written_bytes:
            os.fsync(self._file.fileno())
            self._safe_bytes = self._written_bytes
        if self._new:
            os.fsync(self._folder)
            self._new = False

    def finish(self) -> None:
        """Flushes, and writes the index: the file is settled."""
        self.flush()
        self._index.save()

    def close(self) -> None:
        """Lets go of the file, finished or not."""
        self._index.close()
        self._file.close()


class Payloads:
    """Digest → a note about where that payload lies. Remembers the last 32,768 that were used, and up to as many more:
    20 MB with URLs of 57 characters."""

    def __init__(self) -> None:
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def find(self, digest: str) -> str | None:
        """The note, if it is not forgotten."""
        note = self._young.get(digest)
        if note is None and (note := self._old.get(digest)):
            self.remember(digest, note)
        return note

    def remember(self, digest: str, note: str) -> None:
        if len(self._young) >= _PAYLOADS:
            self._young, self._old = {}, self._young
        self._young[digest] = note
