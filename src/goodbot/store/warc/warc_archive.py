"""Keeps the archive in WARC 1.1 files (ISO 28500:2017), one gzip member per record, with a CDXJ index beside each."""

import fcntl
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from goodbot.archive_values import FILE_MISSING, ArchivedResponse, DamagedRange, EncodedRecords
from goodbot.errors import DamagedError, RunError
from goodbot.places.opening import open_place
from goodbot.ports import Clock
from goodbot.store.warc.archive_files import ArchiveFiles, PlaceOpener, find_note
from goodbot.store.warc.warc_check import FileCheck, check_file, check_missing, repair_file
from goodbot.store.warc.warc_files import (
    FILE_NAME,
    HEAD_BYTES,
    entry_of,
    is_settled,
    known_offsets,
    next_name,
    noted_damage,
    pieces,
    settle,
    through,
)
from goodbot.store.warc.warc_forget import Removed, forget_host
from goodbot.store.warc.warc_mover import WarcMover, Watch
from goodbot.store.warc.warc_output import WarcOutput
from goodbot.store.warc.warc_reader import read_member, read_response
from goodbot.store.warc.warc_record import encode_capture, info_record
from goodbot.store.warc.warc_survey import responses
from goodbot.values import Capture, RecordRef

_LOG: Final = logging.getLogger(__name__)


class KeptRecord(NamedTuple):
    """A record as it is kept: `length` bytes, which `pieces` yields. `entry`: of a capture, as in the index of its
    file; None for other records."""

    length: int
    entry: str | None
    pieces: Iterator[bytes]


class WarcArchive:
    """Keeps captures in `folder`, in files `goodbot-YYYYMMDDhhmmss-NNNNN.warc.gz`; NNNNN counts them.

    Each run writes files of its own, and a new one when the last has reached `size_limit_bytes`. The index of a file is
    written when the file is finished. Opening for writing makes the folder, locks it against a second writer, and
    settles files that a kill has left (see `warc_files`); `damage` lists the damage found then or before. Up to 1 MiB
    of records waits in memory between flushes. Raises RunError after a disk error; from then on every `put`, `append`
    and `flush` does. Not thread-safe.

    `move_to` is the URL of a place: a finished file is moved there by `mover`. Moved files are read and changed like
    the others, whether or not files are moved now (see `archive_files`)."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        software: str,
        *,
        read_only: bool = False,
        size_limit_bytes: int = 1_000_000_000,
        writer: str = "",
        move_to: str | None = None,
        opener: PlaceOpener = open_place,
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._clock = clock
        self._software = software
        self._size_limit_bytes = size_limit_bytes
        self._output: WarcOutput | None = None
        self._refused: RunError | None = None
        self._lock = -1
        self._files = ArchiveFiles(folder, move_to, opener)
        self.damage: list[DamagedRange] = []
        self.mover: WarcMover | None = None
        if not read_only:
            with self._disk():
                self._open_folder()
            if move_to is not None:
                self.mover = WarcMover(folder, partial(ArchiveFiles, folder, move_to, opener), move_to)
                self.mover.start()

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
        """Keeps a response, without its body if `headers_only`; returns the place of the response record.

        Raises ValueError for a capture without response, and if not open for writing.
        """
        return self.append(encode_capture(capture, headers_only))

    def append(self, encoded: EncodedRecords) -> RecordRef:
        """Keeps the result of `encode_capture`. Raises ValueError if not open for writing."""
        if self._lock < 0:
            raise ValueError(f"the archive {self._folder} is not open for writing")
        if self._refused:
            raise self._refused
        try:
            output = self._current_output()
            return RecordRef(output.name, output.append(encoded))
        except OSError as error:
            raise self._refusal(error) from error

    def flush(self) -> None:
        """Writes all records to disk, and returns when they are there."""
        with self._disk():
            if self._output:
                self._output.flush()

    def written_to(self) -> tuple[str, int]:
        """Returns the name and length of the file written last; an empty name if there is none."""
        if self._output:
            return self._output.name, self._output.end
        paths = self._files.paths()
        return (paths[-1].name, self._files.size(paths[-1])) if paths else ("", 0)

    def read(self, record: RecordRef) -> ArchivedResponse:
        """Reads one capture. Raises DamagedError, naming file and offset, if there is no complete response record."""
        if not FILE_NAME.fullmatch(record.file) or record.offset < 0:
            raise DamagedError(f"{record.file!r} at {record.offset} is no record of the archive {self._folder}")
        with self._reading(), self._files.open(self._folder / record.file) as file:
            return read_response(file, record)

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        """Yields every response kept, in order, one in memory at a time; leaves out a half-written end.

        May be used while another process writes. `lost` is called with each damaged range; reading goes on after it.
        """
        with self._reading():
            for path, file in self._each(self._files.paths(), lost or _log_skipped):
                known = known_offsets(path)
                yield from responses(file, through(file, path.name, known, read_member), lost or _log_skipped)

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        """Returns the total size, and the bytes of all files joined, without a half-written end. `lost` is called with
        each damaged range, which is left out as well; then the bytes are fewer than the size."""
        with self._reading():
            sizes = self._sizes()
            return sum(sizes.values()), self._pieces(list(sizes), lost or _log_skipped)

    def records(self, lost: Callable[[DamagedRange], object]) -> Iterator[tuple[str, Iterator[KeptRecord]]]:
        """Yields the name of each file with its records, which must be read before the next name. `lost` is called with
        each damaged range, which is left out."""
        with self._reading():
            for path, file in self._each(self._files.paths(), lost):
                yield path.name, _records(path, file, lost)

    def _pieces(self, files: list[Path], lost: Callable[[DamagedRange], object]) -> Iterator[bytes]:
        with self._reading():
            for path, file in self._each(files, lost):
                for item in through(file, path.name, known_offsets(path), partial(read_member, keep_bytes=0)):
                    if isinstance(item, DamagedRange):
                        lost(item)
                    else:
                        yield from pieces(file, item[0].offset, item[1].end)

    def check(self, report_progress: Callable[[int, int], object]) -> Iterator[FileCheck]:
        """Reads every file completely; calls `report_progress` with the bytes done and their total."""
        with self._reading():
            sizes = self._sizes()
            size, done = sum(sizes.values()), 0
            for path, length in sizes.items():
                gone: list[DamagedRange] = []
                for _, file in self._each([path], gone.append):
                    yield check_file(path, file, partial(_report_total, report_progress, done, size))
                if gone:
                    yield check_missing(path, gone[0].what)
                done += length

    def repair(self, file: FileCheck) -> None:
        """Repairs a file that is not sound. Raises ValueError if not open for writing."""
        if self._lock < 0:
            raise ValueError(f"the archive {self._folder} is not open for writing")
        with self._disk(), self._mover_paused():
            self._repair(file)
        _LOG.info("%s is repaired", file.path)

    def missing(self, last: Mapping[str, int]) -> list[DamagedRange]:
        """Returns what is missing of files that should have a record at an offset (`last`), judged by their length."""
        with self._reading():
            sizes = {path.name: size for path, size in self._sizes().items()}
        short = ((name, offset) for name, offset in last.items() if sizes.get(name, -1) <= offset)
        return [
            DamagedRange(name, sizes.get(name, 0), offset, _missing_reason(name in sizes)) for name, offset in short
        ]

    def forget(self, host: str) -> Removed:
        """Removes the captures of a host (`Url.host_key`) from every file. All other records stay where they are.
        Damaged bytes in a file that may hold some of the host are removed too. Raises ValueError if not open for
        writing."""
        if self._lock < 0:
            raise ValueError(f"the archive {self._folder} is not open for writing")
        with self._disk(), self._mover_paused():
            self._finish_file()
            removed = forget_host(self._files, host)
        _LOG.info("removed %d captures of %s from %s", removed.captures, host, self._folder)
        return removed

    def move_rest(self, watch: Watch, is_stopped: Callable[[], bool]) -> str | None:
        """Closes the file that is being written, and waits until all files are moved, if they are moved at all. Returns
        a line that says what stays here, if the place is away or if `is_stopped`; else None."""
        if self.mover is None:
            return None
        if is_stopped():
            self.mover.close()
        with self._disk():
            self._finish_file()
        return self.mover.move_rest(watch, is_stopped)

    def close(self) -> None:
        """Flushes, writes the index, and unlocks the folder for another writer. Nothing more can be kept. What is not
        moved yet stays in the folder."""
        try:
            if self.mover:
                self.mover.close()
            if self._output and not self._refused:
                with self._disk():
                    self._output.finish()
        finally:
            if self._output:
                self._output.close()
                self._output = None
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1
            self._files.close()

    def _open_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system frees it when the process ends
            for draft in self._folder.glob("*.warc.gz.new"):
                draft.unlink()
            for path in self._files.paths():
                noted = noted_damage(path)
                if noted is None and path.exists() and not is_settled(path):
                    settle(path)
                    noted = noted_damage(path)
                self.damage += noted or ()
                if noted:
                    _LOG.error("%s is damaged in %d places: goodbot archive check names them", path, len(noted))
        except OSError:
            os.close(self._lock)
            self._lock = -1
            raise

    def _current_output(self) -> WarcOutput:
        if self._output and self._output.end >= self._size_limit_bytes:
            self._finish_file()
        if self._output is None:
            now = self._clock.now()
            name = next_name(self._folder, now, self._writer)
            self._output = WarcOutput(self._folder / name, self._lock, info_record(name, now, self._software))
            _LOG.info("new archive file %s", self._folder / name)
        return self._output

    def _finish_file(self) -> None:
        if self._output:
            self._output.finish()
            self._output.close()
            self._output = None
        if self.mover:
            self.mover.wake()

    def _repair(self, check: FileCheck) -> None:
        path = check.path
        note = find_note(path)
        if not path.exists() and not self._files.fetch(path):
            return
        if note is not None:
            self._files.distrust(path, note)
        repair_file(path, check.gaps)
        if note is not None:
            self._files.move_back(path, note)

    def _mover_paused(self) -> AbstractContextManager[None]:
        return self.mover.paused() if self.mover else nullcontext()

    def _sizes(self) -> dict[Path, int]:
        """Returns the files in the order written, with their lengths; 0 if that is not known."""
        sizes = {}
        for path in self._files.paths():
            try:
                sizes[path] = self._files.size(path)
            except DamagedError:  # of the note: whoever opens the file reports it
                sizes[path] = 0
        return sizes

    def _each(self, paths: Iterable[Path], lost: Callable[[DamagedRange], object]) -> Iterator[tuple[Path, BinaryIO]]:
        """Yields these files, opened to be read through. Calls `lost` with a moved one that is not at its place."""
        for path in paths:
            try:
                with self._files.open(path, all_of_it=True) as file:
                    file.read(1)
                    yield path, file
            except FileNotFoundError:
                lost(DamagedRange(path.name, 0, self._files.size(path), FILE_MISSING))
            except DamagedError as error:
                lost(DamagedRange(path.name, 0, 0, str(error)))

    @contextmanager
    def _disk(self) -> Iterator[None]:
        if self._refused:
            raise self._refused
        try:
            yield
        except BlockingIOError as error:
            raise RunError(f"another crawl is writing to {self._folder}") from error
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> RunError:
        """Remembers the disk error and makes it final: after a failed fsync the system may have dropped what was
        written, and report the next fsync as a success."""
        self._refused = RunError(f"cannot write the archive {self._folder}: {error.strerror}")
        return self._refused

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


def _records(path: Path, file: BinaryIO, lost: Callable[[DamagedRange], object]) -> Iterator[KeptRecord]:
    for item in through(file, path.name, known_offsets(path), partial(read_member, keep_bytes=HEAD_BYTES)):
        if isinstance(item, DamagedRange):
            lost(item)
            continue
        record, member = item
        yield KeptRecord(member.end - record.offset, entry_of(record, member), pieces(file, record.offset, member.end))


def _report_total(report_progress: Callable[[int, int], object], before: int, size: int, count: int) -> None:
    report_progress(before + count, size)


def _missing_reason(there: bool) -> str:
    return "the file is too short" if there else FILE_MISSING


def _log_skipped(gap: DamagedRange) -> None:
    """Logs damage, for callers that do not ask about it."""
    _LOG.warning("%s: %d bytes from offset %d on are skipped: %s", gap.file, gap.end - gap.start, gap.start, gap.what)
