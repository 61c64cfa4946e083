"""Manages the files of an archive: their names and order, their indexes, and repairs after a kill or damage.

A file with an index is closed: it was written to its end. A kill leaves a file without one: the next writer reads
through it, cuts off its torn tail, and makes the index. A file that was changed after its index was made is read
through as well. If it is damaged, its index stays, because it says what the file held, and a list of the gaps
(`.damaged`) is written beside it, so that this happens only once; `goodbot archive repair` makes the index anew.
"""

import json
import logging
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.archive_values import CUT_OFF, DamagedRange
from goodbot.errors import DamagedError, RunError
from goodbot.store.warc.cdxj import REVISIT, IndexFile, index_entry, index_path
from goodbot.store.warc.moved_note import SUFFIX
from goodbot.store.warc.warc_reader import Member, parse_record, read_member
from goodbot.store.warc.warc_survey import FoundRecord, ReadRecords, survey
from goodbot.values import RecordRef

_LOG: Final = logging.getLogger(__name__)

FILE_NAME = re.compile(r"goodbot-\d{14}-(\d{5,})(?:-[0-9a-f]{8})?\.warc\.gz")
"""The names of files: when the file was begun, its number in the folder, and the writer, if several machines crawl."""

ASIDE = "damaged"
"""The folder within the archive's folder to which repairs move damaged bytes."""

HEAD_BYTES = 32 * 1024
_REQUEST = b"WARC/1.1\r\nWARC-Type: request\r\n"
"""How our request records begin; they are not indexed."""

_PIECE_BYTES = 1024 * 1024
_PLACE = re.compile(rb'"length": "([0-9]{1,15})", "offset": "([0-9]{1,15})"')
MAX_NOTED = 1000
"""Gaps of one file that are noted; every reader of the file finds all of them again."""


def archive_files(folder: Path) -> list[Path]:
    """Returns the files of the archive in the order written, which a clock that was set back does not change. Those
    that were moved have a note instead of a file at their path."""
    here = set(folder.glob("goodbot-*.warc.gz"))
    moved = {path.with_suffix(".warc.gz") for path in folder.glob(f"goodbot-*{SUFFIX}")}  # listed last: see `move`
    return sorted((path for path in here | moved if FILE_NAME.fullmatch(path.name)), key=_serial)


def next_name(folder: Path, now: float, writer: str = "") -> str:
    """Returns the name of a file begun now. `writer` (8 hexadecimal digits) makes the names of several machines
    different."""
    serial = max(map(_serial, archive_files(folder)), default=-1) + 1
    by = f"-{writer}" if writer else ""
    return f"goodbot-{datetime.fromtimestamp(now, UTC):%Y%m%d%H%M%S}-{serial:05}{by}.warc.gz"


def cut_back(folder: Path, name: str, size: int) -> None:
    """Removes what was written to the archive in `folder` after file `name`, then the last, had `size` bytes; an empty
    name: there was no file. Does nothing if another run has written files since. Raises RunError."""
    path = folder / name if name else None
    later = [file for file in archive_files(folder) if path is None or _serial(file) > _serial(path)]
    if any(map(is_settled, later)) or (path is not None and (not path.is_file() or path.stat().st_size < size)):
        return
    try:
        for file in later:
            file.unlink()
        if path is not None and path.stat().st_size > size:
            os.truncate(path, size)
            index_path(path).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"cannot write the archive {folder}: {error.strerror}") from error


def is_settled(path: Path) -> bool:
    """Returns whether the file has an index made after its last byte was written, or was moved with it."""
    try:
        return index_path(path).stat().st_mtime_ns >= _written_at(path)
    except FileNotFoundError:
        return False


def settle(path: Path) -> None:
    """Reads through a file; cuts off its torn tail if it was never closed, and makes the index if nothing is damaged or
    there is none. Takes 13 s per GB. Removes a file that was never closed and has no complete record."""
    known = known_offsets(path)
    gaps: list[DamagedRange] = []
    end = 0
    with path.open("r+b") as file, closing(IndexFile(path)) as index:
        for item in through(file, path.name, known, partial(read_member, keep_bytes=HEAD_BYTES)):
            if isinstance(item, DamagedRange):
                gaps.append(item)
                continue
            record, member = item
            _index_record(index, record, member)
            end = member.end
        size = file.seek(0, 2)
        if known is None and end < size:
            _LOG.warning("%s was not closed: the last %d bytes, a torn record, are cut off", path, size - end)
            file.truncate(end)
            os.fsync(file.fileno())
        if end and not (known is not None and gaps):
            index.save()
    if not end and known is None:
        path.unlink()  # not even its warcinfo record was written; some readers refuse an empty file
    save_damage(path, gaps)


def through(
    file: BinaryIO, name: str, known: Sequence[int] | None, read: ReadRecords
) -> Iterator[FoundRecord | DamagedRange]:
    """Yields every record of a file and every gap. `known`: see `known_offsets`; None if the file was never closed:
    then its torn tail is no gap. Records of the index beyond the end of the file are a gap."""
    end = file.seek(0, 2)
    tail: DamagedRange | None = None
    for item in survey(file, name, read, known or ()):
        if isinstance(item, DamagedRange) and item.end >= end:
            tail = item
        else:
            yield item
    if known is None:
        return
    there = max(known, default=0)
    if there > end:
        tail = DamagedRange(name, tail.start if tail else end, there, f"{CUT_OFF} {end}")
    if tail is not None:
        yield tail


def index_places(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yields offset, length and line of each record in the index of a file; skips lines that cannot be parsed."""
    with index_path(path).open("rb") as lines:
        for line in lines:
            place = _PLACE.search(line)
            if place:
                yield int(place[2]), int(place[1]), line


def index_lines(path: Path) -> int:
    """Returns how many lines the index of a file has, including unreadable ones. Raises OSError."""
    with index_path(path).open("rb") as lines:
        return sum(1 for _ in lines)


def known_offsets(path: Path) -> Sequence[int] | None:
    """Returns where the records in the index of a file begin and end, sorted, 16 bytes for each; None if the file has
    no index, because it was never closed."""
    offsets = array("q")
    try:
        for offset, length, _ in index_places(path):
            offsets.extend((offset, offset + length))
    except FileNotFoundError:
        return None
    return array("q", sorted(offsets))


def damage_path(path: Path) -> Path:
    """Maps `x.warc.gz` to `x.damaged`."""
    return index_path(path).with_suffix(".damaged")


def save_damage(path: Path, gaps: Sequence[DamagedRange]) -> None:
    """Notes the gaps of a file beside it; without gaps, removes the note."""
    note = damage_path(path)
    if not gaps:
        note.unlink(missing_ok=True)
        return
    part = note.with_suffix(".new")
    part.write_text(json.dumps([[gap.start, gap.end, gap.what] for gap in gaps[:MAX_NOTED]]), encoding="utf-8")
    part.replace(note)


def noted_damage(path: Path) -> list[DamagedRange] | None:
    """Returns the gaps noted beside a file since it was last written; None if there is no such note."""
    note = damage_path(path)
    try:
        if note.stat().st_mtime_ns < _written_at(path):
            return None
        return [
            DamagedRange(path.name, int(start), int(end), str(what))
            for start, end, what in json.loads(note.read_bytes())
        ]
    except (FileNotFoundError, ValueError, TypeError):
        return None


def pieces(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """Yields these bytes of a file."""
    while start < end:
        file.seek(start)
        piece = file.read(min(end - start, _PIECE_BYTES))
        if not piece:
            return
        start += len(piece)
        yield piece


def _written_at(path: Path) -> int:
    """Returns when a file was last written, in ns; a moved one is not written any more."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _serial(path: Path) -> int:
    match = FILE_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def _index_record(index: IndexFile, record: RecordRef, member: Member) -> None:
    entry = entry_of(record, member)
    if entry is not None:
        index.add(entry, record.offset, member.end - record.offset)


def entry_of(record: RecordRef, member: Member) -> str | None:
    """Returns the entry of a capture in an index; None for other records. Needs its first `HEAD_BYTES`."""
    if member.data.startswith(_REQUEST):
        return None
    try:
        kept = parse_record(member.data, record, whole=False)
    except DamagedError:
        return None  # a complete member, but no WARC record: readers of the archive report it
    if kept is None:
        return None
    archived = kept.archived
    seconds = f"{datetime.fromtimestamp(int(archived.fetched_at), UTC):%Y%m%d%H%M%S}"
    kind = REVISIT if kept.revisit else archived.response.media_type
    return index_entry(archived.url, seconds, kind, archived.response.status, kept.digest)
