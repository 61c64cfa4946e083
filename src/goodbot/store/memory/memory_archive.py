"""Keeps the archive in memory: behaves as `WarcArchive`, for tests."""

from collections.abc import Callable, Iterator

from isal import isal_zlib

from goodbot.archive_values import ArchivedResponse, DamagedRange, EncodedRecords
from goodbot.errors import DamagedError
from goodbot.store.warc.warc_reader import parse_record
from goodbot.store.warc.warc_record import encode_capture
from goodbot.values import Capture, RecordRef

_FILE = "memory"


class MemoryArchive:
    """Keeps records in a list; a record's offset is its place there. Memory is the only limit."""

    def __init__(self) -> None:
        self._kept: list[EncodedRecords] = []

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
        """Keeps a response. Raises ValueError for a capture without one."""
        return self.append(encode_capture(capture, headers_only))

    def append(self, encoded: EncodedRecords) -> RecordRef:
        """Keeps the result of `encode_capture`."""
        self._kept.append(encoded)
        return RecordRef(_FILE, len(self._kept) - 1)

    def flush(self) -> None:
        """Does nothing, because nothing is durable here."""

    def read(self, record: RecordRef) -> ArchivedResponse:
        """Reads one capture. Raises DamagedError for a record not kept here."""
        if record.file == _FILE and 0 <= record.offset < len(self._kept):
            encoded = self._kept[record.offset]
            if kept := parse_record(isal_zlib.decompress(encoded.data[: encoded.length], 31), record):
                return kept.archived
        raise DamagedError(f"{record.file} holds no record at {record.offset}")

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        """Returns every response kept, in order; memory is never damaged."""
        return iter([self.read(RecordRef(_FILE, place)) for place in range(len(self._kept))])

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        """Returns the records as one file; no warcinfo record comes first, because none was written."""
        parts = [encoded.data for encoded in self._kept]
        return sum(map(len, parts)), iter(parts)

    def close(self) -> None:
        """Does nothing: what was kept can still be read."""
