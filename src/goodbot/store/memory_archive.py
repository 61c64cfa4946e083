"""The Archive in memory: what `WarcArchive` does, for tests."""

from collections.abc import Iterator
from dataclasses import replace

from goodbot.errors import DamagedError
from goodbot.values import Archived, Capture, Failure, RecordRef

_FILE = "memory"


class MemoryArchive:
    """Keeps captures in a list; a record's offset is its place in it. There is no bound but memory."""

    def __init__(self) -> None:
        self._kept: list[Archived] = []

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
        """Raises ValueError for a capture that brought no response."""
        response = capture.result
        if isinstance(response, Failure):
            raise ValueError(f"no response to archive: {response.detail}")  # noqa: TRY004 - the port says so
        if headers_only:
            response = replace(response, body=b"", truncated=None)
        record = RecordRef(_FILE, len(self._kept))
        self._kept.append(Archived(capture.request.url, capture.fetched_at, response, record, headers_only))
        return record

    def flush(self) -> None:
        """Nothing is durable here."""

    def read(self, record: RecordRef) -> Archived:
        """Raises DamagedError for a record not kept here."""
        if record.file != _FILE or not 0 <= record.offset < len(self._kept):
            raise DamagedError(f"{record.file} holds no record at {record.offset}")
        return self._kept[record.offset]

    def captures(self) -> Iterator[Archived]:
        """Every response kept, in the order kept."""
        return iter(tuple(self._kept))

    def close(self) -> None:
        """What was kept can still be read."""
