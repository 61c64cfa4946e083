"""The files of an archive: their names and order, where a kill has left one torn, and the index beside each.

A file is settled when its index is not older than it: both are whole. One that a kill has left is looked through by
the next writer, once: its torn tail is cut off, and its index is made anew. A damaged one is looked through each time.
"""

import os
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from goodbot.errors import DamagedError
from goodbot.store.cdxj import REVISIT, IndexFile, index_entry, index_path
from goodbot.store.warc_reader import Member, members, parse_record, torn_at
from goodbot.values import RecordRef

FILE_NAME = re.compile(r"goodbot-\d{14}-(\d{5,})\.warc\.gz")

_HEAD_BYTES = 32 * 1024
_REQUEST = b"WARC/1.1\r\nWARC-Type: request\r\n"
"""How our request records begin; they are not indexed."""

_PIECE_BYTES = 1024 * 1024


def archive_files(folder: Path) -> list[Path]:
    """The files of the archive in the order written, which a clock set back does not change."""
    return sorted((path for path in folder.glob("goodbot-*.warc.gz") if FILE_NAME.fullmatch(path.name)), key=_serial)


def next_name(folder: Path, now: float) -> str:
    """The name of a file begun now."""
    serial = max(map(_serial, archive_files(folder)), default=-1) + 1
    return f"goodbot-{datetime.fromtimestamp(now, UTC):%Y%m%d%H%M%S}-{serial:05}.warc.gz"


def is_settled(path: Path) -> bool:
    """Whether the file has an index made after its last byte was written."""
    try:
        return index_path(path).stat().st_mtime_ns >= path.stat().st_mtime_ns
    except FileNotFoundError:
        return False


def settle(path: Path) -> str | None:
    """Cuts the torn tail off, and makes the index, which ends at damage before other members; gives what that damage
    is. Reads the file once: 13 s per GB. A file without a whole member is removed."""
    with path.open("r+b") as file, closing(IndexFile(path)) as index:
        end, damage = _end_of_whole(file, path.name, index)
        if end < file.seek(0, 2):
            file.truncate(end)
            os.fsync(file.fileno())
        if end:
            index.save()
            if damage:
                os.utime(index_path(path), (0, 0))  # never settled: what lies behind is not in the index
    if not end:
        path.unlink()  # not even its warcinfo record was written; some readers refuse an empty file
    return damage


def whole_bytes(path: Path) -> int:
    """How long the file is without a torn tail; one being written is read through for it."""
    if is_settled(path):
        return path.stat().st_size
    with path.open("rb") as file:
        return _end_of_whole(file, path.name, None)[0]


def pieces(path: Path, length: int) -> Iterator[bytes]:
    """The first `length` bytes of a file."""
    with path.open("rb") as file:
        while length > 0 and (piece := file.read(min(length, _PIECE_BYTES))):
            length -= len(piece)
            yield piece


def _serial(path: Path) -> int:
    match = FILE_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def _end_of_whole(file: BinaryIO, name: str, index: IndexFile | None) -> tuple[int, str | None]:
    """Where the torn tail begins, and the damage that is none because whole members follow."""
    end = 0
    try:
        for record, member in members(file, name, _HEAD_BYTES if index else 0):
            if index:
                _enter(index, record, member)
            end = member.end
    except DamagedError as error:
        torn = torn_at(file, end)
        return torn, None if torn == end else str(error)
    return end, None


def _enter(index: IndexFile, record: RecordRef, member: Member) -> None:
    if member.data.startswith(_REQUEST):
        return
    try:
        kept = parse_record(member.data, record, whole=False)
    except DamagedError:
        return  # whole, but no WARC record: whoever reads the archive is told
    if kept is None:
        return
    archived = kept.archived
    seconds = f"{datetime.fromtimestamp(int(archived.fetched_at), UTC):%Y%m%d%H%M%S}"
    kind = REVISIT if kept.revisit else archived.response.media_type
    entry = index_entry(archived.url, seconds, kind, archived.response.status, kept.digest)
    index.add(entry, record.offset, member.end - record.offset)
