"""The Archive: WARC 1.1 files (ISO 28500:2017), written record by record, one gzip member each."""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from goodbot.errors import DamagedError, RunError
from goodbot.ports import Clock
from goodbot.store.warc_reader import RECORD_LIMIT_BYTES, read_response, responses, whole_length
from goodbot.store.warc_record import common_fields, info_record, record_id, request_record, response_record
from goodbot.values import Archived, Capture, Failure, RecordRef

_FILE_NAME = re.compile(r"goodbot-\d{14}-(\d{5,})\.warc\.gz")
_PENDING_BYTES = 1024 * 1024
_HEAD_ROOM_BYTES = 1024 * 1024


class WarcArchive:
    """Keeps captures in `folder`, in files `goodbot-YYYYMMDDhhmmss-NNNNN.warc.gz`; NNNNN counts them.

    Each run writes files of its own, a new one when the last has `size_limit_bytes`. Opening for writing
    makes the folder, locks it against a second writer, and cuts the torn tail a kill may have left in the
    newest file (which is read once for that: 6 s per GB). Up to 1 MiB of records waits in memory between flushes.
    Raises RunError if the disk refuses; from then on every `put` and `flush` does. Not for several threads.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        software: str,
        *,
        read_only: bool = False,
        size_limit_bytes: int = 1_000_000_000,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._software = software
        self._size_limit_bytes = size_limit_bytes
        self._output: _Output | None = None
        self._refused: RunError | None = None
        self._lock = -1
        if not read_only:
            with self._disk():
                self._open_folder()

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
        """Keeps a response, without its body if `headers_only`; gives the place of the response record.

        Raises ValueError for a capture without response or with one over 63 MiB, and if not open for writing.
        """
        response = capture.result
        if isinstance(response, Failure):
            raise ValueError(f"no response to archive: {response.detail}")  # noqa: TRY004 - the port says so
        if self._lock < 0:
            raise ValueError(f"the archive {self._folder} is not open for writing")
        if len(response.body) > RECORD_LIMIT_BYTES - _HEAD_ROOM_BYTES:
            raise ValueError(f"a body of {len(response.body)} bytes is too long for the archive")
        with self._disk():
            output = self._current_output()
            response_id = record_id()
            common = common_fields(capture, output.info_id)
            offset = output.append(response_record(capture, response, response_id, common, headers_only))
            if capture.request_head:
                output.append(request_record(capture.request_head, response_id, common))
        return RecordRef(output.name, offset)

    def flush(self) -> None:
        """All records put are on disk when it returns."""
        with self._disk():
            if self._output:
                self._output.flush()

    def read(self, record: RecordRef) -> Archived:
        """Raises DamagedError, naming file and offset, if there is no whole response record."""
        if not _FILE_NAME.fullmatch(record.file) or record.offset < 0:
            raise DamagedError(f"{record.file!r} at {record.offset} is no record of the archive {self._folder}")
        with self._reading(), (self._folder / record.file).open("rb") as file:
            return read_response(file, record)

    def captures(self) -> Iterator[Archived]:
        """Every response kept, in the order kept, one in memory at a time; what is half written is left out.

        May be used while another process writes. Raises DamagedError, naming file and offset, at damage.
        """
        with self._reading():
            for path in _files(self._folder):
                with path.open("rb") as file:
                    yield from responses(file, path.name)

    def close(self) -> None:
        """Flushes, and lets another writer in. Nothing more can be put."""
        try:
            if self._output and not self._refused:
                self.flush()
        finally:
            if self._output:
                self._output.close()
                self._output = None
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def _open_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system frees it when the process ends
            for newest in _files(self._folder)[-1:]:
                _cut_torn_tail(newest)
        except OSError:
            os.close(self._lock)
            self._lock = -1
            raise

    def _current_output(self) -> "_Output":
        if self._output and self._output.end >= self._size_limit_bytes:
            self._output.flush()
            self._output.close()
            self._output = None
        if self._output is None:
            now = self._clock.now()
            name = _next_name(self._folder, now)
            self._output = _Output(self._folder / name, self._lock)
            self._output.append(info_record(name, now, self._software, self._output.info_id))
        return self._output

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Once the disk has refused, it is not asked again: after a failed fsync the system may have dropped
        what was written and call the next fsync a success."""
        if self._refused:
            raise self._refused
        try:
            yield
        except BlockingIOError as error:
            raise RunError(f"another crawl is writing to {self._folder}") from error
        except OSError as error:
            self._refused = RunError(f"cannot write the archive {self._folder}: {error.strerror}")
            raise self._refused from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self._output and not self._refused:
            with self._disk():
                self._output.write_out()
        try:
            yield
        except FileNotFoundError as error:
            raise DamagedError(f"{error.filename} is missing from the archive") from error
        except OSError as error:
            raise RunError(f"cannot read the archive {self._folder}: {error.strerror}") from error


class _Output:
    """One file being written; `info_id` names its warcinfo record."""

    def __init__(self, path: Path, folder: int) -> None:
        self.name = path.name
        self.info_id = record_id()
        self._folder = folder
        self._file = path.open("xb", buffering=0)
        self._new = True
        self._safe_bytes = 0
        self._written_bytes = 0
        self._pending = bytearray()

    @property
    def end(self) -> int:
        """Where the next member goes: the length of the file with what waits in memory."""
        return self._written_bytes + len(self._pending)

    def append(self, member: bytes) -> int:
        """Gives the offset of the member."""
        offset = self.end
        self._pending += member
        if len(self._pending) >= _PENDING_BYTES:
            self.write_out()
        return offset

    def write_out(self) -> None:
        """Each byte has its place, so that a write interrupted by a signal may be done again."""
        while self._pending:
            count = os.pwrite(self._file.fileno(), self._pending, self._written_bytes)
            self._written_bytes, self._pending = self._written_bytes + count, self._pending[count:]

    def flush(self) -> None:
        self.write_out()
        if self._safe_bytes < self._written_bytes:
            os.fsync(self._file.fileno())
            self._safe_bytes = self._written_bytes
        if self._new:
            os.fsync(self._folder)
            self._new = False

    def close(self) -> None:
        self._file.close()


# ---- files -------------------------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    """The files of the archive in the order written, which a clock set back does not change."""
    return sorted((path for path in folder.glob("goodbot-*.warc.gz") if _FILE_NAME.fullmatch(path.name)), key=_serial)


def _next_name(folder: Path, now: float) -> str:
    serial = max(map(_serial, _files(folder)), default=-1) + 1
    return f"goodbot-{datetime.fromtimestamp(now, UTC):%Y%m%d%H%M%S}-{serial:05}.warc.gz"


def _serial(path: Path) -> int:
    match = _FILE_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def _cut_torn_tail(path: Path) -> None:
    with path.open("r+b") as file:
        length = whole_length(file, path.name)
        if length < file.seek(0, 2):
            file.truncate(length)
            os.fsync(file.fileno())
    if length == 0:
        path.unlink()  # not even its warcinfo record was written; some readers refuse an empty file
