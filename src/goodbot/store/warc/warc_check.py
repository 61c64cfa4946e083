"""Checks every record of a WARC file, and repairs a damaged file."""

import os
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError
from goodbot.store.warc.cdxj import index_path
from goodbot.store.warc.warc_files import (
    ASIDE,
    index_lines,
    index_places,
    known_offsets,
    noted_damage,
    pieces,
    settle,
    through,
)
from goodbot.store.warc.warc_filler import LEAST_BYTES, fill
from goodbot.store.warc.warc_reader import KeptHead, Member, damage, moved_to, parse_record, read_member
from goodbot.store.warc.warc_record import digest_text
from goodbot.store.warc.warc_survey import reason
from goodbot.values import RecordRef

_HEAD_BYTES: Final = 64 * 1024
_ENDING: Final = b"\r\n\r\n"
_STATED: Final = b"warc-block-digest: sha1:"


class _Hash(Protocol):
    def update(self, data: memoryview, /) -> None: ...

    def digest(self) -> bytes: ...


@dataclass(slots=True)
class FileCheck:
    """The result of checking a WARC file.

    `captures`: the sorted offsets of readable captures, 8 bytes each; `lost`: how many more its index lists;
    `index_is_true`: the index, if there is one, lists exactly these captures."""

    path: Path
    size: int = 0
    records: int = 0
    captures: "array[int]" = field(default_factory=lambda: array("q"))
    gaps: list[DamagedRange] = field(default_factory=list)
    lost: int = 0
    index_is_true: bool = True

    @property
    def is_sound(self) -> bool:
        return not (self.gaps or self.lost) and self.index_is_true

    def has(self, offset: int) -> bool:
        """Returns whether a capture can be read there."""
        place = bisect_left(self.captures, offset)
        return place < len(self.captures) and self.captures[place] == offset


def check_file(path: Path, file: BinaryIO, report_progress: Callable[[int], object]) -> FileCheck:
    """Checks a whole file: the checksum of every member, the digest of every record, and whether its index agrees.
    `file` is the file, which may have been moved from `path`. Calls `report_progress` with the bytes done. A torn end
    of a file that was never closed is no damage. Raises OSError."""
    check = FileCheck(path)
    known = known_offsets(path)
    seen = _Captures()
    check.size = file.seek(0, 2)
    for item in through(file, path.name, known, _read_checked):
        if isinstance(item, DamagedRange):
            check.gaps.append(item)
            report_progress(item.end)
            continue
        record, member = item
        check.records += 1
        try:
            seen.add(record, member)
        except DamagedError as error:
            check.gaps.append(DamagedRange(path.name, record.offset, member.end, reason(error, record)))
        report_progress(member.end)
    check.captures = seen.offsets()
    if known is not None:
        _compare_index(check, seen.in_place)
    return check


def check_missing(path: Path, what: str) -> FileCheck:
    """Returns the result for a file that was moved and cannot be found; `what` says why."""
    try:
        lost = sum(1 for _ in index_places(path))
    except FileNotFoundError:
        lost = 0
    return FileCheck(path, gaps=[DamagedRange(path.name, 0, 0, what)], lost=lost)


def repair_file(path: Path, gaps: Sequence[DamagedRange]) -> None:
    """Moves damaged bytes aside, puts empty records in their place, cuts off a damaged end, and rebuilds the index.
    Every readable record stays where it is. Needs space for a copy of the file. Raises OSError."""
    size = path.stat().st_size
    there = [gap for gap in gaps if gap.start < size and gap.end - gap.start >= LEAST_BYTES]
    if there:
        draft = path.with_name(path.name + ".new")
        shutil.copyfile(path, draft)
        with path.open("rb") as file, draft.open("r+b") as new:
            for gap in there:
                end = min(gap.end, size)
                _put_aside(file, path, gap.start, end)
                if end == size:
                    new.truncate(gap.start)
                else:
                    fill(new, gap.start, end)
            new.flush()
            os.fsync(new.fileno())
        draft.replace(path)
    index_path(path).unlink(missing_ok=True)
    settle(path)


class _Captures:
    """The readable captures of one file. `in_place`: the length of each capture by its offset."""

    def __init__(self) -> None:
        self.in_place: dict[int, int] = {}
        self._payloads: dict[int, str] = {}
        self._moved: list[tuple[int, int]] = []

    def add(self, record: RecordRef, member: Member) -> None:
        """Adds a record. Raises DamagedError if it refers to a payload that is not there."""
        kept = parse_record(member.data, record, whole=False)
        if kept is None:
            place = moved_to(member)
            if place is not None and place > record.offset:
                self._moved.append((record.offset, place))
            return
        self._check_payload(kept, record)
        self.in_place[record.offset] = member.end - record.offset

    def _check_payload(self, kept: KeptHead, record: RecordRef) -> None:
        if kept.original is None:
            if kept.digest is not None:
                self._payloads[record.offset] = kept.digest
            return
        here = kept.original.file == record.file
        if not here or kept.digest is None or self._payloads.get(kept.original.offset) != kept.digest:
            raise damage(record, f"it repeats a record at {kept.original.offset} that cannot be read")

    def offsets(self) -> "array[int]":
        """Returns the offsets of captures in place, and of those whose content is elsewhere in the file now."""
        found = set(self.in_place)
        found.update(offset for offset, place in reversed(self._moved) if place in found)
        return array("q", sorted(found))


def _compare_index(check: FileCheck, in_place: dict[int, int]) -> None:
    there = {offset: length for offset, length, _ in index_places(check.path)}
    if check.gaps:
        check.lost = len(there.keys() - in_place.keys())
    else:
        check.index_is_true = (
            there == in_place and len(there) == index_lines(check.path) and noted_damage(check.path) is None
        )


def _put_aside(file: BinaryIO, path: Path, start: int, end: int) -> None:
    aside = path.parent / ASIDE
    aside.mkdir(exist_ok=True)
    with (aside / f"{path.name}-{start}-{end}").open("wb") as copy:
        for piece in pieces(file, start, end):
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())


def _read_checked(file: BinaryIO, record: RecordRef) -> Member | None:
    """Reads the beginning of a record, and compares its digest, if it has one, with its block."""
    block = _Block()
    member = read_member(file, record, _HEAD_BYTES, block.feed)
    if member is not None and not block.agrees():
        raise damage(record, "its digest does not match")
    return member


class _Block:
    """Computes the digest of a record's block, which comes in parts."""

    def __init__(self) -> None:
        self._head = b""
        self._state: _Hash | None = None
        self._rest = b""

    def feed(self, part: bytes) -> None:
        if self._state is None:
            self._head += part
            head, ending, part = self._head.partition(_ENDING)
            if not ending:
                return
            self._head, self._state = head, sha1(usedforsecurity=False)
        data = self._rest + part
        self._state.update(memoryview(data)[: -len(_ENDING)])
        self._rest = data[-len(_ENDING) :]

    def agrees(self) -> bool:
        stated = next((line for line in self._head.split(b"\r\n") if line.lower().startswith(_STATED)), None)
        if stated is None or self._state is None:
            return True
        return stated[len(_STATED) :].strip() == digest_text(self._state.digest())[len("sha1:") :].encode()
