"""Reads the records of a WARC file that another program wrote, whatever is wrong with them.

A record whose stated length is wrong ends where the next record begins, if that can be seen. Bytes that are not
a record are skipped up to the next record. Memory: the fields of a record and what is kept of its block. Time: linear
in the decompressed bytes.
"""

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterator
from typing import Final

from goodbot.store.foreign.foreign_values import RawRecord
from goodbot.store.foreign.unpacking import RECORD_START, UnpackedStream

MAX_HEAD_BYTES: Final = 256 * 1024
"""The fields of a record must end within these bytes."""
MAX_BARREN_BYTES: Final = 1 << 30
"""Reading stops after this many decompressed bytes without a record: the file is a decompression bomb, or not a WARC
file."""

_PART_BYTES: Final = 64 * 1024
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_NEXT: Final = re.compile(rb"WARC/[01]\.[0-9]{1,2}[ \t]{0,8}\r?\n[A-Za-z-]{1,40}[ \t]{0,8}:")
_NEXT_BYTES: Final = 72
"""The bytes at which a record is recognized, and more."""
_WITHIN: Final = re.compile(rb"\r?\n\r?\n(?=" + _NEXT.pattern + rb")")
_WRONG_LENGTH: Final = "a record states a wrong length"
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_HASHES: Final = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "md5": hashlib.md5, "sha512": hashlib.sha512}


class BarrenError(Exception):
    """The file has too much data without a record."""


def read_records(stream: UnpackedStream, most_bytes: int) -> Iterator[RawRecord]:
    """Yields every record, with up to `most_bytes` of its block, and each stretch of other bytes as a record without
    fields whose `damage` says what is wrong. May raise OSError, BarrenError."""
    while True:
        _skip_blank(stream)
        at = stream.raw_offset
        if tear := stream.cross():
            yield RawRecord({}, b"", 0, tear.offset, tear.what)
        elif not stream.fill(1):
            if tear := stream.cross():
                yield RawRecord({}, b"", 0, tear.offset, tear.what)
            elif not stream.fill(1):
                return
        elif stream.begins_record():
            yield _read(stream, at, most_bytes)
        else:
            _skip_to_record(stream)
            yield RawRecord({}, b"", 0, at, "not a WARC record")


def _skip_blank(stream: UnpackedStream) -> None:
    """Skips line ends between records; many programs write more than two."""
    while (part := stream.part(_PART_BYTES)) and (blank := len(part) - len(part.lstrip(b"\r\n"))):
        stream.skip(blank)
        if blank < len(part):
            return


def _skip_to_record(stream: UnpackedStream, most_bytes: int = 0) -> bytes:
    """Skips at least one byte, up to where a record begins or what is read together ends. Returns the first
    `most_bytes` of what it skipped."""
    rest, skipped, kept = b"", 0, bytearray()
    while part := stream.part(_PART_BYTES):
        data = rest + part
        found = _NEXT.search(data, 0 if skipped else 1)
        kept += part[: max(most_bytes - len(kept), 0)]
        if found is not None:
            if found.start() < len(rest):
                stream.unread(rest[found.start() :])
            else:
                stream.skip(found.start() - len(rest))
            return bytes(kept[: skipped + found.start() - len(rest)])
        stream.skip(len(part))
        skipped += len(part)
        if skipped > MAX_BARREN_BYTES:
            raise BarrenError
        rest = data[-_NEXT_BYTES:]
    return bytes(kept)


def _read(stream: UnpackedStream, at: int, most_bytes: int) -> RawRecord:
    head = _read_head(stream)
    if head is None:
        _skip_to_record(stream)
        return RawRecord({}, b"", 0, at, "the fields of a record do not end")
    fields = parse_fields(head)
    stated = fields.get("content-length", "")
    if not _LENGTH.fullmatch(stated):
        block, length = _take_to_record(stream, most_bytes)
        return RawRecord(fields, block, length, at, "a record states no length")
    return _read_block(stream, fields, int(stated), at, most_bytes)


def _take_to_record(stream: UnpackedStream, most_bytes: int) -> tuple[bytes, int]:
    """Takes what is before the next record, or before the end of the member. Returns up to `most_bytes` of it, without
    the line ends after it, and its length."""
    if not stream.part(1) or stream.begins_record():
        return b"", 0
    kept = _skip_to_record(stream, most_bytes)
    if stream.is_at_tear():
        return b"", 0
    block = kept.rstrip(b"\r\n") if len(kept) < most_bytes else kept
    return block, len(block)


def _read_head(stream: UnpackedStream) -> bytes | None:
    """Takes the fields of a record with the empty line after them; None if they do not end: then one byte is taken."""
    head = bytearray()
    while len(head) < MAX_HEAD_BYTES and (part := stream.part(_PART_BYTES)):
        before = len(head)
        head += part
        end = _HEAD_END.search(head, max(before - 3, 0))
        if end is not None:
            stream.skip(end.end() - before)
            return bytes(head[: end.start()])
        stream.skip(len(part))
    return None


def parse_fields(head: bytes) -> dict[str, str]:
    """Parses the fields of a record: names in lower case, of repeated fields only the first; a line that begins with
    white space continues the one before. Never raises."""
    fields: dict[str, str] = {}
    last = ""
    for line in re.split(r"\r?\n", head.decode("utf-8", "replace"))[1:]:
        if line[:1] in (" ", "\t"):
            if last and len(fields[last]) < MAX_HEAD_BYTES:
                fields[last] = f"{fields[last]} {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        key = name.strip().lower()
        if colon and key not in fields:
            fields[key] = value.strip()
            last = key
        else:
            last = ""
    return fields


def _read_block(stream: UnpackedStream, fields: dict[str, str], length: int, at: int, most_bytes: int) -> RawRecord:
    kept: list[bytes] = []
    digest, left, have = _Digest(fields.get("warc-block-digest", "")), length, 0
    while left and (part := stream.part(min(left, _PART_BYTES))):
        stream.skip(len(part))
        digest.update(part)
        left -= len(part)
        if have < most_bytes:
            kept.append(part[: most_bytes - have])
            have += len(kept[-1])
    block = b"".join(kept)
    if left and not stream.is_at_tear() and stream.begins_record():
        return RawRecord(fields, block, length - left, at, _WRONG_LENGTH)
    if left:
        return _cut_short(stream, fields, block, (length - left, length), at)
    if not _ends_well(stream):
        return _with_right_length(stream, fields, block, length, at)
    if digest.is_right:
        return RawRecord(fields, block, length, at)
    shorter = _up_to_next(stream, fields, block, length, at)
    return shorter or RawRecord(fields, block, length, at, "the digest of a record does not match it")


def _cut_short(
    stream: UnpackedStream, fields: dict[str, str], block: bytes, lengths: tuple[int, int], at: int
) -> RawRecord:
    """Handles a record that has fewer bytes than it states (`lengths`): if another record begins inside, its length was
    wrong, and it ends there; otherwise it is cut short, and only its target is kept."""
    have, stated = lengths
    if (shorter := _up_to_next(stream, fields, block, have, at)) is not None:
        return shorter
    tear = stream.cross()
    cut = f"a record is cut short: it has {have:,} of the {stated:,} bytes that it states"
    target = {name: fields[name] for name in fields if name == "warc-target-uri"}
    return RawRecord(target, b"", have, at, f"{cut}; {tear.what}" if tear else cut)


def _up_to_next(stream: UnpackedStream, fields: dict[str, str], block: bytes, length: int, at: int) -> RawRecord | None:
    """Returns the record up to another one that begins within its block, if all of that is in memory."""
    within = _WITHIN.search(block + stream.part(_NEXT_BYTES)) if len(block) == length else None
    if within is None or within.end() > length or not stream.may_unread(length - within.end()):
        return None
    stream.unread(block[within.end() :])
    return RawRecord(fields, block[: within.start()], within.start(), at, _WRONG_LENGTH)


def _ends_well(stream: UnpackedStream) -> bool:
    """Whether the record is followed by a line end, another record, or the end of the file."""
    after = stream.part(2)
    return not after or after[:1] in (b"\r", b"\n") or stream.begins_record()


def _with_right_length(stream: UnpackedStream, fields: dict[str, str], block: bytes, length: int, at: int) -> RawRecord:
    """Corrects a record with a wrong length: if it is too long, another record begins within; if it is too short, bytes
    up to the next record are left over, which belong to it."""
    if (shorter := _up_to_next(stream, fields, block, length, at)) is not None:
        return shorter
    _skip_to_record(stream)
    return RawRecord(fields, block, length, at, _WRONG_LENGTH)


class _Digest:
    """Compares a block with its stated digest, if that names a known algorithm."""

    def __init__(self, stated: str) -> None:
        name, _, self._value = stated.partition(":")
        make = _HASHES.get(name.strip().lower().replace("-", ""))
        self._state = None if make is None else make(usedforsecurity=False)

    def update(self, data: bytes) -> None:
        if self._state is not None:
            self._state.update(data)

    @property
    def is_right(self) -> bool:
        if self._state is None:
            return True
        found = self._state.digest()
        value = self._value.strip()
        return value.upper().rstrip("=") == b32encode(found).decode().rstrip("=") or value.lower() == found.hex()


def is_warc(start: bytes) -> bool:
    """Whether decompressed data begins like a WARC file."""
    return start.lstrip(b"\r\n").startswith(RECORD_START)
