"""Finds every record of a WARC file, even of a damaged one: unreadable bytes become a `DamagedRange`, and reading goes
on.

After a gap, reading continues where the damaged member ends, if its data can still be decompressed. Otherwise it
continues at the next bytes that look like the beginning of a record, or at the next record in the index of the file,
whichever comes first. The content of a page cannot look like this, because our writer compresses every page.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, Final

from isal import isal_zlib

from goodbot.archive_values import ArchivedResponse, DamagedRange
from goodbot.errors import DamagedError
from goodbot.store.warc.warc_reader import (
    MEMBER_START,
    KeptHead,
    Member,
    damage,
    parse_record,
    with_payload,
)
from goodbot.values import RecordRef

ReadRecords = Callable[[BinaryIO, RecordRef], Member | None]
FoundRecord = tuple[RecordRef, Member]

_PIECE_BYTES: Final = 1024 * 1024
_TRIAL_BYTES: Final = 1024
"""Enough for the first data of a member: the codes of a block take up to 300 bytes (RFC 1951 §3.2.7)."""
_VERSION: Final = b"WARC/1."
_HEADER_BYTES: Final = 10
_TRAILER_BYTES: Final = 8
_MAX_SPENT_BYTES: Final = 64 * 1024 * 1024
_SPENT_PER_BYTE: Final = 16
"""Limits the reading at places that hold no record, so that forged bytes do not take quadratic time."""


def survey(
    file: BinaryIO, name: str, read: ReadRecords, known: Sequence[int] = ()
) -> Iterator[FoundRecord | DamagedRange]:
    """Yields every record of a file and every gap, in order. `read` is `read_member` or reads less; `known`: sorted
    offsets at which records begin or end. Raises OSError.

    The last gap extends to the end of the file, which may be torn. Takes time linear in the file, and the memory of
    `read`.
    """
    end = file.seek(0, 2)
    place = 0
    gap: _OpenGap | None = None
    while place < end:
        record = RecordRef(name, place)
        try:
            member = read(file, record)
            what = "the file ends within the record"
        except DamagedError as error:
            member, what = None, reason(error, record)
        if member is not None:
            if gap is not None:
                yield DamagedRange(name, gap.start, place, gap.what)
                gap = None
            yield record, member
            place = member.end
            continue
        if gap is None:
            gap = _OpenGap(place, what, known)
        gap.spent += file.tell() - place
        found = _next_place(file, place, gap)
        if found is None:
            break
        place = found
    if gap is not None:
        yield DamagedRange(name, gap.start, end, gap.what)


def responses(
    file: BinaryIO, items: Iterable[FoundRecord | DamagedRange], lost: Callable[[DamagedRange], object]
) -> Iterator[ArchivedResponse]:
    """Yields the captures among what `survey` found in a file with `read_member`, in order, one in memory at a time;
    calls `lost` with what cannot be read."""
    for item in items:
        if isinstance(item, DamagedRange):
            lost(item)
            continue
        record, member = item
        try:
            kept: KeptHead | None = parse_record(member.data, record)
            archived = with_payload(file, kept) if kept else None
        except DamagedError as error:
            lost(DamagedRange(record.file, record.offset, member.end, reason(error, record)))
            continue
        if archived is not None:
            yield archived


def reason(error: DamagedError, record: RecordRef) -> str:
    """Returns what an error says about a record, without the place."""
    return str(error).removeprefix(str(damage(record, "")))


class _OpenGap:
    """A gap whose end is not found yet."""

    def __init__(self, start: int, what: str, known: Sequence[int]) -> None:
        self.start = start
        self.what = what
        self.known = known
        self.spent = 0


def _next_place(file: BinaryIO, place: int, gap: _OpenGap) -> int | None:
    """Returns where reading goes on after `place`, at which there is no record; None: nowhere."""
    after = bisect_right(gap.known, place)
    indexed = gap.known[after] if after < len(gap.known) else None
    ended = _stream_end(file, place) if gap.start == place else None
    gap.spent += file.tell() - place if gap.start == place else 0
    if ended is not None and (indexed is None or ended <= indexed) and _begins(file, ended):
        return ended
    return _search(file, place + 1, indexed, gap)


def _stream_end(file: BinaryIO, place: int) -> int | None:
    """Returns where a member ends whose data can be decompressed but fails its checksum."""
    file.seek(place)
    if not file.read(_HEADER_BYTES).startswith(MEMBER_START):
        return None
    inflater = isal_zlib.decompressobj(-15)
    size, most = 0, _MAX_SPENT_BYTES
    while not inflater.eof and size < most:
        packed = inflater.unconsumed_tail or file.read(_PIECE_BYTES)
        try:
            part = inflater.decompress(packed, _PIECE_BYTES)
        except isal_zlib.error:  # type: ignore[misc]  # isal declares its error class as an instance
            return None
        if not packed and not part:
            return None
        size += len(part)
    return file.tell() - len(inflater.unused_data) + _TRAILER_BYTES if inflater.eof else None


def _search(file: BinaryIO, start: int, end: int | None, gap: _OpenGap) -> int | None:
    """Returns the first place from `start` on at which a record seems to begin, within the limit of reading; `end` if
    there is none before it."""
    for found in _candidates(file, start, end):
        if gap.spent <= _MAX_SPENT_BYTES + _SPENT_PER_BYTE * (found - gap.start) and _begins(file, found):
            return found
    return end


def _candidates(file: BinaryIO, start: int, end: int | None) -> Iterator[int]:
    overlap = len(MEMBER_START) - 1
    while end is None or start < end:
        file.seek(start)
        piece = file.read(_PIECE_BYTES)
        at = piece.find(MEMBER_START)
        while at >= 0 and (end is None or start + at < end):
            yield start + at
            at = piece.find(MEMBER_START, at + 1)
        if len(piece) <= overlap:
            return
        start += len(piece) - overlap


def _begins(file: BinaryIO, place: int) -> bool:
    file.seek(place)
    try:
        return isal_zlib.decompressobj(31).decompress(file.read(_TRIAL_BYTES), len(_VERSION)) == _VERSION
    except isal_zlib.error:  # type: ignore[misc]  # as above
        return False
