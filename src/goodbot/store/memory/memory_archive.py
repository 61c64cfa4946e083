"""The Archive in memory: what `WarcArchive` does, for tests."""

from collections.abc import Callable, Iterator

from isal import isal_zlib

from goodbot.archive_values import ArchivedResponse, DamagedRange, EncodedRecords
from goodbot.errors import DamagedError
from goodbot.store.warc.warc_reader import parse_record
from goodbot.store.warc.warc_record import encode_capture
from goodbot.values import Capture, RecordRef

_FILE = "memory"


class MemoryArchive:
    """Keeps records in a list; a record's offset is its place in it. There is no bound but memory."""

    def __init__(self) -> None:
        self._kept: list[EncodedRecords] = []

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
        """Raises ValueError for a capture that brought no response."""
        return self.append(encode_capture(capture, headers_only))

    def append(self, encoded: EncodedRecords) -> RecordRef:
        """Keeps what `encode_capture` gave."""
        self._kept.append(encoded)
        return RecordRef(_FILE, len(self._kept) - 1)

    def flush(self) -> None:
        """Nothing is durable here."""

    def read(self, record: RecordRef) -> ArchivedResponse:
        """Raises DamagedError for a record not kept here."""
        if record.file == _FILE and 0 <= record.offset < len(self._kept):
            encoded = self._kept[record.offset]
            if kept := parse_record(isal_zlib.decompress(encoded.data[: encoded.length], 31), record):
                return kept.archived
        raise DamagedError(f"{record.file} holds no record at {record.offset}")

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        """Every response kept, in the order kept; memory is never damaged."""
        return iter([self.read(RecordRef(_FILE, place)) for place in range(len(self._kept))])

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        """The records as one file; no warcinfo record comes first, as none was written."""
        parts = [encoded.data for encoded in self._kept]
        return sum(map(len, parts)), iter(parts)

    def close(self) -> None:
        """What was kept can still be read."""
